internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// Reading bound bindings: from the daemon if the owner keeps it current, else from the owner.
extension FocusService {
  /// Reads `path` at `place` and hands it to `shape` for the reply, at once or when the owner has been asked.
  /// - Throws: `ModelError` as `FocusModel.read` does, but `notFocused` only if `nothing` is nil.
  /// - Parameters:
  ///   - path: the key, and which element of its value.
  ///   - place: where the key is looked up.
  ///   - call: the call to reply to.
  ///   - nothing: the results if the key resolves to nothing, or nil if that is an error.
  ///   - passesOn: whether the results are those of `Get`, so that the owner's can be passed on.
  ///   - shape: makes the results.
  /// - Returns: the results, or nil if the reply is given later.
  func read(
    _ path: BindingPath, at place: Place, for call: Call, nothing: MessageBody? = nil, passesOn: Bool = false,
    _ shape: @escaping (Reading) throws -> MessageBody
  ) throws -> MessageBody? {
    try read(path, at: place, for: call.reply, by: call.client, nothing: nothing, passesOn: passesOn, shape)
  }

  private func read(
    _ path: BindingPath, at place: Place, for reply: PendingReply, by client: BusName, nothing: MessageBody?,
    passesOn: Bool, asked: Set<FieldID> = [], _ shape: @escaping (Reading) throws -> MessageBody
  ) throws -> MessageBody? {
    if let silent = fieldToAsk(for: path.key, at: place, except: asked, by: client), let object = objects[silent] {
      makeCurrent(path.key, of: object, forClient: ()) { [self] _ in
        reply.answer {
          let asked = asked.union([silent])
          return try read(
            path, at: place, for: reply, by: client, nothing: nothing, passesOn: passesOn, asked: asked, shape)
        }
      }
      return nil
    }
    let whole: Reading
    do {
      // Read whole first: an element may be there only when the owner has been asked.
      whole = try model.read(BindingPath(path.key), at: place, by: client)
    } catch ModelError.notFocused where nothing != nil {
      return nothing
    }
    let holder = whole.field
    guard let object = objects[holder], object.mustFetch(path.key) else {
      let isWhole = path.pointer.tokens.isEmpty
      return try shape(isWhole ? whole : try model.read(path, at: .field(holder), by: client))
    }
    makeCurrent(path.key, of: object, forClient: ()) { [self] result in
      reply.answer {
        let answer = try result.get()
        guard objects[holder] === object else { throw DBusError.ownerGone }
        // The owner may have signalled that the value is gone.
        guard model.fields[holder]?.bindings[path.key] != nil else {
          let asked = asked.union([holder])
          return try read(
            path, at: place, for: reply, by: client, nothing: nothing, passesOn: passesOn, asked: asked, shape)
        }
        // The object may have been examined meanwhile, and the key be another.
        if passesOn, path.pointer.tokens.isEmpty, answer.kind != .error, object.reads(path.key) {
          return try answer.body
        }
        return try shape(try model.read(path, at: .field(holder), by: client))
      }
    }
    return nil
  }

  /// A binding that a reply to `readAll` has been held back for.
  struct Fetched: Hashable {
    let key: Key
    let field: FieldID
  }

  /// Updates every binding at `place` that the client may see, from its owner if necessary, and calls
  /// `body` for the reply; a binding that cannot be updated keeps its last value.
  /// - Throws: `ModelError.noSuchField`.
  /// - Returns: the results, or nil if the reply is given later.
  func readAll(
    at place: Place, of interface: InterfaceName? = nil, for reply: PendingReply, by client: BusName,
    fetched: Set<Fetched> = [], _ body: @escaping () throws -> MessageBody
  ) throws -> MessageBody? {
    var wanted: [Fetched: OwnedObject] = [:]
    for (key, reading) in try model.readAll(at: place, by: client) {
      let each = Fetched(key: key, field: reading.field)
      guard interface == nil || key.interface == interface, !fetched.contains(each),
        let object = objects[reading.field], object.mustFetch(key)
      else { continue }
      wanted[each] = object
    }
    for (each, object) in nilReadEachTime(at: place, of: interface, by: client) where !fetched.contains(each) {
      wanted[each] = object
    }
    guard !wanted.isEmpty else { return try body() }
    var left = wanted.count
    for (each, object) in wanted {
      makeCurrent(each.key, of: object, forClient: ()) { [self] _ in
        left -= 1
        guard left == 0 else { return }
        // Focus may have moved meanwhile, to what has to be asked for as well.
        reply.answer {
          try readAll(
            at: place, of: interface, for: reply, by: client, fetched: fetched.union(wanted.keys), body)
        }
      }
    }
    return nil
  }

  /// As `makeCurrent`, for a client's call, which counts among those that wait for the owner.
  private func makeCurrent(
    _ key: Key, of object: OwnedObject, forClient: Void, _ handler: @escaping Refresh.Handler
  ) {
    let owner = object.owner
    do throws(DBusError) { try ownerCalls.enter(owner) } catch { return handler(.failure(error)) }
    makeCurrent(key, of: object) { [ownerCalls] result in
      ownerCalls.leave(owner)
      handler(result)
    }
  }

  /// Calls `handler` with the owner's reply when the model has the value of `key` as the owner's object has it, or with
  /// what prevented that.
  ///
  /// A value that its owner does not tell changes of is asked for each time; for a stale one, all wait for one answer.
  func makeCurrent(_ key: Key, of object: OwnedObject, _ handler: @escaping Refresh.Handler) {
    if object.isReadEachTime(key) { return fetch(key, of: object, handler) }
    let traffic = object.traffic
    if traffic.refreshes[key] == nil {
      refresh(key, of: object, [handler])
    } else if traffic.stale.contains(key) {
      traffic.refreshes[key]?.waitingForNext.append(handler)
    } else {
      traffic.refreshes[key]?.waiting.append(handler)
    }
  }

  /// Marks the known value of `key` as stale, and asks the owner for the new one.
  func becameStale(_ key: Key, of object: OwnedObject) {
    object.traffic.stale.insert(key)
    // If a query is under way, it finds the value stale when it ends, and asks again.
    if object.traffic.refreshes[key] == nil { refresh(key, of: object, []) }
  }

  private func refresh(_ key: Key, of object: OwnedObject, _ waiting: [Refresh.Handler]) {
    let traffic = object.traffic
    traffic.refreshes[key] = Refresh(waiting: waiting)
    traffic.stale.remove(key)
    fetch(key, of: object) { [weak self] result in
      let refresh = traffic.refreshes.removeValue(forKey: key) ?? Refresh()
      let isStaleAgain = traffic.stale.contains(key)
      if case .failure = result { traffic.stale.insert(key) }
      if let self, !refresh.waitingForNext.isEmpty || isStaleAgain {
        self.refresh(key, of: object, refresh.waitingForNext)
      } else {
        for handler in refresh.waitingForNext { handler(result) }
      }
      for handler in refresh.waiting { handler(result) }
    }
  }

  /// Asks the owner for the value of `key`, and calls `handler` with its reply when the model has it, or with what prevented
  /// that.
  func fetch(
    _ key: Key, of object: OwnedObject, timeout: Duration = OwnerCalls.timeout,
    _ handler: @escaping Refresh.Handler
  ) {
    do {
      let message = try question(key, of: object)
      try ownerCalls.ask(object.owner, message, timeout: timeout) { [weak self] result in
        handler(
          Result {
            try self?.take(result.valueNow(of: key), of: key, object)
            return try result.get()
          })
      }
    } catch {
      handler(.failure(error))
    }
  }

  private func take(_ value: FetchedValue, of key: Key, _ object: OwnedObject) {
    switch value {
    case .value(let value): take([key: value], at: object.address)
    case .nothing: take([key: nil], at: object.address)
    case .tooLarge:
      take([key: nil], at: object.address)
      nameUnfit(key, of: object, OwnerAnswer.tooLarge)
    }
  }

  private func question(_ key: Key, of object: OwnedObject) throws(DBusError) -> OutgoingMessage {
    try OutgoingMessage.methodCall(
      to: object.owner, path: object.path, interface: .properties, member: MemberName(known: "Get"),
      body: .getting(key))
  }

  /// Updates the values of the object at `address` in each field that exposes it.
  func take(_ values: [Key: MarshalledValue?], at address: OwnedObject.Address) {
    for object in objects.at(address) {
      let own = values.filter { object.reads($0.key) }
      objects.note(own.keys, toldBy: object)
      if let id = object.field {
        for (key, error) in model.update(own, of: id) { nameUnfit(key, of: object, error.description) }
      } else if !objects.isReleased(object) {
        for (key, value) in own { object.keep(value, of: key, ownerCalls) }
      }
    }
  }
}

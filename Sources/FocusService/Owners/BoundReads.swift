internal import DBus
internal import DBusTypes
internal import FocusModel

/// Reading bound bindings: from the daemon where the owner keeps it current, else from the owner.
extension FocusService {
  /// Reads `path` at `place` and hands it to `shape` for the reply, at once or when the owner has been asked.
  /// - Throws: `FocusError` as `FocusModel.read` does.
  /// - Returns: the results, or nil where the reply is given later.
  func read(
    _ path: BindingPath, at place: Place, for call: Call, _ shape: @escaping (Reading) -> [DBusValue]
  ) throws -> [DBusValue]? {
    // Read whole first: an element may be there only when the owner has been asked.
    let holder = try model.read(BindingPath(path.key), at: place, by: call.client).field
    guard let object = objects[holder], object.mustFetch(path.key) else {
      return shape(try model.read(path, at: place, by: call.client))
    }
    makeCurrent(path.key, of: object) { [self] result in
      call.reply.answer {
        try result.get()
        return shape(try model.read(path, at: .field(holder), by: call.client))
      }
    }
    return nil
  }

  /// Has every binding at `place` that the client may see made current, where an owner has to be asked for it, and calls
  /// `body` for the reply; one that cannot be had is as it was last.
  /// - Throws: `FocusError.noSuchField`.
  /// - Returns: the results, or nil where the reply is given later.
  func readAll(
    at place: Place, of interface: InterfaceName? = nil, for call: Call,
    _ body: @escaping () throws -> [DBusValue]
  ) throws -> [DBusValue]? {
    let wanted = try model.readAll(at: place, by: call.client).filter { key, reading in
      (interface == nil || key.interface == interface) && objects[reading.field]?.mustFetch(key) == true
    }
    guard !wanted.isEmpty else { return try body() }
    var left = wanted.count
    for (key, reading) in wanted {
      guard let object = objects[reading.field] else { continue }
      makeCurrent(key, of: object) { _ in
        left -= 1
        if left == 0 { call.reply.answer(body) }
      }
    }
    return nil
  }

  /// Calls `handler` when the model has the value of `key` as the owner's object has it, or with what prevented that.
  ///
  /// A value that its owner does not tell changes of is asked for each time; for a stale one, all wait for one answer.
  func makeCurrent(
    _ key: Key, of object: OwnedObject, timeout: Duration = OwnerCalls.timeout,
    _ handler: @escaping Refresh.Handler
  ) {
    if object.property(key)?.emits == .never { return fetch(key, of: object, timeout: timeout, handler) }
    if object.refreshes[key] == nil {
      refresh(key, of: object, [handler])
    } else if object.stale.contains(key) {
      object.refreshes[key]?.waitingForNext.append(handler)
    } else {
      object.refreshes[key]?.waiting.append(handler)
    }
  }

  private func refresh(_ key: Key, of object: OwnedObject, _ waiting: [Refresh.Handler]) {
    object.refreshes[key] = Refresh(waiting: waiting)
    object.stale.remove(key)
    fetch(key, of: object) { [weak self] result in
      guard let refresh = object.refreshes.removeValue(forKey: key) else { return }
      if case .failure = result { object.stale.insert(key) }
      if !refresh.waitingForNext.isEmpty { self?.refresh(key, of: object, refresh.waitingForNext) }
      for handler in refresh.waiting { handler(result) }
    }
  }

  /// Asks the owner for the value of `key`, and calls `handler` when the model has it, or with what prevented that.
  func fetch(
    _ key: Key, of object: OwnedObject, timeout: Duration = OwnerCalls.timeout,
    _ handler: @escaping Refresh.Handler
  ) {
    do throws(DBusError) {
      let message = try Message.methodCall(
        to: object.owner, path: object.path, interface: .properties, member: MemberName(known: "Get"),
        [.string(key.interface.text), .string(key.member.text)])
      try ownerCalls.call(object.owner, message, timeout: timeout) { [weak self] result in
        do throws(DBusError) {
          let value = try result.get().success().arguments().first?.variantContent
          if let id = object.field { self?.update([key: value], of: id) }
          handler(.success(()))
        } catch {
          handler(.failure(error))
        }
      }
    } catch {
      handler(.failure(error))
    }
  }
}

internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusContract
internal import FocusModel
internal import ProgramSupport

/// Looks at owners' objects are carried out, and what follows from them.
extension FocusService {
  /// Begins a look, which is handed to `lookEnded` once.
  func begin(_ look: Look) {
    look.object.looks.append(look)
    follow(look)
  }

  /// A look at the object that the saved `field` is to have again, nil for none; an owner that does not answer is asked again
  /// once a second.
  func look(for field: Field) -> Look? {
    guard let holder = field.connection, let choice = field.awaited?.choice else { return nil }
    return Look(
      at: objects.object(at: choice.path, of: holder), choice,
      for: .restoration(field.id, registration: field.registration))
  }

  /// Takes a step of `look`, unless it has ended.
  func carryOut(_ look: Look, _ step: () throws -> Void) {
    guard !look.isEnded else { return }
    do { try step() } catch { look.end(error) }
    if look.isEnded { lookEnded(look) }
  }

  /// Goes on with `look` when the bus passes on what its object emits.
  private func follow(_ look: Look) {
    let following = look.object.following
    switch following.state {
    case .taken: carryOut(look) { try introspect(look) }
    case .asked(let waiting): following.state = .asked(waiting + [look])
    case .none:
      following.state = .asked([look])
      do throws(DBusError) {
        let question = try connection.questionToAdd(following.rule)
        try connection.call(question, timeout: OwnerCalls.timeout) { [weak self] answer in
          self?.matchAnswered(answer, following)
        }
      } catch {
        matchAnswered(.failure(error), following)
      }
    }
  }

  private func matchAnswered(_ answer: Result<Message, DBusError>, _ following: Following) {
    guard case .asked(let waiting) = following.state else { return }
    let refusal = (try? answer.get())?.error
    // If the bus has not answered, it may yet take the rule.
    following.state = refusal == nil ? .taken : .none
    for look in waiting {
      carryOut(look) {
        func error(_ name: ErrorName, _ reason: String) -> DBusError {
          DBusError(name, "cannot follow the object \(look.object.path): \(reason)")
        }
        if let refusal { throw error(.limitsExceeded, "the bus refuses another match rule (\(refusal.name))") }
        if case .failure(let failure) = answer {
          throw failure.name == .timeout ? error(.timeout, "the bus did not reply within 5 seconds") : failure
        }
        try introspect(look)
      }
    }
  }

  /// Asks the object what it has, now that it is followed.
  private func introspect(_ look: Look) throws {
    // Who has left while the bus was asked has no answer.
    guard !look.object.isGone else { throw DBusError.ownerGone }
    try ask(look, .introspectable, "Introspect") { service, answer in
      for interface in try look.introspected(answer, service.ownerCalls) {
        try service.ask(look, .properties, "GetAll", [.string(interface.text)]) { service, answer in
          let rest = try look.read(interface, answer, service.ownerCalls)
          try service.read(rest[...], of: interface, look)
        }
      }
    }
  }

  /// Asks for each of `keys` in turn; then the look has read `interface`.
  private func read(_ keys: ArraySlice<Key>, of interface: InterfaceName, _ look: Look) throws {
    guard let key = keys.first else {
      try look.interfaceIsRead()
      return takeStale(of: interface, from: look)
    }
    try ask(look, .properties, "Get", [.string(interface.text), .string(key.member.text)]) { service, answer in
      try look.read(key, answer, service.ownerCalls)
      try service.read(keys.dropFirst(), of: interface, look)
    }
  }

  /// Takes what a look has read of keys whose values are stale, for all fields: it is newer than what made them so.
  private func takeStale(of interface: InterfaceName, from look: Look) {
    let told = look.bound.values.filter { $0.key.interface == interface && look.object.isStale($0.key) }
    guard !told.isEmpty else { return }
    look.object.told(told.keys)
    take(told.mapValues { $0 }, of: look.object)
  }

  /// Asks the object; `step` follows with its answer.
  private func ask(
    _ look: Look, _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue] = [],
    _ step: @escaping (FocusService, Result<Message, DBusError>) throws -> Void
  ) throws {
    let message = try look.object.methodCall(interface, MemberName(known: member), MessageBody(arguments))
    try ownerCalls.ask(message) { [weak self] answer in
      guard let self else { return }
      carryOut(look) { try step(self, answer) }
    }
  }

  /// A recovery waits for the looks at saved fields' objects; registrations wait for the recovery.
  private func lookEnded(_ look: Look) {
    if case .registration(let registration) = look.purpose {
      registrations[ObjectIdentifier(registration)] = nil
      return deliver(.look(look))
    }
    handle(.look(look))
    recoveryMayEnd(after: ObjectIdentifier(look))
  }

  /// Does what the look was for.
  /// - Returns: whether it must be done again if the turn is taken back.
  func complete(_ look: Look, refusing refusal: DBusError?) -> Bool {
    objects.touch(look.object)
    let isFirst = !look.isCompleted
    look.isCompleted = true
    switch look.purpose {
    case .registration(let registration):
      return complete(registration, look, isFirst: isFirst, refusing: refusal)
    case .examination(let id, let request):
      guard let field = model.fields[id], field.isAwaitingObject else {
        end(request) { try renew(id, look) }
        return false
      }
      let (isDone, failure) = restore(id, field.registration, look)
      end(request) {
        if let failure { throw failure }
        return .empty
      }
      return isDone
    case .restoration(let id, let registration): return restore(id, registration, look).isDone
    }
  }

  /// Makes what the object is now the field's.
  /// - Throws: `ModelError` as `FocusModel.renew` does; `DBusError.unknownObject` if the field is gone.
  private func renew(_ id: FieldID, _ look: Look) throws -> MessageBody {
    let bound = try look.result()
    guard objects[id] === look.object else {
      throw DBusError(.unknownObject, "the field '\(id)' has been unregistered meanwhile")
    }
    try model.renew(bound, of: id)
    let keys = look.object.fields.compactMap { model.fields[$0]?.object?.properties.keys }
    look.object.forget(except: keys.joined())
    nameUnfit(look, of: id)
    return .empty
  }

  /// Binds the object to the saved field; one whose object fails stays without it, and neither needs saving.
  private func restore(
    _ id: FieldID, _ registration: UInt64, _ look: Look
  ) -> (isDone: Bool, failure: (any Error)?) {
    guard let field = model.fields[id], field.registration == registration, field.isAwaitingObject else {
      return (true, nil)
    }
    do {
      try model.bind(look.result(), to: id)
      objects.bind(id, to: look.object)
      nameUnfit(look, of: id)
    } catch {
      let name = DBusError(any: error).name
      guard name != .timeout else {
        log.debug("the owner of the field '\(id)' does not reply yet")
        // Who asked for an examination asks again; the daemon goes on by itself.
        guard case .restoration = look.purpose else { return (false, error) }
        loop.schedule(after: .seconds(1)) { [weak self] in
          guard let self, let field = model.fields[id], field.registration == registration else { return }
          self.look(for: field).map(begin)
        }
        return (false, error)
      }
      if name == Focus1.ownerGone, let owner = field.owner {
        try? model.unregister(id, by: owner)
        return (true, error)
      }
      // Only the error's name: what an owner says of it may hold a value.
      log.info("the object of the field '\(id)' was not restored until its owner calls Examine: \(name)")
      return (true, error)
    }
    return (true, nil)
  }
}

/// `Field.Examine`: a field's object is looked at anew.
extension FocusService {
  /// Looks at the object of the field `id` anew, and replies when the field shows what the object has now.
  /// - Throws: `DBusError`: `invalidArgs` for a field without an object, `limitsExceeded` if too many calls wait for the
  ///   owner.
  func examine(_ id: FieldID, for client: BusName, _ reply: PendingReply) throws {
    guard let field = model.fields[id], let holder = field.connection,
      let choice = field.object?.choice ?? field.awaited?.choice
    else {
      throw DBusError(.invalidArgs, "the field '\(id)' has no object: its owner changes it with Publish and Withdraw")
    }
    let object = objects.object(at: choice.path, of: holder)
    // Unless there is a look at it, it goes again.
    objects.touch(object)
    try enqueue(.examination(id, choice), for: client, reply, .call, at: object)
  }
}

/// Values that cannot be shown are named in the log, never shown there.
extension FocusService {
  /// Logs the keys of the field `id` whose values do not fit, among those that the look has found.
  func nameUnfit(_ look: Look, of id: FieldID) {
    var unfit = look.unfit
    for (key, value) in look.bound.values {
      if let reason = model.reason(against: value, toldOf: key, of: id) { unfit[key] = reason.description }
    }
    for (key, reason) in unfit.sorted(by: { $0.key < $1.key }) { nameUnfit(key, of: id, look.object, reason) }
  }

  /// Logs once that `key` of the field `id` is nil because its value, or its command's arguments, do not fit.
  func nameUnfit(_ key: Key, of id: FieldID, _ object: OwnedObject, _ reason: String) {
    guard object.named.insert(key).inserted, let skipped = unfitValues.admit() else { return }
    log.info(
      "\(key) of the field '\(id)' is nil: \(reason)" + (skipped > 0 ? "; \(skipped) others before it too" : ""))
  }
}

internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel
internal import ProgramSupport

extension InterfaceName {
  static let responder = Focus1.responder
}

/// What owners' objects tell of themselves: changes of their properties, and signals to be emitted again.
enum OwnerSignals {
  /// The most bytes of the values of a signal that is emitted again.
  static let sizeLimit = 1 << 20
  /// Everything that the object emits.
  static func rule(_ object: OwnedObject) -> MatchRule { MatchRule(sender: object.owner, path: object.path) }

  /// The registrant's error if the bus does not answer.
  fileprivate static func silence(_ object: OwnedObject) -> DBusError {
    DBusError(.timeout, "cannot follow the object \(object.path): the bus did not reply within 5 seconds")
  }

  /// The registrant's error if the bus refuses the rule with any error.
  fileprivate static func refusal(_ error: DBusError, _ object: OwnedObject) -> DBusError {
    DBusError(
      .limitsExceeded,
      "cannot follow the object \(object.path): the bus refuses another match rule (\(error.name))")
  }
}

extension FocusService {
  /// Has the bus pass on what `object` emits, and calls `handler` once when it does, or with what speaks against it.
  func watch(_ object: OwnedObject, _ handler: @escaping (Result<Void, DBusError>) -> Void) {
    let traffic = object.traffic
    switch traffic.match {
    case .taken: handler(.success(()))
    case .asked(let waiting): traffic.match = .asked(waiting + [handler])
    case .none:
      traffic.match = .asked([handler])
      do throws(DBusError) {
        try ownerCalls.askBus(for: object.owner, connection.questionToAdd(OwnerSignals.rule(object))) { result in
          Self.matchAnswered(result, object)
        }
      } catch {
        Self.matchAnswered(.failure(error), object)
      }
    }
  }

  private static func matchAnswered(_ answer: Result<Message, DBusError>, _ object: OwnedObject) {
    guard case .asked(let waiting) = object.traffic.match else { return }
    let refusal = (try? answer.get())?.error
    // Where the bus has not answered, it may yet take the rule.
    object.traffic.match = refusal == nil ? .taken : .none
    let result: Result<Void, DBusError> =
      switch answer {
      case .success: refusal.map { .failure(OwnerSignals.refusal($0, object)) } ?? .success(())
      case .failure(let error) where error.name == .timeout: .failure(OwnerSignals.silence(object))
      case .failure(let error): .failure(error)
      }
    for handler in waiting { handler(result) }
  }

  /// Has nothing more to do with `object`.
  func stopWatching(_ object: OwnedObject) {
    guard objects.remove(object) else { return }
    if case .none = object.traffic.match { return }
    object.traffic.match = .none
    connection.changeMatch(.remove, OwnerSignals.rule(object))
  }

  func ownerEmitted(_ message: Message) {
    guard let sender = message.sender, let path = message.path, let interface = message.interface else { return }
    let objects = objects.at(.init(owner: sender, path: path))
    guard !objects.isEmpty else { return }
    if message.isSignal(.properties, MemberName(known: "PropertiesChanged")) {
      takeChanges(message, objects)
    } else {
      emitAgain(message, interface, objects.filter { $0.interface(interface) != nil })
    }
  }

  /// Handles the signal `PropertiesChanged` of the object behind `objects`.
  ///
  /// Of one that is past the limits nothing is read but the interface, whose values are stale then.
  private func takeChanges(_ message: Message, _ objects: [OwnedObject]) {
    guard message.signatureText == "sa{sv}as" else { return }
    var updates: [Key: MarshalledValue?] = [:]
    var stale: Set<Key> = []
    var tooLarge: [Key] = []
    try? message.withBody { bytes throws(DBusError) in
      var reader = BodyReader(bytes, elementLimit: OwnerAnswer.elementLimit)
      guard let interface = try? reader.text() else { return }
      var known: [String: Key] = [:]
      for key in objects.flatMap({ $0.readableKeys(interface) }) { known[key.member.text] = key }
      guard !known.isEmpty else { return }
      do {
        try reader.array(ofEntries: true) { entry throws(WireError) in
          guard let key = known[try entry.text()] else { return try entry.skipVariant() }
          let value = try entry.variant(limit: OwnerAnswer.valueLimit)
          if value == nil { tooLarge.append(key) }
          updates.updateValue(value, forKey: key)
        }
        try reader.array { name throws(WireError) in
          if let key = known[try name.text()] { stale.insert(key) }
        }
      } catch {
        if droppedSignals.admit() != nil {
          log.info("a PropertiesChanged of \(interface) exceeds the limits and was ignored: its values are stale")
        }
        (updates, tooLarge) = ([:], [])
        stale = Set(known.values)
      }
    }
    for key in updates.keys { objects.first?.traffic.stale.remove(key) }
    if let address = objects.first?.address, !updates.isEmpty { take(updates, at: address) }
    for key in tooLarge {
      for object in objects where object.reads(key) { nameUnfit(key, of: object, OwnerAnswer.tooLarge) }
    }
    for key in stale {
      if let object = objects.first(where: { $0.reads(key) }) { becameStale(key, of: object) }
    }
  }

  /// Emits a signal of the object behind `objects` from the field of each, and from `focused`.
  private func emitAgain(_ message: Message, _ interface: InterfaceName, _ objects: [OwnedObject]) {
    // The fields are not shown to anyone yet.
    guard !persistence.isRecovering else { return }
    let size = message.measuredBodySize
    let focused = model.resolve(interface)
    for object in objects {
      guard let id = object.field, model.fields[id]?.isSensitive == false else { continue }
      guard size <= OwnerSignals.sizeLimit else { return logDropped(message, of: id, size: size) }
      var paths = [Target.path(of: id)]
      if focused == id { paths.append(Target.focusedPath) }
      for path in paths {
        guard let signal = try? message.emittedAgain(from: path) else { continue }
        post(signal: signal)
      }
      // One signal makes many: they do not wait for each other.
      if turn.outbox.isFull { endTurn() }
    }
  }

  /// Logs which signal is dropped, never what it says.
  private func logDropped(_ message: Message, of id: FieldID, size: Int) {
    guard let interface = message.interface, let member = message.member, let skipped = droppedSignals.admit() else {
      return
    }
    log.info(
      "the signal \(interface).\(member) of the field '\(id)' is not emitted again: it has \(size) bytes, but at most "
        + "\(OwnerSignals.sizeLimit) are allowed" + (skipped > 0 ? "; \(skipped) others were dropped before it" : ""))
  }
}

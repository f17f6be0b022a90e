internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

extension InterfaceName {
  static let responder = Focus1.responder
}

/// What owners' objects tell of themselves: changes of their properties, and signals to be emitted again.
enum OwnerSignals {
  /// Everything that the object emits.
  static func rule(_ object: OwnedObject) -> MatchRule { MatchRule(sender: object.owner, path: object.path) }
}

extension FocusService {
  func ownerEmitted(_ message: Message) {
    guard let sender = message.sender, let path = message.path, let interface = message.interface else { return }
    let objects = objects.at(.init(owner: sender, path: path))
    guard !objects.isEmpty else { return }
    if message.isSignal(.properties, MemberName(known: "PropertiesChanged")) {
      takeChanges(message, objects)
    } else {
      for object in objects where object.interface(interface) != nil { emitAgain(message, interface, object) }
    }
  }

  /// Takes in what the object behind `objects` told of its properties with the signal `PropertiesChanged`.
  ///
  /// Of one that is past the limits nothing is read but the interface, whose values are stale then.
  private func takeChanges(_ message: Message, _ objects: [OwnedObject]) {
    guard message.signatureText == "sa{sv}as" else { return }
    var updates: [Key: MarshalledValue?] = [:]
    var stale: Set<Key> = []
    func known(_ interface: String, _ name: String) -> Key? {
      guard let key = try? Key(interface: interface, member: name) else { return nil }
      return objects.contains { $0.property(key) != nil } ? key : nil
    }
    try? message.withBody { bytes throws(DBusError) in
      var reader = BodyReader(bytes)
      guard let interface = try? reader.text() else { return }
      do {
        try message.checkLimits(bytes)
        try reader.array(ofEntries: true) { entry throws(WireError) in
          guard let key = known(interface, try entry.text()) else { return try entry.skipVariant() }
          updates[key] = try entry.variant()
        }
        try reader.array { name throws(WireError) in
          if let key = known(interface, try name.text()) { stale.insert(key) }
        }
      } catch {
        log.info("a PropertiesChanged of \(interface.excerpt) is past the limits and was not read: its values are stale")
        updates = [:]
        stale = Set(objects.flatMap(\.readableKeys).filter { $0.interface.text == interface })
      }
    }
    for key in updates.keys { objects.first?.traffic.stale.remove(key) }
    if let address = objects.first?.address, !updates.isEmpty { take(updates, at: address) }
    for key in stale {
      if let object = objects.first(where: { $0.property(key) != nil }) { becameStale(key, of: object) }
    }
  }

  private func emitAgain(_ message: Message, _ interface: InterfaceName, _ object: OwnedObject) {
    guard let id = object.field, model.fields[id]?.isSensitive == false else { return }
    var paths = [Target.path(of: id)]
    if model.resolve(interface) == id { paths.append(Target.focusedPath) }
    for path in paths {
      guard let signal = try? message.emittedAgain(from: path) else { continue }
      post(signal: signal)
    }
  }
}

internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel
internal import ProgramSupport

/// What owners' objects tell of themselves: changes of their properties, and signals to be emitted again.
extension FocusService {
  /// The most bytes of the values of a signal that is emitted again.
  private static let emittedSizeLimit = 1 << 20

  func ownerEmitted(_ message: Message) {
    guard let sender = message.sender, let path = message.path, let interface = message.interface,
      let object = objects.at(path, of: sender)
    else { return }
    if message.isSignal(.properties, .propertiesChanged) {
      takeChanges(message, object)
    } else {
      emitAgain(message, interface, object)
    }
  }

  /// Handles `PropertiesChanged` of `object`; of one that is past the limits only the interface, whose values are stale then.
  private func takeChanges(_ message: Message, _ object: OwnedObject) {
    guard message.signatureText == "sa{sv}as" else { return }
    var updates: [Key: MarshalledValue?] = [:]
    var stale: Set<Key> = []
    var tooLarge: [Key] = []
    try? message.withBody { bytes throws(DBusError) in
      var reader = BodyReader(bytes, elementLimit: OwnerAnswer.elementLimit)
      guard let interface = try? InterfaceName(reader.text()) else { return }
      object.noteTold()
      let readers = readers(of: object)
      func known(_ name: String) -> Key? {
        guard let member = try? MemberName(name) else { return nil }
        let key = Key(interface, member)
        return readers.contains { $0.reads(key) } ? key : nil
      }
      do {
        try reader.array(ofEntries: true) { entry throws(WireError) in
          guard let key = known(try entry.text()) else { return try entry.skipVariant() }
          let value = try entry.variant(limit: OwnerAnswer.valueLimit)
          if value == nil { tooLarge.append(key) }
          updates.updateValue(value, forKey: key)
        }
        try reader.array { name throws(WireError) in
          if let key = known(try name.text()) { stale.insert(key) }
        }
      } catch {
        if droppedSignals.admit() != nil {
          log.info("a PropertiesChanged of \(interface) exceeds the limits and was ignored: its values are stale")
        }
        (updates, tooLarge) = ([:], [])
        stale = Set(readers.flatMap { $0.readableKeys(of: interface.text) })
      }
    }
    object.told(updates.keys)
    if !updates.isEmpty { take(updates, tooLarge: tooLarge, of: object) }
    for key in stale { becameStale(key, of: object) }
  }

  /// What fields and looks read from `object`.
  private func readers(of object: OwnedObject) -> [BoundObject] {
    object.fields.compactMap { model.fields[$0]?.object } + object.looks.map(\.bound)
  }

  /// Emits a signal of `object` from each of its fields, and from `focused`.
  private func emitAgain(_ message: Message, _ interface: InterfaceName, _ object: OwnedObject) {
    // The fields are not shown to anyone yet.
    guard persistence.recovery == nil else { return }
    let size = message.measuredBodySize
    let focused = model.resolve(interface)
    for id in object.fields.sorted() {
      guard let field = model.fields[id], field.object?.interfaces.contains(interface) == true, !field.isSensitive
      else { continue }
      guard size <= Self.emittedSizeLimit else {
        guard let skipped = droppedSignals.admit() else { return }
        // Never what it says.
        return log.info(
          "the signal \(interface).\(message.member?.text ?? "") of the field '\(id)' is not emitted again: it has \(size) "
            + "bytes, but at most \(Self.emittedSizeLimit) are allowed"
            + (skipped > 0 ? "; \(skipped) others were dropped before it" : ""))
      }
      var paths = [Target.path(of: id)]
      if focused == id { paths.append(Focus1.focused) }
      for path in paths {
        guard let signal = try? message.emittedAgain(from: path) else { continue }
        post(signal: signal)
      }
      // One signal makes many: they do not wait for each other.
      if turn.outbox.isFull { endTurn() }
    }
    // Each of them holds descriptors of its own until it is sent.
    if message.descriptorCount > 0 { endTurn() }
  }
}

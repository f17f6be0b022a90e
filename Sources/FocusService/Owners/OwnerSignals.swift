internal import DBus
internal import DBusTypes
internal import FocusModel

extension InterfaceName {
  static let responder = InterfaceName(known: "org.focusd.Focus1.Responder")
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
      guard let arguments = try? message.arguments(), arguments.count == 3,
        case .string(let name) = arguments[0], case .dictionary(let changed) = arguments[1],
        case .array(let invalidated) = arguments[2], let interface = try? InterfaceName(name)
      else { return }
      for object in objects { take(changed, invalidated, of: interface, object) }
    } else {
      for object in objects where object.interface(interface) != nil { emitAgain(message, interface, object) }
    }
  }

  private func take(
    _ changed: DBusDictionary, _ invalidated: DBusArray, of interface: InterfaceName, _ object: OwnedObject
  ) {
    var updates: [Key: DBusValue?] = [:]
    for entry in changed.entries {
      guard let name = entry.key.basicText, let key = try? Key(interface: interface.text, member: name),
        object.property(key) != nil, let value = entry.value.variantContent
      else { continue }
      updates[key] = value
      object.stale.remove(key)
    }
    guard let id = object.field else {
      for (key, value) in updates { object.values[key] = value }
      return
    }
    update(updates, of: id)
    for name in invalidated.compactMap(\.basicText) {
      guard let key = try? Key(interface: interface.text, member: name), object.property(key) != nil else { continue }
      object.stale.insert(key)
      makeCurrent(key, of: object) { _ in }
    }
  }

  /// Has the model take in what the owner of the field `id` told of its object, whether it can be saved or not.
  func update(_ values: [Key: DBusValue?], of id: FieldID) {
    model.update(values, of: id)
    ifNotSaved(nil) { [self] _ in model.update(values, of: id) }
  }

  private func emitAgain(_ message: Message, _ interface: InterfaceName, _ object: OwnedObject) {
    guard let id = object.field, model.fields[id]?.isSensitive == false else { return }
    var paths = [Target.path(of: id)]
    if model.isFocused(interface, of: id) { paths.append(Target.focusedPath) }
    for path in paths {
      guard let signal = try? message.emittedAgain(from: path) else { continue }
      post(signal: signal)
    }
  }
}

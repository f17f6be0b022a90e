internal import DBus
internal import DBusTypes
internal import FocusModel

/// Turns what an operation changed into the signals that tell of it.
struct Announcer {
  /// What was told last: `focused` often tells the same values as a field has just done.
  private var last: (change: Change, signals: [Message])?
  /// The signals of one field that took focus and of one that lost it: those of others differ in the path alone.
  private var focusSignals: [DBusValue: Message] = [:]

  /// Values of one signal, in bytes, before the rest goes into another: half of what a message carries.
  private static let signalSize = Message.encodingLimit / 2

  /// The signals that tell of `change`, `model` being as it is after the operation; none of a field that is gone by then,
  /// but that it is removed.
  /// - Throws: `DBusError` where a signal cannot be made.
  mutating func signals(of change: Change, _ model: FocusModel) throws(DBusError) -> [Message] {
    let signals = if let copies = try again(change) { copies } else { try made(change, model) }
    last = (change, signals)
    return signals
  }

  /// Lets go of what was told last, which may be large.
  mutating func finish() { last = nil }

  private mutating func focusedChanged(_ id: FieldID, _ model: FocusModel) throws(DBusError) -> [Message] {
    guard model.fields[id] != nil else { return [] }
    let value = try ServedInterface.field.value("Focused", model, .field(id), nil)
    if let signal = focusSignals[value] { return [try signal.emittedAgain(from: Target.path(of: id))] }
    let signals = try own(.field, ["Focused"], .field(id), model)
    focusSignals[value] = signals.first
    return signals
  }

  /// The last signals once more, where `change` says the same of another place; else nil.
  private func again(_ change: Change) throws(DBusError) -> [Message]? {
    guard case .valuesChanged(let place, let interface, let changed, let invalidated) = change, let last,
      case .valuesChanged(_, interface, changed, invalidated) = last.change
    else { return nil }
    let path = Target.path(of: place)
    return try last.signals.map { signal throws(DBusError) in try signal.emittedAgain(from: path) }
  }

  private mutating func made(_ change: Change, _ model: FocusModel) throws(DBusError) -> [Message] {
    switch change {
    case .fieldAdded(let id):
      let interfaces = ObjectSnapshot.interfaces(of: .field(id), model, client: nil)
      return [try interfacesAdded(.field(id), interfaces)]
    case .fieldRemoved(let id, let interfaces):
      let standing = [InterfaceName.field, .bindings]
      return [try interfacesRemoved(.field(id), standing + interfaces)]
    case .interfacesAdded(let place, let interfaces):
      return [
        try interfacesAdded(
          place, ObjectSnapshot.interfaces(of: target(place), model, client: nil, only: interfaces))
      ]
    case .interfacesRemoved(let place, let interfaces):
      return [try interfacesRemoved(place, interfaces)]
    case .valuesChanged(let place, let interface, let changed, let invalidated):
      return try valuesChanged(place, interface, changed, invalidated)
    case .ownerChanged(let id): return try own(.field, ["Owner"], .field(id), model)
    case .parentChanged(let id): return try own(.field, ["Parent"], .field(id), model)
    case .focusedChanged(let id): return try focusedChanged(id, model)
    case .membersChanged(let place, let keys, let commands):
      let names = [("Keys", keys), ("Commands", commands)]
      return try own(.bindings, names.filter(\.1).map(\.0), target(place), model)
    case .focusChanged(let focusedField, let focusPath, let history):
      let names = [("FocusedField", focusedField), ("FocusPath", focusPath), ("History", history)]
      return try own(.manager, names.filter(\.1).map(\.0), .manager, model)
    }
  }

  private func target(_ place: Place) -> Target {
    switch place {
    case .focused: .focused
    case .field(let id): .field(id)
    }
  }

  /// `PropertiesChanged` of the daemon's own properties `names`.
  private func own(
    _ interface: ServedInterface, _ names: [String], _ target: Target, _ model: FocusModel
  ) throws(DBusError) -> [Message] {
    if case .field(let id) = target, model.fields[id] == nil { return [] }
    var changed: [(name: String, value: DBusValue)] = []
    for name in names { changed.append((name, try interface.value(name, model, target, nil))) }
    let path = target.place.map { Target.path(of: $0) } ?? Target.managerPath
    return [try .propertiesChanged(path: path, interface: interface.name, changed: changed)]
  }

  private func valuesChanged(
    _ place: Place, _ interface: InterfaceName, _ changed: [NamedValue], _ invalidated: [MemberName]
  ) throws(DBusError) -> [Message] {
    let path = Target.path(of: place)
    var messages: [Message] = []
    var part: [(name: String, value: DBusValue)] = []
    var size = 0
    for named in changed {
      let more = named.value.marshalledSize
      if !part.isEmpty, size + more > Announcer.signalSize {
        messages.append(try .propertiesChanged(path: path, interface: interface, changed: part))
        part = []
        size = 0
      }
      part.append((named.name.text, named.value))
      size += more
    }
    messages.append(
      try .propertiesChanged(
        path: path, interface: interface, changed: part, invalidated: invalidated.map(\.text)))
    return messages
  }

  private func interfacesAdded(_ place: Place, _ interfaces: DBusValue) throws(DBusError) -> Message {
    try .signal(
      path: Target.managerPath, interface: .objectManager, member: MemberName(known: "InterfacesAdded"),
      [.objectPath(Target.path(of: place)), interfaces])
  }

  private func interfacesRemoved(
    _ place: Place, _ interfaces: [InterfaceName]
  ) throws(DBusError) -> Message {
    try .signal(
      path: Target.managerPath, interface: .objectManager, member: MemberName(known: "InterfacesRemoved"),
      [.objectPath(Target.path(of: place)), .strings(interfaces.map(\.text))])
  }
}

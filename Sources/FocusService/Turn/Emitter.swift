internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// Turns what an operation changed into the signals that tell of it.
enum Emitter {
  /// Values of one signal, in bytes, before the rest goes into another: half of what a message carries.
  private static let signalSize = MessageBody.sizeLimit / 2

  /// The signals that tell of `change`, `model` being as it is after the operation; none of a field that is gone by then,
  /// but that it is removed.
  /// - Throws: `DBusError` if a signal cannot be made.
  static func signals(of change: Change, _ model: FocusModel) throws(DBusError) -> [OutgoingMessage] {
    switch change {
    case .fieldAdded(let id): return [try interfacesAdded(.field(id), nil, model)]
    case .fieldRemoved(let id, let interfaces):
      let standing = [Focus1.field, Focus1.bindings]
      return [try interfacesRemoved(.field(id), standing + interfaces)]
    case .interfacesAdded(let place, let interfaces): return [try interfacesAdded(place, interfaces, model)]
    case .interfacesRemoved(let place, let interfaces):
      return [try interfacesRemoved(place, interfaces)]
    case .valuesChanged(let place, let interface, let changed, let invalidated):
      let path = Target.path(of: place)
      return try bodies(interface, changed, invalidated).map { body throws(DBusError) in
        try .signal(path: path, interface: .properties, member: MemberName(known: "PropertiesChanged"), body: body)
      }
    case .ownerChanged(let id): return try own(DaemonInterfaces.field, ["Owner"], .field(id), model)
    case .processChanged(let id): return try own(DaemonInterfaces.field, ["Process"], .field(id), model)
    case .parentChanged(let id): return try own(DaemonInterfaces.field, ["Parent"], .field(id), model)
    case .activeChanged(let id): return try own(DaemonInterfaces.field, ["Active"], .field(id), model)
    case .adoptedChanged(let id): return try own(DaemonInterfaces.field, ["Adopted"], .field(id), model)
    case .sessionFieldsChanged:
      let body = try MessageBody.propertiesChanged(
        Focus1.manager, [], invalidated: [MemberName(known: "SessionFields")])
      return [
        try .signal(
          path: Target.managerPath, interface: .properties, member: MemberName(known: "PropertiesChanged"), body: body)
      ]
    case .focusedChanged(let id): return try own(DaemonInterfaces.field, ["Focused"], .field(id), model)
    case .membersChanged(let place, let keys, let commands):
      let names = [("Keys", keys), ("Commands", commands)]
      return try own(DaemonInterfaces.bindings, names.filter(\.1).map(\.0), target(place), model)
    case .focusChanged(let focusedField, let focusPath, let history):
      let names = [("FocusedField", focusedField), ("FocusPath", focusPath), ("History", history)]
      return try own(DaemonInterfaces.manager, names.filter(\.1).map(\.0), .manager, model)
    }
  }

  private static func target(_ place: Place) -> Target {
    switch place {
    case .focused: .focused
    case .field(let id): .field(id)
    }
  }

  /// `PropertiesChanged` of the daemon's own properties `names`.
  private static func own(
    _ interface: DaemonInterface, _ names: [String], _ target: Target, _ model: FocusModel
  ) throws(DBusError) -> [OutgoingMessage] {
    if case .field(let id) = target, model.fields[id] == nil { return [] }
    var changed: [(name: String, value: DBusValue)] = []
    for name in names { changed.append((name, try interface.value(name, model, target, nil))) }
    let path = target.place.map { Target.path(of: $0) } ?? Target.managerPath
    return [try .propertiesChanged(path: path, interface: interface.name, changed: changed)]
  }

  /// The signals of one interface's new values: several bodies if one message cannot carry them.
  private static func bodies(
    _ interface: InterfaceName, _ changed: [NamedValue], _ invalidated: [MemberName]
  ) throws(DBusError) -> [MessageBody] {
    var bodies: [MessageBody] = []
    var part: [MessageBody.Property] = []
    var size = 0
    for named in changed {
      let more = named.value.size
      if !part.isEmpty, size + more > signalSize {
        bodies.append(try .propertiesChanged(interface, part, invalidated: []))
        part = []
        size = 0
      }
      part.append((named.name.text, named.value))
      size += more
    }
    bodies.append(try .propertiesChanged(interface, part, invalidated: invalidated))
    return bodies
  }

  private static func interfacesAdded(
    _ place: Place, _ only: [InterfaceName]?, _ model: FocusModel
  ) throws(DBusError) -> OutgoingMessage {
    var writer = WireWriter(capacity: 1024)
    writer.append(Target.path(of: place).text)
    ObjectSnapshot.write(target(place), model, client: nil, only: only, to: &writer)
    return try .signal(
      path: Target.managerPath, interface: .objectManager, member: MemberName(known: "InterfacesAdded"),
      body: MessageBody("oa{sa{sv}}", writer))
  }

  private static func interfacesRemoved(
    _ place: Place, _ interfaces: [InterfaceName]
  ) throws(DBusError) -> OutgoingMessage {
    try .signal(
      path: Target.managerPath, interface: .objectManager, member: MemberName(known: "InterfacesRemoved"),
      [.objectPath(Target.path(of: place)), .strings(interfaces.map(\.text))])
  }
}

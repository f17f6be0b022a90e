internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// Turns what an operation changed into the signals that tell of it.
struct Emitter {
  /// Values of one signal, in bytes, before the rest goes into another: half of what a message carries.
  private static let signalSize = MessageBody.sizeLimit / 2

  /// The values told last, for `focused` shows those of a field.
  private var told: (interface: InterfaceName, changed: [NamedValue], invalidated: [MemberName], bodies: [MessageBody])?

  /// Adds the signals that tell of `change` to `outbox`, `model` being as it is after the operation; none of a field that is
  /// gone by then, but that it is removed.
  /// - Throws: `DBusError` if a signal cannot be made.
  mutating func tell(of change: Change, _ model: FocusModel, _ outbox: inout Outbox) throws(DBusError) {
    switch change {
    case .fieldAdded(let id): outbox.add(change: try interfacesAdded(.field(id), nil, model))
    case .fieldRemoved(let id, let interfaces):
      outbox.add(change: try interfacesRemoved(.field(id), [Focus1.field, Focus1.bindings] + interfaces))
    case .interfacesAdded(let place, let interfaces):
      outbox.add(change: try interfacesAdded(place, interfaces, model))
    case .interfacesRemoved(let place, let interfaces): outbox.add(change: try interfacesRemoved(place, interfaces))
    case .valuesChanged(let place, let interface, let changed, let invalidated):
      for body in try bodies(interface, changed, invalidated) {
        outbox.add(change: try signal("PropertiesChanged", of: .properties, at: Target.path(of: place), body))
      }
    case .fieldChanged(let id, let property):
      try tell(of: DaemonInterfaces.field, [property.rawValue], .place(.field(id)), model, &outbox)
    case .sessionFieldsChanged:
      try tell(of: DaemonInterfaces.manager, [], .manager, model, &outbox, invalidated: ["SessionFields"])
    case .membersChanged(let place, let keys, let commands):
      let isFocused = place == .focused
      let names = [
        ("Keys", keys, isFocused ? model.keysShownAtFocused.all : 0),
        ("Commands", commands, isFocused ? model.commandsShownAtFocused.all : 0),
      ].filter(\.1)
      try tell(
        of: DaemonInterfaces.bindings, names.filter { $0.2 <= Limits.listedNames }.map(\.0), .place(place), model,
        &outbox, invalidated: names.filter { $0.2 > Limits.listedNames }.map(\.0))
    case .focusChanged(let focusedField, let focusPath, let history):
      let names = [("FocusedField", focusedField), ("FocusPath", focusPath), ("History", history)]
      try tell(of: DaemonInterfaces.manager, names.filter(\.1).map(\.0), .manager, model, &outbox)
    }
  }

  /// Adds `PropertiesChanged` of the daemon's own properties `names`.
  private func tell(
    of interface: DaemonInterface, _ names: [String], _ target: Target, _ model: FocusModel, _ outbox: inout Outbox,
    invalidated: [String] = []
  ) throws(DBusError) {
    if case .place(.field(let id)) = target, model.fields[id] == nil { return }
    let context = PropertyContext(model, target, nil)
    var changed: [(property: ServedProperty<DaemonProperty>, value: DBusValue)] = []
    for name in names {
      let property = try interface.property(name)
      guard let value = property.handler(context) else { throw interface.unknownProperty(name) }
      changed.append((property, value))
    }
    var writer = WireWriter(capacity: 256)
    writer.append(interface.name.text)
    writer.array(alignment: 8) { array in
      for (property, value) in changed { property.append(value, to: &array) }
    }
    writer.array(alignment: 4) { array in
      for name in invalidated { array.append(name) }
    }
    let path = target.place.map { Target.path(of: $0) } ?? Focus1.root
    outbox.add(
      change: try signal("PropertiesChanged", of: .properties, at: path, try MessageBody("sa{sv}as", writer)))
  }

  /// The signals of one interface's new values: several bodies if one message cannot carry them.
  private mutating func bodies(
    _ interface: InterfaceName, _ changed: [NamedValue], _ invalidated: [MemberName]
  ) throws(DBusError) -> [MessageBody] {
    if let told, told.interface == interface, told.changed == changed, told.invalidated == invalidated {
      return told.bodies
    }
    var bodies: [MessageBody] = []
    var part: [MessageBody.Property] = []
    var size = 0
    for named in changed {
      let more = named.value.size
      if !part.isEmpty, size + more > Emitter.signalSize {
        bodies.append(try .propertiesChanged(interface, part, invalidated: []))
        (part, size) = ([], 0)
      }
      part.append((named.name.text, named.value))
      size += more
    }
    bodies.append(try .propertiesChanged(interface, part, invalidated: invalidated))
    told = (interface, changed, invalidated, bodies)
    return bodies
  }

  private func interfacesAdded(
    _ place: Place, _ only: [InterfaceName]?, _ model: FocusModel
  ) throws(DBusError) -> OutgoingMessage {
    var writer = WireWriter(capacity: 1024)
    writer.append(Target.path(of: place).text)
    ObjectSnapshot.write(place, model, client: nil, only: only, to: &writer)
    return try signal("InterfacesAdded", of: .objectManager, try MessageBody("oa{sa{sv}}", writer))
  }

  private func interfacesRemoved(_ place: Place, _ interfaces: [InterfaceName]) throws(DBusError) -> OutgoingMessage {
    var writer = WireWriter(capacity: 256)
    writer.append(Target.path(of: place).text)
    writer.array(alignment: 4) { array in
      for interface in interfaces { array.append(interface.text) }
    }
    return try signal("InterfacesRemoved", of: .objectManager, try MessageBody("oas", writer))
  }

  private func signal(
    _ member: String, of interface: InterfaceName, at path: ObjectPath = Focus1.root, _ body: MessageBody
  ) throws(DBusError) -> OutgoingMessage {
    try .signal(path: path, interface: interface, member: MemberName(known: member), body: body)
  }
}

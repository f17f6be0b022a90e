internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// `org.freedesktop.DBus.ObjectManager`: every field, and `focused`, in one reply.
extension DaemonInterfaces {
  static let objectManager = DaemonInterface(
    .objectManager,
    methods: [
      method(
        "GetManagedObjects",
        out: [.init("objects", .dictionary(key: .objectPath, value: ObjectSnapshot.type))]
      ) { service, call in
        let model = service.model
        try SnapshotSize(client: call.client).check(model)
        let places = [.focused] + model.fields.keys.sorted().map { Place.field($0) }
        // A field without values takes some 500 bytes: to grow step by step would touch the memory many times.
        var writer = WireWriter(capacity: 65_536 + 512 * places.count)
        writer.array(alignment: 8) { array in
          for place in places {
            array.align(8)
            array.append(Target.path(of: place).text)
            ObjectSnapshot.write(place, model, client: call.client, to: &array)
          }
        }
        return try MessageBody("a{oa{sa{sv}}}", writer)
      }
    ],
    signals: [
      .init(
        MemberName(known: "InterfacesAdded"),
        [.init("object_path", .objectPath), .init("interfaces_and_properties", ObjectSnapshot.type)]),
      .init(
        MemberName(known: "InterfacesRemoved"),
        [.init("object_path", .objectPath), .init("interfaces", .array(.string))]),
    ])
}

/// An object's interfaces with their properties, as `ObjectManager` shows them.
enum ObjectSnapshot {
  static let type = DBusType.dictionary(key: .string, value: .properties)

  /// Writes the interfaces of the object at `place` as `client` sees them, nil: as everyone does; `only` some of them, or all.
  static func write(
    _ place: Place, _ model: FocusModel, client: BusName?, only: [InterfaceName]? = nil, to writer: inout WireWriter
  ) {
    let context = PropertyContext(model, .place(place), client, only: only)
    writer.array(alignment: 8) { array in
      if only == nil {
        for interface in context.target.interfaces.all where !interface.properties.isEmpty {
          array.align(8)
          array.append(interface.name.text)
          interface.write(context, to: &array)
        }
      }
      for (interface, values) in published(in: context) {
        if let only, !only.contains(interface) { continue }
        array.align(8)
        array.append(interface.text)
        array.append(properties: values)
      }
    }
  }

  /// The interfaces of the object's bindings and commands, in order, each with its values.
  private static func published(in context: PropertyContext) -> [(InterfaceName, [MessageBody.Property])] {
    guard let bindings = context.bindings, let commands = context.commands else { return [] }
    var interfaces: [InterfaceName: [MessageBody.Property]] = [:]
    for (key, _) in commands { interfaces[key.interface] = [] }
    for (key, value) in bindings {
      interfaces[key.interface, default: []] += value.map { [(key.member.text, $0)] } ?? []
    }
    return interfaces.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

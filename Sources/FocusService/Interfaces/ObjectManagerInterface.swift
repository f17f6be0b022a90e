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
        let targets = [Target.focused] + model.fields.keys.sorted().map { Target.field($0) }
        var writer = WireWriter(capacity: 1 << 16)
        writer.array(alignment: 8) { array in
          for target in targets {
            guard let place = target.place else { continue }
            array.align(8)
            array.append(Target.path(of: place).text)
            ObjectSnapshot.write(target, model, client: call.client, to: &array)
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
  static let type = DBusType.dictionary(key: .string, value: propertiesType)
  private static let propertiesType = DBusType.dictionary(key: .string, value: .variant)

  /// Writes the interfaces of `target` as `client` sees them, nil: as everyone does; `only` some of them, or all.
  static func write(
    _ target: Target, _ model: FocusModel, client: BusName?, only: [InterfaceName]? = nil, to writer: inout WireWriter
  ) {
    writer.array(alignment: 8) { array in
      if only == nil {
        for interface in target.interfaces.all where !interface.properties.isEmpty {
          array.align(8)
          array.append(interface.name.text)
          interface.write(model, target, client, to: &array)
        }
      }
      for (interface, values) in published(by: target, model, client: client) {
        if let only, !only.contains(interface) { continue }
        array.align(8)
        array.append(interface.text)
        array.append(properties: values)
      }
    }
  }

  /// The interfaces of the bindings and commands of `target`, in order, each with its values.
  private static func published(
    by target: Target, _ model: FocusModel, client: BusName?
  ) -> [(InterfaceName, [MessageBody.Property])] {
    guard let place = target.place, let bindings = try? model.bindings(at: place),
      let commands = try? model.commands(at: place)
    else { return [] }
    var interfaces: [InterfaceName: [MessageBody.Property]] = [:]
    for key in commands.keys { interfaces[key.interface] = [] }
    for (key, holder) in bindings.sorted(by: { $0.key < $1.key }) {
      guard let field = model.fields[holder.field],
        client.map({ field.isVisible(to: $0) }) ?? !field.isSensitive
      else { continue }
      interfaces[key.interface, default: []].append((key.member.text, holder.binding.value))
    }
    return interfaces.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

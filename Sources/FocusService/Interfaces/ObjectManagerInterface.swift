internal import DBus
internal import DBusTypes
internal import FocusModel

/// `org.freedesktop.DBus.ObjectManager`: every field, and `focused`, in one reply.
extension ServedInterface {
  static let objectManager = ServedInterface(
    .objectManager,
    methods: [
      Method(
        "GetManagedObjects",
        out: [.init("objects", .dictionary(key: .objectPath, value: ObjectSnapshot.type))]
      ) { service, call in
        let model = service.model
        let targets = [Target.focused] + model.fields.keys.sorted().map { Target.field($0) }
        let entries = targets.compactMap { target -> DBusDictionary.Entry? in
          guard let place = target.place else { return nil }
          return .init(
            key: .objectPath(Target.path(of: place)),
            value: ObjectSnapshot.interfaces(of: target, model, client: call.client))
        }
        return [.dictionary(DBusDictionary(known: .objectPath, ObjectSnapshot.type, entries))]
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

  /// The interfaces of `target` as `client` sees them, nil: as everyone does; `only` some of them, or all.
  static func interfaces(
    of target: Target, _ model: FocusModel, client: BusName?, only: [InterfaceName]? = nil
  ) -> DBusValue {
    var entries: [DBusDictionary.Entry] = []
    if only == nil {
      for interface in target.interfaces where !interface.properties.isEmpty {
        entries.append(entry(interface.name, .properties(interface.values(model, target, client))))
      }
    }
    for (interface, values) in published(by: target, model, client: client) {
      if let only, !only.contains(interface) { continue }
      entries.append(entry(interface, .properties(values)))
    }
    return .dictionary(DBusDictionary(known: .string, propertiesType, entries))
  }

  private static func entry(_ interface: InterfaceName, _ properties: DBusValue) -> DBusDictionary.Entry {
    .init(key: .string(interface.text), value: properties)
  }

  private static func published(
    by target: Target, _ model: FocusModel, client: BusName?
  ) -> [(InterfaceName, [(name: String, value: DBusValue)])] {
    guard let place = target.place, let bindings = try? model.bindings(at: place),
      let commands = try? model.commands(at: place)
    else { return [] }
    var interfaces: [InterfaceName: [(name: String, value: DBusValue)]] = [:]
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

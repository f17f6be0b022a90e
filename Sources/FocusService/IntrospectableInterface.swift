internal import DBus
internal import DBusTypes
internal import FocusModel

/// `org.freedesktop.DBus.Introspectable` and `Peer`: what each object looks like now.
extension ServedInterface {
  static let introspectable = ServedInterface(
    .introspectable,
    methods: [
      Method("Introspect", out: [.init("xml_data", .string)]) { service, call in
        let own = call.target.interfaces.map(\.description)
        let published = try publishedInterfaces(service.model, call)
        return [
          .string(
            IntrospectionDocument.xml(
              interfaces: own + published, children: children(of: call.target, service.model)))
        ]
      }
    ])

  /// libdbus itself answers these, on any path; they are here to be shown.
  static let peer = ServedInterface(
    .peer,
    methods: [
      Method("Ping") { _, _ in [] },
      Method("GetMachineId", out: [.init("machine_uuid", .string)]) { _, _ in [] },
    ])

  private static func children(of target: Target, _ model: FocusModel) -> [String] {
    switch target {
    case .node(let children): children
    case .manager: ["field", "focused"]
    case .fields: model.fields.keys.map(\.text).sorted()
    case .focused, .field: []
    }
  }

  private static func publishedInterfaces(
    _ model: FocusModel, _ call: Call
  ) throws -> [InterfaceDescription] {
    guard let place = call.target.place else { return [] }
    let bindings = try model.bindings(at: place).sorted { $0.key < $1.key }
    var descriptions: [InterfaceDescription] = []
    for (key, holder) in bindings {
      guard let field = model.fields[holder.field] else { continue }
      if descriptions.last?.name != key.interface { descriptions.append(InterfaceDescription(key.interface)) }
      let writable = !holder.binding.isReadOnly || field.isOwned(by: call.client)
      let access: InterfaceDescription.Property.Access =
        field.isVisible(to: call.client) ? (writable ? .readWrite : .read) : .write
      descriptions[descriptions.count - 1].properties.append(
        .init(key.member, holder.binding.value.type, access))
    }
    return descriptions
  }
}

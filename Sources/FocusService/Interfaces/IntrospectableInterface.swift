internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// `org.freedesktop.DBus.Introspectable` and `Peer`: what each object looks like now.
extension DaemonInterfaces {
  static let introspectable = DaemonInterface(
    .introspectable,
    methods: [
      method(.introspect) { service, call in
        let own = call.target.interfaces.all.map(\.description)
        let published = try publishedInterfaces(service, call)
        let xml = IntrospectionDocument.xml(
          interfaces: own + published, children: children(of: call.target, service.model))
        return try MessageBody([.string(xml)])
      }
    ])

  /// libdbus itself answers these, on any path; they are here to be shown.
  static let peer = DaemonInterface(
    .peer,
    methods: [
      method("Ping") { _, _ in .empty },
      method("GetMachineId", out: [.init("machine_uuid", .string)]) { _, _ in .empty },
    ])

  private static func children(of target: Target, _ model: FocusModel) -> [String] {
    switch target {
    case .node(let children): children
    case .manager: ["field", "focused"]
    case .fields: model.fields.keys.map(\.text).sorted()
    case .place: []
    }
  }

  /// The interfaces of the bindings and commands at the called object, as the client may use them.
  private static func publishedInterfaces(
    _ service: FocusService, _ call: Call
  ) throws -> [InterfaceDescription] {
    guard let place = call.target.place else { return [] }
    let model = service.model
    var found: [InterfaceName: InterfaceDescription] = [:]
    for (key, holder) in try model.bindings(at: place).sorted(by: { $0.key < $1.key }) {
      guard let field = model.fields[holder.field] else { continue }
      let binding = holder.binding
      let isWritable = !binding.isReadOnly || (!binding.isBound && field.isOwned(by: call.client))
      let access: InterfaceDescription.Property.Access
      switch (field.isVisible(to: call.client) && !binding.isWriteOnly, isWritable) {
      case (true, true): access = .readWrite
      case (true, false): access = .read
      case (false, true): access = .write
      case (false, false): continue
      }
      let declared = field.object?.properties[key]
      let emits: InterfaceDescription.Property.Emits =
        switch declared?.emits {
        case .never: .never
        // It changes at `focused` when focus does.
        case .constant where place != .focused: .constant
        // If an owner only invalidates a property, the daemon fetches the value and emits it.
        case .constant, .invalidates, .always, nil: .always
        }
      let type = binding.isWriteOnly ? declared?.type : nil
      found[key.interface, default: .init(key.interface)].properties.append(
        .init(key.member, type ?? binding.value.type, access, emits: emits))
    }
    for (key, holder) in try model.commands(at: place).sorted(by: { $0.key < $1.key }) {
      let methods = model.fields[holder.field]?.object?.commands[key]?.methods ?? []
      found[key.interface, default: .init(key.interface)].methods += methods
    }
    for (name, id) in try model.objectInterfaces(at: place) where model.fields[id]?.isSensitive == false {
      guard let signals = model.fields[id]?.object?.signals[name] else { continue }
      found[name, default: .init(name)].signals = signals
    }
    return found.values.sorted { $0.name < $1.name }
  }
}

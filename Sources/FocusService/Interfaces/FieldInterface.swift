internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// `org.focusd.Focus1.Field`: what a field's owner does with it, and what it is.
extension DaemonInterfaces {
  static let field = DaemonInterface(
    Focus1.field,
    methods: [
      method("Focus", changes: true, focus),
      method("Blur", changes: true) { service, call in
        try service.model.blur(try call.field(), by: call.client)
        return .empty
      },
      method(
        "Publish", in: [.init("values", .properties), .init("options", .properties)], changes: true,
        ownersAction: "publish on"
      ) { service, call in
        let values = try call.bindings()
        var options = CallOptions(try call.values())
        let readOnly = try options.keys("read_only")
        try options.finish()
        try service.model.publish(values, readOnly: readOnly, on: call.field(), by: call.client)
        return .empty
      },
      method(
        "Withdraw", in: [.init("keys", .array(.string))], changes: true, ownersAction: "withdraw keys from"
      ) { service, call in
        var names: Set<String> = []
        var keys: [Key] = []
        // Of more names than a field has keys, one is not there, and none is read as a key in vain.
        for name in try call.strings() where keys.count <= Limits.keysPerField && names.insert(name).inserted {
          keys.append(try Key(name))
        }
        try service.model.withdraw(keys, from: call.field(), by: call.client)
        return .empty
      },
      method(
        "SetEnabled", in: [.init("commands", .dictionary(key: .string, value: .boolean))], changes: true,
        ownersAction: "enable commands of"
      ) { service, call in
        let states = try call.states().map { (key: try Key($0.name), value: $0.isOn) }
        try service.model.setEnabled(states, of: call.field(), by: call.client)
        return .empty
      },
      method("Activate", changes: true) { service, call in
        try service.model.activate(call.field())
        return .empty
      },
      method("Adopt", in: [.init("owners", .array(.string))], changes: true, ownersAction: "adopt scenes into") {
        service, call in
        try service.adopt(call.strings(), into: call.field(), by: call.client, call.reply)
        return nil
      },
      method("Examine", ownersAction: "examine") { service, call in
        try service.examine(call.field(), for: call.client, call.reply)
        return nil
      },
      method("Unregister", changes: true) { service, call in
        try service.model.unregister(call.field(), by: call.client)
        return .empty
      },
    ],
    properties: [
      fieldProperty("Id", .string, emits: .constant) { field, _ in .string(field.id.text) },
      fieldProperty("Label", .string) { field, _ in .string(field.label) },
      fieldProperty("Owner", .string) { field, _ in .string(field.owner?.text ?? "") },
      fieldProperty("Connection", .string) { field, _ in
        .string(field.object == nil && !field.isAwaitingObject ? "" : field.connection?.text ?? "")
      },
      fieldProperty("Parent", .objectPath) { field, _ in .objectPath(Target.path(of: field.parent)) },
      fieldProperty("Scope", .string, emits: .constant) { field, _ in .string(field.scope.rawValue) },
      fieldProperty("Focused", .boolean) { field, model in .boolean(model.focusedField == field.id) },
      fieldProperty("Linger", .boolean, emits: .constant) { field, _ in .boolean(field.lingers) },
      fieldProperty("Process", .uint32) { field, model in .uint32(model.process(of: field)) },
      fieldProperty("Sensitive", .boolean, emits: .constant) { field, _ in .boolean(field.isSensitive) },
      fieldProperty("Active", .boolean) { field, _ in .boolean(field.activity?.isActive == true) },
      fieldProperty("Adopted", .array(.string)) { field, _ in
        .strings(field.window?.adopted.keys.map(\.text).sorted() ?? [])
      },
    ])

  /// Moves focus for the owner; for others, asks the field's object where that can be asked.
  @Sendable private static func focus(_ service: FocusService, _ call: inout Call) throws -> MessageBody? {
    let id = try call.field()
    let field = try service.model.field(id)
    guard field.object?.hasResponder == true, let object = service.objects[id], !field.isOwned(by: call.client) else {
      try service.model.focus(id, by: call.client)
      return .empty
    }
    let request = try object.methodCall(
      Focus1.responder, MemberName(known: "RequestFocus"), MessageBody([.objectPath(Target.path(of: id))]))
    call.reply.results = .none
    call.reply.asked = (nil, id)
    try service.pass(request, isOrdered: false, from: call.client, call.reply, to: object)
    return nil
  }

  private static func fieldProperty(
    _ name: String, _ type: DBusType, emits: InterfaceDescription.Property.Emits = .always,
    _ get: @escaping @Sendable (Field, FocusModel) -> DBusValue
  ) -> ServedProperty<DaemonProperty> {
    property(name, type, emits: emits) { context in
      guard let field = context.field else { return nil }
      return get(field, context.model)
    }
  }
}

internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// `org.focusd.Focus1.Bindings`: what properties cannot say of bindings, on `focused` and on every field.
extension DaemonInterfaces {
  static let bindings = DaemonInterface(
    Focus1.bindings,
    methods: [
      method(
        "Read", in: [.init("key", .string)],
        out: [.init("value", .array(.variant)), .init("field", .objectPath), .init("revision", .uint64)]
      ) { service, call in
        try service.read(.one(BindingPath(call.arguments.text())), at: call.place(), for: call)
      },
      method(
        "Write",
        in: [.init("key", .string), .init("value", .variant), .init("options", .properties)],
        out: [.init("value", .variant), .init("field", .objectPath), .init("revision", .uint64)], changes: true,
        write),
      method(
        "ReadAll",
        out: [.init("values", .dictionary(key: .string, value: .structure([.variant, .objectPath, .uint64])))]
      ) { service, call in try service.read(.all(nil), at: call.place(), for: call) },
      method(
        "Invoke",
        in: [.init("command", .string), .init("arguments", .array(.variant)), .init("options", .properties)],
        out: [.init("results", .array(.variant))], invoke),
    ],
    properties: [
      property("Keys", .array(.string)) { context in
        context.bindings.map { .strings($0.map(\.key.description)) }
      },
      property("Commands", .dictionary(key: .string, value: .boolean)) { context in
        guard let commands = context.commands else { return nil }
        let entries = commands.map { key, isEnabled in
          DBusDictionary.Entry(key: .string(key.description), value: .boolean(isEnabled))
        }
        return .dictionary(DBusDictionary(known: .string, .boolean, entries))
      },
    ])

  @Sendable private static func write(_ service: FocusService, _ call: inout Call) throws -> MessageBody? {
    let path = try BindingPath(call.arguments.text())
    let value = try call.arguments.variant()
    var options = CallOptions(try call.values())
    var condition = WriteCondition()
    if case .uint64(let revision)? = try options.take("revision", .uint64)?.value { condition.revision = revision }
    let wanted = try options.path("field")
    try options.finish()
    if let wanted {
      guard let id = FieldID(wanted) else {
        throw ModelError.conflict("\(path.key) is not of '\(wanted.text.excerpt)', which is not a field's path")
      }
      condition.field = id
    }
    call.reply.showsValues = true
    // Before its owner is asked: what is refused must not be done.
    try service.checkRevisions()
    return try service.write(value, to: path, at: call.place(), if: condition, for: call, isShown: true)
  }

  @Sendable private static func invoke(_ service: FocusService, _ call: inout Call) throws -> MessageBody? {
    let command = try Key(call.arguments.text())
    let given = try call.variants()
    try CallOptions(call.values()).finish()
    let object = try service.object(ofCommand: command, at: call.place(), call.reply)
    let arguments =
      try call.descriptors.isEmpty
      ? MessageBody(given) : MessageBody(MarshalledValue.values(given, naming: call.descriptors))
    let message = try object.methodCall(command.interface, command.member, arguments)
    call.reply.results = .variants
    try service.pass(message, descriptors: call.descriptors.count, from: call.client, call.reply, to: object)
    return nil
  }
}

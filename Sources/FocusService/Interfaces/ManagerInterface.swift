internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// `org.focusd.Focus1.Manager`: registration, and where focus is.
extension DaemonInterfaces {
  static let manager = DaemonInterface(
    Focus1.manager,
    methods: [
      method(
        "Register",
        in: [.init("id", .string), .init("values", .properties), .init("options", .properties)],
        out: [.init("field", .objectPath)], changes: true, register)
    ],
    properties: [
      property("FocusedField", .objectPath) { .objectPath(Target.path(of: $0.model.focusedField)) },
      property("FocusPath", .array(.objectPath)) { .objectPaths($0.model.focusPath.map(\.path)) },
      property("History", .array(.objectPath)) { .objectPaths($0.model.history.map(\.path)) },
      property("SessionFields", .array(.objectPath), emits: .invalidates) { context in
        .objectPaths(context.model.sessionFields.map(\.path))
      },
      property("Version", .string, emits: .constant) { _ in .string(Version.current) },
    ])

  @Sendable private static func register(_ service: FocusService, _ call: inout Call) throws -> MessageBody? {
    let text = try call.arguments.text()
    let id = text.isEmpty ? nil : try FieldID(text)
    let values = try call.bindings()
    let list = try call.values()
    let needing = ["interfaces", "live", "commands", "service"].first { list[$0] != nil }
    var given = CallOptions(list)
    var options = FieldOptions()
    options.label = try given.string("label")
    options.parent = try given.field("parent")
    if let text = try given.string("scope") {
      guard let scope = Scope(rawValue: text) else {
        throw DBusError(.invalidArgs, "the option 'scope' must be 'field', 'scene' or 'session', not '\(text.excerpt)'")
      }
      options.scope = scope
    }
    options.active = try given.condition("active")
    options.readOnly = try given.keys("read_only") ?? []
    let object = try given.path("object")
    let chosen = try given.names("interfaces").map { Array(Set($0)).sorted() }
    let live = try given.keys("live") ?? []
    let commands = try given.signatures("commands") ?? [:]
    options.lingers = try given.boolean("linger")
    options.isSensitive = try given.boolean("sensitive")
    if case .uint32(let process)? = try given.take("process", .uint32)?.value { options.process = process }
    let serviceName = try given.string("service")
    let takesFocus = try given.boolean("focus")
    try given.finish()
    if let path = object {
      guard !options.lingers else {
        throw DBusError(
          .invalidArgs, "a field with the option 'object' cannot have 'linger': it is removed with its owner")
      }
      if let key = live.sorted().first(where: { values[$0] != nil }) {
        throw DBusError(.invalidArgs, "'live' lists \(key), which is a stored value and not the object's")
      }
      let choice = ObjectChoice(path: path, interfaces: chosen, live: live, commands: commands)
      try choice.check()
      let registration = Registration(
        id, values, options, choice, takesFocus: takesFocus, owner: call.client, call.reply)
      if let serviceName {
        try service.register(registration, ofService: serviceName)
      } else {
        try service.register(registration, at: call.client)
      }
      return nil
    }
    if let needing {
      throw DBusError(.invalidArgs, "the option '\(needing)' requires 'object'")
    }
    let field = try service.model.register(id, values, options, owner: call.client)
    if takesFocus { try service.model.focus(field, by: call.client) }
    return try MessageBody([.objectPath(field.path)])
  }
}

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
        in: [
          .init("id", .string), .init("values", .dictionary(key: .string, value: .variant)),
          .init("options", .dictionary(key: .string, value: .variant)),
        ],
        out: [.init("field", .objectPath)], changes: true, register)
    ],
    properties: [
      property("FocusedField", .objectPath) { .objectPath(Target.path(of: $0.model.focusedField)) },
      property("FocusPath", .array(.objectPath)) { context in
        .objectPaths(context.model.focusPath.map { Target.path(of: $0) })
      },
      property("History", .array(.objectPath)) { context in
        .objectPaths(context.model.history.map { Target.path(of: $0) })
      },
      property("SessionFields", .array(.objectPath), emits: .invalidates) { context in
        .objectPaths(context.model.sessionFields.map { Target.path(of: $0) })
      },
      property("Version", .string, emits: .constant) { _ in .string(Version.current) },
    ])

  @Sendable private static func register(_ service: FocusService, _ call: Call) throws -> MessageBody? {
    let text = try call.string(0)
    let id = text.isEmpty ? nil : try FieldID(text)
    let values = try service.values(call.dictionary(1))
    var given = CallOptions(try call.dictionary(2))
    var options = FieldOptions()
    options.label = try given.string("label")
    options.parent = try given.field("parent")
    if let scope = try given.string("scope") { options.scope = try Self.scope(scope) }
    options.active = try given.condition("active")
    options.readOnly = try service.keys(given.strings("read_only") ?? [])
    let object = try given.path("object")
    let chosen = try given.strings("interfaces").map { Array(Set($0)).sorted() }
    guard chosen?.count ?? 0 <= Limits.keysPerField else {
      throw DBusError(.limitsExceeded, "the option 'interfaces' lists more than \(Limits.keysPerField) interfaces")
    }
    let live = try given.strings("live").map { names in
      guard names.count <= Limits.keysPerField else {
        throw DBusError(.limitsExceeded, "the option 'live' lists more than \(Limits.keysPerField) keys")
      }
      return try service.keys(names)
    }
    options.lingers = try given.boolean("linger")
    options.isSensitive = try given.boolean("sensitive")
    options.process = try given.processID("process")
    let serviceName = try given.string("service")
    let takesFocus = try given.boolean("focus")
    try given.finish()
    if let path = object {
      guard !options.lingers else {
        throw DBusError(
          .invalidArgs, "a field with the option 'object' cannot have 'linger': it is removed with its owner")
      }
      if let key = live?.sorted().first(where: { values[$0] != nil }) {
        throw DBusError(.invalidArgs, "'live' lists \(key), which is a stored value and not the object's")
      }
      let (client, reply, given) = (call.client, call.reply, options)
      let register = { [weak service] (holder: BusName) throws in
        var options = given
        options.service = holder == client ? nil : holder
        try service?.register(
          BoundRegistration(
            id: id, values: values, options: options, takesFocus: takesFocus, owner: client,
            object: OwnedObject(owner: holder, path: path, chosen: chosen, live: live ?? []), reply: reply))
      }
      if let serviceName {
        try service.lookUp(serviceName, for: client, reply, register)
      } else {
        try register(client)
      }
      return nil
    }
    for (name, isGiven) in [("interfaces", chosen != nil), ("live", live != nil), ("service", serviceName != nil)]
    where isGiven {
      throw DBusError(.invalidArgs, "the option '\(name)' requires 'object'")
    }
    let (field, changes) = try service.model.register(id, values, options, owner: call.client)
    service.emit(changes)
    if takesFocus { try service.model.focus(field, by: call.client) }
    return try MessageBody([.objectPath(Target.path(of: field))])
  }

  private static func scope(_ text: String) throws(DBusError) -> Scope {
    guard let scope = Scope(rawValue: text) else {
      throw DBusError(.invalidArgs, "the option 'scope' must be 'field', 'scene' or 'session', not '\(text.excerpt)'")
    }
    return scope
  }
}

extension FocusService {
  /// The keys that `names` spell.
  /// - Throws: `SyntaxError`.
  func keys(_ names: [String]) throws(SyntaxError) -> Set<Key> {
    var keys: Set<Key> = []
    for name in names { keys.insert(try Key(name)) }
    return keys
  }

  /// The values by the keys that their names spell.
  /// - Throws: `SyntaxError`.
  func values(_ values: [String: MarshalledValue]) throws(SyntaxError) -> [Key: MarshalledValue] {
    var result: [Key: MarshalledValue] = [:]
    for (name, value) in values { result[try Key(name)] = value }
    return result
  }
}

import DBus
import DBusTypes
import FocusClient
import FocusContract

/// The commands that create, change and remove fields.
enum FieldMethods {
  static func register(_ call: Invocation) throws(CommandError) {
    let options = call.options
    let id = call.operands[0]
    if !id.isEmpty { _ = try FieldID.path(id) }
    let values = try keyedValues(call.operands.dropFirst())
    var registration: [(name: String, value: DBusValue)] = [("linger", .boolean(true))]
    if let label = options.label { registration.append(("label", .string(label))) }
    if let parent = options.parent { registration.append(("parent", .objectPath(try FieldID.path(parent)))) }
    if let scope = options.scope {
      guard ["field", "scene", "session"].contains(scope) else {
        throw .usage("'\(scope)' is not a scope: expected 'field', 'scene' or 'session'")
      }
      registration.append(("scope", .string(scope)))
    }
    var initial: [(name: String, value: DBusValue)] = []
    for each in values { initial.append((each.key, try each.value())) }
    if let active = options.active {
      guard options.scope == "session" else { throw .usage("'--active' needs '--scope session'") }
      registration.append(("active", try condition(active, of: initial)))
    }
    if !options.readOnly.isEmpty { registration.append(("read_only", try readOnly(options))) }
    if options.sensitive { registration.append(("sensitive", .boolean(true))) }
    if options.focus { registration.append(("focus", .boolean(true))) }

    let path = try ask(call.connect(), .register(id, initial, registration))
    try Output.write(FieldID.id(path) + "\n")
  }

  static func publish(_ call: Invocation) throws(CommandError) {
    let path = try FieldID.path(call.operands[0])
    let values = try keyedValues(call.operands.dropFirst())
    let options = call.options.readOnly.isEmpty ? [] : [("read_only", try readOnly(call.options))]
    let daemon = try call.connect()
    var known: [String: KeyReading] = [:]
    if values.contains(where: { $0.type == nil }) {
      do { known = try daemon.call(.readAll(at: path)) } catch { throw CommandError(error) }
    }
    var published: [(name: String, value: DBusValue)] = []
    for each in values { published.append((each.key, try each.value(known: known[each.key]?.value.type))) }
    try ask(daemon, .field(path, "Publish", [.properties(published), .properties(options)]))
  }

  static func withdraw(_ call: Invocation) throws(CommandError) {
    let path = try FieldID.path(call.operands[0])
    var keys: [String] = []
    for key in call.operands.dropFirst() { keys.append(try KeyArgument.whole(key)) }
    try ask(call.connect(), .field(path, "Withdraw", [.strings(keys)]))
  }

  static func unregister(_ call: Invocation) throws(CommandError) { try onEach("Unregister", call) }
  static func focus(_ call: Invocation) throws(CommandError) { try onEach("Focus", call) }
  static func blur(_ call: Invocation) throws(CommandError) { try onEach("Blur", call) }

  /// Calls a method without arguments on each field that the operands name.
  private static func onEach(_ method: String, _ call: Invocation) throws(CommandError) {
    var paths: [ObjectPath] = []
    for id in call.operands { paths.append(try FieldID.path(id)) }
    let daemon = try call.connect()
    for path in paths { try ask(daemon, .field(path, method)) }
  }

  private static func keyedValues(_ operands: some Sequence<String>) throws(CommandError) -> [KeyedValue] {
    var values: [KeyedValue] = []
    for operand in operands {
      let value = try KeyedValue(operand)
      guard !values.contains(where: { $0.key == value.key }) else { throw .usage("'\(value.key)' is given twice") }
      values.append(value)
    }
    return values
  }

  /// The condition `KEY=VALUE`; the value has the type of the key among `values` if it is there.
  private static func condition(
    _ text: String, of values: [(name: String, value: DBusValue)]
  ) throws(CommandError) -> DBusValue {
    let condition = try KeyedValue(text)
    let known = values.first { $0.name == condition.key }?.value.type
    return .structure([.string(condition.key), .variant(try condition.value(known: known))])
  }

  private static func readOnly(_ options: Options) throws(CommandError) -> DBusValue {
    var keys: [String] = []
    for key in options.readOnly { keys.append(try KeyArgument.whole(key)) }
    return .strings(keys)
  }

  @discardableResult
  private static func ask<Reply>(_ daemon: DaemonConnection, _ call: DaemonCall<Reply>) throws(CommandError) -> Reply {
    do {
      return try daemon.call(call)
    } catch {
      throw daemon.explained(CommandError(error), error, call.path)
    }
  }
}

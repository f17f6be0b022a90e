import DBus
import DBusTypes
import DaemonClient
import FocusContract

/// The commands that create, change and remove fields.
enum FieldMethods {
  static func register(_ call: Invocation) throws(CommandError) {
    let options = call.options
    let id = call.operands[0]
    if !id.isEmpty { _ = try FieldID.path(id) }
    let values = try Registration.keyedValues(call.operands.dropFirst())
    var initial: Registration.Named = []
    for each in values { initial.append((each.key, try each.value())) }
    var registration = [("linger", .boolean(true))] + (try Registration.options(options, of: initial))
    if options.focus { registration.append(("focus", .boolean(true))) }

    let path = try call.connect().ask(.register(id, initial, registration))
    try Output.write(FieldID.id(path) + "\n")
  }

  static func publish(_ call: Invocation) throws(CommandError) {
    let path = try FieldID.path(call.operands[0])
    let given = try call.operands.dropFirst().map { operand throws(CommandError) in try KeyedValue(operand) }
    let daemon = try call.connect()
    let known = given.allSatisfy { $0.type != nil && $0.isWhole } ? [:] : try types(at: path, daemon)
    var published: [(name: String, value: DBusValue)] = []
    for each in try Registration.completed(given, among: known.keys) {
      published.append((each.key, try each.value(known: known[each.key])))
    }
    try daemon.ask(.field(path, "Publish", [.properties(published), .properties([])]))
  }

  static func withdraw(_ call: Invocation) throws(CommandError) {
    let path = try FieldID.path(call.operands[0])
    let given = try call.operands.dropFirst().map { operand throws(CommandError) in try KeyArgument(operand) }
    let daemon = try call.connect()
    let known = given.allSatisfy(\.mayBeWhole) ? [:] : try types(at: path, daemon)
    var keys: [String] = []
    for key in given { keys.append(try key.whole(among: known.keys)) }
    try daemon.ask(.field(path, "Withdraw", [.strings(keys)]))
  }

  /// The types of the field's keys, also of those whose values nobody is shown.
  private static func types(
    at path: ObjectPath, _ daemon: DaemonConnection
  ) throws(CommandError) -> [String: DBusType] {
    var types: [String: DBusType] = [:]
    for interface in try daemon.ask(.introspection(of: path)) where !Key.isReserved(interface.name.text) {
      for property in interface.properties { types["\(interface.name).\(property.name)"] = property.type }
    }
    return types
  }

  static func unregister(_ call: Invocation) throws(CommandError) { try onEach("Unregister", call) }
  static func focus(_ call: Invocation) throws(CommandError) { try onEach("Focus", call) }
  static func blur(_ call: Invocation) throws(CommandError) { try onEach("Blur", call) }

  /// Calls a method without arguments on each field that the operands name, also after one refused it.
  private static func onEach(_ method: String, _ call: Invocation) throws(CommandError) {
    var paths: [ObjectPath] = []
    for id in call.operands { paths.append(try FieldID.path(id)) }
    let daemon = try call.connect()
    var refusals: [CommandError] = []
    for path in paths {
      do { try daemon.ask(.field(path, method)) } catch {
        refusals.append(error)
        guard error.status == .refused else { break }
      }
    }
    for refusal in refusals.dropLast() { refusal.message.map(Output.say) }
    if let last = refusals.last { throw last }
  }

  static func activate(_ call: Invocation) throws(CommandError) {
    let options = call.options
    guard [call.operands.count == 1, options.next, options.previous].count(where: { $0 }) == 1 else {
      throw .usage("'activate' takes either an ID, '--next' or '--previous'")
    }
    if let id = call.operands.first {
      let path = try FieldID.path(id)
      return try call.connect().ask(.field(path, "Activate"))
    }
    let daemon = try call.connect()
    let fields = try daemon.ask(.sessionFields())
    guard let first = fields.first else { throw CommandError(.nothing, "there are no session fields") }
    let byID = fields.sorted { NaturalOrder.precedes(FieldID.id($0), FieldID.id($1)) }
    let index = (byID.firstIndex(of: first) ?? 0) + (options.next ? 1 : byID.count - 1)
    try daemon.ask(.field(byID[index % byID.count], "Activate"))
  }
}

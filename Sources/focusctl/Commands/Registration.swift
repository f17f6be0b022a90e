import DBusTypes
import FocusContract

/// The options of `Register` that the command line gives.
enum Registration {
  typealias Named = [(name: String, value: DBusValue)]

  /// The options for a field that has `values` from the start, but for `focus`.
  /// - Throws: `CommandError` if one is not valid.
  static func options(_ options: Options, of values: Named = []) throws(CommandError) -> Named {
    var registration: Named = []
    if let label = options.label { registration.append(("label", .string(label))) }
    if let parent = options.parent { registration.append(("parent", .objectPath(try FieldID.path(parent)))) }
    if let scope = options.scope {
      guard ["field", "scene", "session"].contains(scope) else {
        throw .usage("'\(scope.excerpt)' is not a scope: expected 'field', 'scene' or 'session'")
      }
      registration.append(("scope", .string(scope)))
    }
    if let active = options.active {
      guard options.scope == "session" else { throw .usage("'--active' needs '--scope session'") }
      registration.append(("active", try condition(active, of: values)))
    }
    if options.sensitive { registration.append(("sensitive", .boolean(true))) }
    return registration
  }

  /// The keys and values that operands give, each key once.
  /// - Throws: `CommandError` if one is not valid, or a key is given twice.
  static func keyedValues(_ operands: some Collection<String>) throws(CommandError) -> [KeyedValue] {
    try completed(operands.map { operand throws(CommandError) in try KeyedValue(operand) }, among: [])
  }

  /// The same with whole keys, each once: its own, or that of `keys` which it ends.
  /// - Throws: `CommandError` if one ends none of them, or several, or a key is given twice.
  static func completed(
    _ given: [KeyedValue], among keys: some Sequence<String>
  ) throws(CommandError) -> [KeyedValue] {
    var values: [KeyedValue] = []
    for each in given {
      let value = try each.completed(among: keys)
      guard !values.contains(where: { $0.key == value.key }) else { throw .usage("'\(value.key)' is given twice") }
      values.append(value)
    }
    return values
  }

  /// The key that `text` spells in full, or the one of `keys` that it ends.
  /// - Throws: `CommandError` if it is not one.
  static func key(_ text: String, among keys: some Sequence<Key> = []) throws(CommandError) -> Key {
    let whole = try KeyArgument.whole(text, among: keys.map(\.description))
    do { return try Key(whole) } catch { throw .usage(error.description) }
  }

  /// The commands that the options name, each with the types of its arguments; those of one that programs share are known.
  /// - Throws: `CommandError` for what is not `KEY` or `KEY:SIGNATURE`.
  static func commands(_ options: Options) throws(CommandError) -> [Key: Signature] {
    var commands: [Key: Signature] = [:]
    for command in options.commands {
      let parts = command.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let key = try key(parts.first ?? "")
      let shared: Signature? = if case .command(let signature)? = Vocabulary.member(key) { signature } else { nil }
      let text = parts.dropFirst().first ?? shared?.text ?? ""
      do { commands[key] = try Signature(text) } catch { throw .usage(error.description) }
    }
    return commands
  }

  /// The condition `KEY=VALUE`; the value has the type of the key among `values` if it is there.
  private static func condition(_ text: String, of values: Named) throws(CommandError) -> DBusValue {
    let condition = try KeyedValue(text).completed(among: values.map(\.name))
    let known = values.first { $0.name == condition.key }?.value.type
    return .structure([.string(condition.key), .variant(try condition.value(known: known))])
  }
}

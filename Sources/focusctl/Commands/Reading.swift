import DBus
import DBusTypes
import DaemonClient
import FocusContract
import Glibc

/// The command that reads keys once.
enum Reading {
  private typealias Found = (key: KeyArgument, reading: KeyReading)

  private static let names = Template.Names(
    parts: ["key", "value", "type", "field", "revision", "json"], allowsKeys: true)

  static func get(_ call: Invocation) throws(CommandError) {
    var keys: [KeyArgument] = []
    for operand in call.operands { keys.append(try KeyArgument(operand)) }
    let format = try call.template(names)
    guard !keys.isEmpty || format?.keys.isEmpty == false else {
      throw .usage("'get' needs a KEY, as an operand or within '--format'")
    }
    let bindings = try Bindings(try call.connect(), call.options)
    var reasons: [KeyArgument: String] = [:]
    // Beside others, an element that is not there is nil.
    let known = try readings(of: keys, in: bindings, allowingAbsence: keys.count > 1, &reasons)
    var found = keys.map { known[$0] }
    let others = try readings(of: format?.keys ?? [], in: bindings, &reasons)
    if keys.isEmpty, let format {
      // Without an operand, the parts with names are those of the first key in the format.
      found = [format.keys.lazy.compactMap { others[$0] }.first]
      keys = [found[0]?.key ?? format.keys[0]]
    }
    func value(_ part: FormatPart, _ key: KeyArgument, _ found: Found?) -> FormatValue? {
      switch part {
      case .key(let key): others[key].map { .value($0.reading.value) }
      case .name(let name): found.map { Self.part(name, $0) } ?? (name == "key" ? .string(key.text) : nil)
      }
    }
    let missing = zip(keys, found).filter { $0.1 == nil }.map(\.0)
    guard missing.count < keys.count || format?.isComplete({ value($0, keys[0], nil) }) == true else {
      throw isNil(call.operands.isEmpty ? format?.keys ?? [] : missing, in: bindings, reasons)
    }
    guard let format else {
      try Output.write(zip(keys, found).map { plainLine($0, $1, of: keys.count, asJSON: call.options.json) }.joined())
      return isNil(missing, in: bindings, reasons).message.map(Output.say) ?? ()
    }
    try Output.write(
      zip(keys, found).map { key, found in format.text(ValueText.text) { value($0, key, found) } + "\n" }.joined())
  }

  /// The line of one of `count` keys: its value, or nothing for nil; with the key in JSON if there are several.
  private static func plainLine(_ key: KeyArgument, _ found: Found?, of count: Int, asJSON: Bool) -> String {
    guard asJSON else { return (found.map { ValueText.text($0.reading.value) } ?? "") + "\n" }
    let document = found.map { JSONWriter.document($0.reading.value) } ?? "null"
    guard count > 1 else { return document + "\n" }
    return JSONWriter.object([("key", JSONWriter.string(key.text)), ("value", document)]) + "\n"
  }

  private static func part(_ name: String, _ found: Found) -> FormatValue {
    let (value, origin) = (found.reading.value, found.reading.origin)
    return switch name {
    case "key": .string(found.key.text)
    case "value": .value(value)
    case "type": .text(value.type.description)
    case "field": .text(FieldID.id(origin.field))
    case "revision": .value(.uint64(origin.revision))
    default: .text(JSONWriter.document(value))
    }
  }

  /// What the keys that have a value are; adds to `reasons` why an element is not there, if that is allowed.
  private static func readings(
    of keys: [KeyArgument], in bindings: Bindings, allowingAbsence: Bool = true, _ reasons: inout [KeyArgument: String]
  ) throws(CommandError) -> [KeyArgument: Found] {
    var readings: [KeyArgument: Found] = [:]
    for key in keys {
      do {
        readings[key] = try bindings.read(key)
      } catch {
        let reason = bindings.explained(error)
        guard allowingAbsence, error.error?.name == Focus1.noSuchElement else { throw reason }
        reasons[key] = reason.message
      }
    }
    return readings
  }

  /// The end of a command because `keys` are nil; only people are told why, and what they may have meant.
  private static func isNil(
    _ keys: [KeyArgument], in bindings: Bindings, _ reasons: [KeyArgument: String]
  ) -> CommandError {
    guard isatty(STDERR_FILENO) != 0, !keys.isEmpty else { return CommandError(.nothing) }
    return CommandError(.nothing, keys.map { reasons[$0] ?? bindings.whyNil($0) }.joined(separator: "; "))
  }
}

extension Bindings {
  /// The error that ends the command because of `failure`.
  func explained(_ failure: ReadFailure) -> CommandError {
    daemon.explained(failure.command, failure.error, path)
  }

  /// Why `key` is nil here, and what may have been meant.
  func whyNil(_ key: KeyArgument) -> String {
    let name = key.name.excerpt
    if let commands = try? daemon.call(.commands(at: path)), let command = key.matches(among: commands.keys).first {
      return "'\(name)' is a command: '\(Program.name) run \(command)' calls it"
    }
    if !key.matches(among: ["org.focusd.Text.Content"]).isEmpty,
      case .int32(let length)?? = try? read("org.focusd.Text.Length")?.value, length > 0
    {
      return
        "'\(name)' is nil: the text has \(length) characters, which cannot all be shown; org.focusd.Text.Insert replaces "
        + "those that org.focusd.Text.Selection names"
    }
    let next = suggestion(for: key).map { "did you mean '\($0)'?" } ?? "'\(Program.name)' shows what has focus"
    return "'\(name)' is nil: \(described); \(next)"
  }

  /// The key here that `key` is probably a typing mistake of.
  func suggestion(for key: KeyArgument) -> String? { Suggestion.key(near: key.name, among: (try? keys()) ?? []) }
}

extension Suggestion {
  /// The one of `keys`, or of their last parts or last two, that is nearest to `name`.
  static func key(near name: String, among keys: [String]) -> String? {
    let ends = [1, 2].flatMap { count in keys.map { $0.split(separator: ".").suffix(count).joined(separator: ".") } }
    return nearest(to: name, among: keys + ends)
  }
}

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
    // What is missing could not be told from the others by its line.
    var found: [Found] = []
    for key in keys { found.append(try required(key, in: bindings)) }
    guard let format else {
      let line = call.options.json ? JSONWriter.document : ValueText.text
      return try Output.write(found.map { line($0.reading.value) + "\n" }.joined())
    }
    let others = try readings(of: format.keys, in: bindings)
    func line(_ found: Found) -> String {
      format.text(ValueText.text) { part in
        switch part {
        case .key(let key): others[key].map { .value($0.reading.value) }
        case .name(let name): Self.part(name, found)
        }
      } + "\n"
    }
    // Without an operand, the parts with names are those of the first key in the format.
    if keys.isEmpty {
      guard let first = format.keys.compactMap({ others[$0] }).first else { throw isNil(format.keys[0], in: bindings) }
      found = [first]
    }
    try Output.write(found.map(line).joined())
  }

  private static func part(_ name: String, _ found: Found) -> FormatValue {
    let (value, origin) = (found.reading.value, found.reading.origin)
    return switch name {
    case "key": .text(found.key.text)
    case "value": .value(value)
    case "type": .text(value.type.description)
    case "field": .text(FieldID.id(origin.field))
    case "revision": .value(.uint64(origin.revision))
    default: .text(JSONWriter.document(value))
    }
  }

  /// What the keys that have a value are.
  private static func readings(
    of keys: [KeyArgument], in bindings: Bindings
  ) throws(CommandError) -> [KeyArgument: Found] {
    var readings: [KeyArgument: Found] = [:]
    for key in keys {
      do {
        readings[key] = try bindings.read(key)
      } catch {
        guard error.error?.name == Focus1.noSuchElement else { throw bindings.explained(error) }
      }
    }
    return readings
  }

  private static func required(_ key: KeyArgument, in bindings: Bindings) throws(CommandError) -> Found {
    let found: Found?
    do { found = try bindings.read(key) } catch { throw bindings.explained(error) }
    guard let found else { throw isNil(key, in: bindings) }
    return found
  }

  /// The end of a command because `key` is nil; only people are told what they may have meant.
  private static func isNil(_ key: KeyArgument, in bindings: Bindings) -> CommandError {
    guard isatty(STDERR_FILENO) != 0, let near = bindings.suggestion(for: key) else { return CommandError(.nothing) }
    return CommandError(.nothing, "'\(key.name)' is nil; did you mean '\(near)'?")
  }
}

extension Bindings {
  /// The error that ends the command because of `failure`.
  func explained(_ failure: ReadFailure) -> CommandError {
    daemon.explained(failure.command, failure.error, path)
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

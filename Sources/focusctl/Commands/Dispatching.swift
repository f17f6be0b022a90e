import DBus
import DBusTypes
import DaemonClient
import FocusContract
import Glibc

/// The commands that call or list the commands of fields.
enum Dispatching {
  static func run(_ call: Invocation) throws(CommandError) {
    let name = try command(call.operands[0])
    var bindings = try Bindings(try call.connect(), call.options)
    if call.options.previous, let field = try bindings.focusPath().field(with: name) {
      bindings = Bindings(bindings.daemon, field)
    }
    // Mostly, introspection tells all that is needed; it need not show what is disabled.
    let interfaces = try bindings.interfaces()
    var found = try name.resolved(among: methods(interfaces))
    var all: [String] = []
    if found == nil {
      all = try bindings.commands().map(\.key)
      found = try name.resolved(among: all)
    }
    guard let key = found, let command = try? Key(key.name) else {
      let near = Suggestion.key(near: name.name, among: all).map { "; did you mean '\($0)'?" } ?? ""
      throw CommandError(
        .nothing, "no such command '\(name.name)': \(bindings.whoCouldHave(call.options.previous))\(near)")
    }
    let texts = Array(call.operands.dropFirst())
    let arguments = try arguments(texts, of: command, methods(interfaces, command))
    let results = try bindings.daemon.ask(.command(command, arguments, at: bindings.path))
    if call.options.json {
      try Output.write("[" + results.map(JSONWriter.document).joined(separator: ",") + "]\n")
    } else {
      try Output.write(results.map { ValueText.text($0) + "\n" }.joined())
    }
  }

  static func commands(_ call: Invocation) throws(CommandError) {
    let bindings = try Bindings(try call.connect(), call.options)
    let found = try call.options.previous ? bindings.focusPath().commands : bindings.commands()
    var interfaces: [ObjectPath: [InterfaceDescription]] = [:]
    for path in Set(found.map(\.field)) { interfaces[path] = try Bindings(bindings.daemon, path).interfaces() }
    var rows: [[String]] = []
    for command in found {
      let method = (try? Key(command.key)).flatMap { methods(interfaces[command.field] ?? [], $0).first }
      let input = (method?.input ?? []).map(\.type.description).joined()
      let output = (method?.output ?? []).map(\.type.description).joined()
      if call.options.json {
        let members = [
          ("command", JSONWriter.string(command.key)), ("enabled", String(command.isEnabled)),
          ("arguments", JSONWriter.string(input)), ("results", JSONWriter.string(output)),
        ]
        try Output.write(JSONWriter.object(members) + "\n")
      } else {
        rows.append([command.key, command.isEnabled ? "enabled" : "disabled", input.isEmpty ? "-" : input])
      }
    }
    // For programs, print a line for each command and nothing else.
    let heads = isatty(STDOUT_FILENO) != 0 && !call.options.json ? [["COMMAND", "STATE", "ARGUMENTS"]] : []
    try Pager.show(Output.table(heads + rows), call.options)
  }

  private static func command(_ text: String) throws(CommandError) -> KeyArgument {
    let name = try KeyArgument(text)
    guard name.pointer.isEmpty else {
      throw .usage("'\(text.excerpt)' has a pointer, but commands take none: use '\(name.name)'")
    }
    return name
  }

  static func methods(_ interfaces: [InterfaceDescription], _ command: Key) -> [InterfaceDescription.Method] {
    interfaces.first { $0.name == command.interface }?.methods.filter { $0.name == command.member } ?? []
  }

  /// The whole names of all methods that are commands; one may have several forms.
  private static func methods(_ interfaces: [InterfaceDescription]) -> Set<String> {
    Set(interfaces.names { $0.methods.map(\.name) })
  }

  /// Parses `texts` as the command's arguments; if it has several forms, as those of the form with that many arguments.
  private static func arguments(
    _ texts: [String], of command: Key, _ methods: [InterfaceDescription.Method]
  ) throws(CommandError) -> [DBusValue] {
    guard let method = methods.first(where: { $0.input.count == texts.count }) else {
      let forms = methods.map { $0.input.isEmpty ? "no arguments" : $0.input.map(described).joined(separator: ", ") }
      let takes = forms.isEmpty ? "unknown arguments" : forms.joined(separator: " or ")
      throw .usage("'\(command)' takes \(takes), but \(texts.count) \(texts.count == 1 ? "was" : "were") given")
    }
    var values: [DBusValue] = []
    for (text, argument) in zip(texts, method.input) {
      do {
        values.append(try ValueText.read(text, as: argument.type))
      } catch {
        throw .usage("\(command), \(described(argument)): \(error)")
      }
    }
    return values
  }

  private static func described(_ argument: InterfaceDescription.Argument) -> String {
    argument.name.isEmpty ? "'\(argument.type)'" : "\(argument.name) '\(argument.type)'"
  }
}

extension Bindings {
  /// The reason why there is no such command here.
  fileprivate func whoCouldHave(_ withScene: Bool) -> String {
    if path == Focus1.focused {
      return "neither the focused field, its ancestors, its scene nor a session field has it"
    }
    let field = "the field '\(FieldID.id(path))'"
    return withScene ? "neither \(field), its ancestors nor its scene has it" : "\(field) does not have it"
  }

  /// The commands available here, ordered by name.
  func commands() throws(CommandError) -> [(key: String, isEnabled: Bool, field: ObjectPath)] {
    try daemon.ask(.commands(at: path)).map { ($0.key, $0.value, path) }.sorted { NaturalOrder.precedes($0.0, $1.0) }
  }
}

import DBus
import DBusTypes
import DaemonClient
import FocusContract

/// The candidates for the next word of a call, for shell completion: `focusctl __complete WORD… BEGUN`.
///
/// A candidate is a line: the whole word, a tab and its meaning.
struct Completion {
  /// The hidden command that prints the candidates.
  static let word = "__complete"

  typealias Candidate = (word: String, meaning: String)

  /// The word that is being typed.
  private let begun: String
  private let parsed: ParsedArguments
  /// The option whose argument is being typed.
  private let option: Option?
  private let isPastOptions: Bool

  /// The lines for `words`, the last of which is being typed and may be empty; empty if there are no candidates.
  static func text(of words: [String]) -> String {
    guard let completion = try? Completion(words) else { return "" }
    return completion.candidates.map { "\($0.word)\t\($0.meaning)\n" }.joined()
  }

  private init(_ words: [String]) throws(CommandError) {
    var before = Array(words.dropLast())
    var begun = words.last ?? ""
    var pending: Option?
    let isPastOptions = before.contains("--")
    if !isPastOptions, let last = before.last {
      pending = Option.all.first { $0.argument != nil && $0.isNamed(last) }
      if pending != nil { before.removeLast() }
    }
    // The candidates for `--field=te` are whole words.
    if !isPastOptions, begun.hasPrefix("--"), let equals = begun.firstIndex(of: "=") {
      pending = Option.all.first { $0.argument != nil && $0.isNamed(begun[..<equals]) }
      begun = String(begun[begun.index(after: equals)...])
    }
    self.begun = begun
    self.isPastOptions = isPastOptions
    option = pending
    parsed = try ArgumentParser.parse(before)
    prefix = words.last.map { String($0.dropLast(begun.count)) } ?? ""
  }

  /// The part of the word before `begun`.
  private let prefix: String

  private var candidates: [Candidate] {
    let found: [Candidate]
    if let option {
      found = arguments(of: option)
    } else if begun.hasPrefix("-"), !isPastOptions {
      found = options
    } else if let word = parsed.operands.first {
      found = CommandTable.commands.first { $0.name == word }.map(operands) ?? []
    } else {
      found = commandNames
    }
    // A shell shows both on its terminal; what others wrote must not act on that, nor break a line.
    return found.filter { $0.word.hasPrefix(begun) && Output.visible($0.word) == $0.word }
      .map { (prefix + $0.word, Output.visible(Output.oneLine($0.meaning))) }
  }

  private var commandNames: [Candidate] {
    CommandTable.commands.compactMap { command in command.name.map { ($0, command.summary) } }
  }

  private var options: [Candidate] {
    // Options may be before the command, which is not known then.
    let command = parsed.operands.first.flatMap { word in CommandTable.commands.first { $0.name == word } }
    return Option.all.filter { command?.takes($0) ?? true }.map { ("--\($0.name)", $0.summary(for: command?.name)) }
  }

  private func arguments(of option: Option) -> [Candidate] {
    switch option {
    case .field, .parent: ids
    case .scope:
      [
        ("field", "with focus in the field"), ("scene", "with focus anywhere in its scene"),
        ("session", "if nothing there has the interface"),
      ]
    case .active: typedKeys + wholeKeys.map { ($0.word + "=", $0.meaning) }
    case .readOnly: typedKeys.map { (String($0.word.dropLast()), $0.meaning) }
    case .live: wholeKeys
    default: []
    }
  }

  private func operands(of command: Command) -> [Candidate] {
    let kinds = command.operands.split(separator: " ")
    let index = parsed.operands.count - 1
    guard let kind = index < kinds.count ? kinds[index] : kinds.last.flatMap({ $0.contains("…") ? $0 : nil }) else {
      return []
    }
    switch kind.drop(while: { $0 == "[" }).prefix(while: { $0.isLetter }) {
    case "ID" where command.name == "activate": return ids(ofScope: "session")
    // These name a new field: what is there already is refused, and keys are whole.
    case "ID" where isNew: return []
    case "ID": return ids
    case "KEY" where kind.contains("="): return (isNew ? wholeKeys : keys).map { ($0.word + "=", $0.meaning) }
    case "KEY": return begun.contains("/") ? elements : keys
    case "COMMAND" where command.name == "help": return commandNames
    case "COMMAND": return commands
    case "EXPRESSION":
      return [
        ("+1", "add"), ("-1", "subtract"), ("toggle", "true and false"), ("append", "text, or an element"),
        ("next", "the value after this one, of those that follow"),
      ]
    case "ITEM": return items
    case "on": return [("on", "check it"), ("off", "uncheck it"), ("toggle", "check or uncheck it")]
    case "VALUE": return values
    default: return []
    }
  }

  /// Whether the command makes a field.
  private var isNew: Bool { ["register", "hold", "bind"].contains(parsed.operands.first) }

  private var daemon: DaemonConnection? {
    var options = parsed.options
    if options.timeout == nil { options.timeout = "2" }
    return try? Invocation(operands: [], options: options).connect()
  }

  /// The field whose keys the command changes, by the first operand.
  private var changedField: String? {
    ["publish", "withdraw"].contains(parsed.operands.first) ? parsed.operands.dropFirst().first : nil
  }

  private var bindings: Bindings? {
    var options = parsed.options
    if let changedField { options.field = changedField }
    return daemon.flatMap { try? Bindings($0, options) }
  }

  private var fields: [FieldInfo] { daemon.flatMap { try? FieldInfo.all($0) } ?? [] }

  private var ids: [Candidate] { fields.map { ($0.id, Output.escaped($0.label)) } }

  private func ids(ofScope scope: String) -> [Candidate] {
    fields.filter { $0.scope == scope }.map { ($0.id, Output.escaped($0.label)) }
  }

  /// The keys of `wholeKeys`; by their last part, or their last two, if the word begins so.
  private var keys: [Candidate] { whole(wholeKeys) }

  /// The keys that resolve, or if there are none, those of any field.
  private var wholeKeys: [Candidate] {
    let now = bindings.flatMap { try? $0.keys() } ?? []
    return now.isEmpty && changedField == nil
      ? fields.flatMap { field in field.values.map { ($0.key, field.id) } } : now.map { ($0, "key") }
  }

  /// The keys that the call gives values to.
  private var typedKeys: [Candidate] {
    parsed.operands.compactMap { try? KeyedValue($0) }.map { ("\($0.key)=", "key of this field") }
  }

  private var commands: [Candidate] {
    guard let bindings,
      let commands = try? parsed.options.previous ? bindings.focusPath().commands : bindings.commands()
    else { return [] }
    return whole(commands.map { ($0.key, $0.isEnabled ? "command" : "disabled") })
  }

  /// The items of the menus by their paths, or if none begins so, by their labels.
  private var items: [Candidate] {
    guard let daemon, let items = try? MenuField(daemon, parsed.options).items() else { return [] }
    let paths = items.map { ($0.shownPath, $0.isEnabled ? $0.accelerator : "disabled") }
    if paths.contains(where: { $0.0.hasPrefix(begun) }) { return paths }
    return items.map { (Output.escaped($0.label), $0.shownPath) }
  }

  private func whole(_ names: [Candidate]) -> [Candidate] {
    let names = Dictionary(names, uniquingKeysWith: { first, _ in first }).sorted {
      NaturalOrder.precedes($0.key, $1.key)
    }
    .map { ($0.key, $0.value) }
    if names.contains(where: { $0.0.hasPrefix(begun) }) { return names }
    return [1, 2].flatMap { length in
      names.map { ($0.0.split(separator: ".").suffix(length).joined(separator: "."), $0.0) }
    }
  }

  /// The elements of the value that the pointer names so far.
  private var elements: [Candidate] {
    guard let container = (try? KeyArgument(begun))?.container,
      let found = try? bindings?.read(container)
    else { return [] }
    let start = container.text + "/"
    func line(_ token: String, _ value: DBusValue) -> Candidate {
      (start + token, ValueText.line(value))
    }
    switch found.reading.value.lookedThrough {
    case .array(let array):
      return array.enumerated().map { line(String($0.offset), $0.element) } + [(start + "-", "append")]
    case .structure(let members): return members.enumerated().map { line(String($0.offset), $0.element) }
    case .dictionary(let dictionary):
      return dictionary.entries.map { entry in
        line(Pointer.escaped(entry.key.basicText ?? ""), entry.value)
      }
    default: return []
    }
  }

  private var values: [Candidate] {
    guard parsed.operands.count > 1, let key = try? KeyArgument(parsed.operands[1]),
      let value = try? bindings?.read(key)?.reading.value
    else { return [] }
    switch value.lookedThrough {
    case .boolean: return [("true", "boolean"), ("false", "boolean")]
    // It is taken as it is; what begins so would be taken for an option.
    case .string(let text): return text.hasPrefix("-") && !isPastOptions ? [] : [(text, "the current value")]
    default: return [(ValueText.line(value), "the current value")]
    }
  }
}

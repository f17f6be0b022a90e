/// The texts of `--help`.
enum Help {
  static var overview: String {
    """
    Read, write and watch the focused values of a desktop session.

    Applications register fields; one field holds focus. A key, such as
    demo.Form.Number, stands for the value that the focused field publishes under
    it, or else the nearest of the fields that contain it, or else a session field,
    such as a media player.

    Usage: \(Program.name) [OPTION…] [COMMAND] [OPERAND…]

    Commands ('\(Program.name) COMMAND --help' describes each):
    \(rows(CommandTable.commands.map { ($0.synopsis.isEmpty ? "(none)" : $0.synopsis, $0.summary) }))
    Options:
    \(rows(Option.all.map { ($0.synopsis, $0.summary()) }))
    The last part of a key, or its last two, is enough if only one key ends with it;
    Text.Content, Player.Volume and their like mean the key that all programs share.
    POINTER is a JSON Pointer into the value: demo.Todo.Items/2/done. Options may
    appear anywhere; '--' ends them, for operands that begin with '-' and are not
    numbers.

    Examples:
      \(Program.name) register text1 demo.Form.Number=1 --focus
      \(Program.name) get demo.Form.Number
      \(Program.name) set Number 8
      \(Program.name) update Number +5
      \(Program.name) watch Number

    \(exitStatuses)
    """
  }

  /// Prints the help of the command named `word`, or the overview.
  /// - Throws: `CommandError` if there is no such command.
  static func show(_ word: String?) throws(CommandError) {
    let text = word == nil ? overview : text(of: try CommandTable.command(named: word))
    try Output.write(fitted(text, Terminal.output.columns))
  }

  /// The help of one command.
  static func text(of command: Command) -> String {
    var sections = ["\(capitalized(command.summary)).", "Usage: \(command.usage)"]
    if !command.details.isEmpty { sections.append(command.details) }
    let options = command.allOptions
    sections.append("Options:\n" + rows(options.map { ($0.synopsis, $0.summary(for: command.name ?? "")) }).dropLast())
    return sections.joined(separator: "\n\n") + "\n\n" + exitStatuses
  }

  private static let exitStatuses = """
    Exit status: 0 success; 1 nil: the key resolves to nothing, or nothing has
    focus; 2 usage error; 3 no bus or no daemon; 4 refused; 5 conflict.

    """

  private static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

  /// Two columns; the second begins on the next line if the first is too wide, and wraps below itself.
  private static func rows(_ rows: [(String, String)]) -> String {
    let gutter = 26
    return rows.map { left, right in
      let lines = wrapped(right, width - gutter, then: width - gutter)
      let start =
        left.count <= gutter - 4 ? "  " + left + spaces(gutter - 2 - left.count) : "  \(left)\n" + spaces(gutter)
      return start + lines.joined(separator: "\n" + spaces(gutter)) + "\n"
    }.joined()
  }

  /// The width of the help if the terminal is wide enough.
  private static let width = 80

  private static func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

  /// `text` with its long lines wrapped for a terminal that is narrower than the help.
  static func fitted(_ text: String, _ columns: Int) -> String {
    guard columns < width else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      guard line.count > columns else { return String(line) }
      let indent = line.prefix { $0 == " " }.count
      let hanging = indent == 0 ? 0 : 4
      let words = line.split(separator: " ").joined(separator: " ")
      let lines = wrapped(words, columns - min(indent, hanging), then: columns - hanging)
      return spaces(min(indent, 4)) + lines.joined(separator: "\n" + spaces(hanging))
    }.joined(separator: "\n")
  }

  /// The words of `text` in lines of at most `first` columns, then `rest`; a longer word has a line of its own.
  private static func wrapped(_ text: String, _ first: Int, then rest: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, line.count + 1 + word.count > (lines.isEmpty ? first : rest) {
        lines.append(line)
        line = String(word)
      } else {
        line += line.isEmpty ? String(word) : " " + word
      }
    }
    return lines + [line]
  }
}

extension Option {
  /// The option as it is typed: `-h, --help`, `--field ID`.
  fileprivate var synopsis: String {
    (letter.map { "-\($0), " } ?? "") + "--\(name)" + (argument.map { " \($0)" } ?? "")
  }
}

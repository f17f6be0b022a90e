import Glibc

/// What standard output is, as far as its readers see it: so wide, so high, with colours or without.
struct Terminal: Hashable, Sendable {
  /// How many columns a line may have; without end where no terminal is.
  var columns = Int.max
  /// How many lines are seen at a time; without end where no terminal is.
  var rows = Int.max
  var isColoured = false

  /// A pipe or a file, which programs read.
  static let none = Terminal()

  var isTerminal: Bool { columns != .max }

  /// What standard output is now.
  static var output: Terminal {
    guard isatty(STDOUT_FILENO) != 0 else { return none }
    var size = winsize()
    _ = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size)
    return Terminal(
      columns: size.ws_col > 0 ? Int(size.ws_col) : number("COLUMNS") ?? 80,
      rows: size.ws_row > 0 ? Int(size.ws_row) : number("LINES") ?? 24,
      isColoured: (text("NO_COLOR") ?? "").isEmpty && text("TERM").map { $0 != "dumb" && !$0.isEmpty } ?? false)
  }

  private static func text(_ variable: String) -> String? { getenv(variable).map { String(cString: $0) } }

  private static func number(_ variable: String) -> Int? {
    text(variable).flatMap(Int.init).flatMap { $0 > 0 ? $0 : nil }
  }
}

/// How a piece of a line looks on a terminal with colours.
enum Style: String, Sendable {
  case plain = ""
  /// What has focus.
  case strong = "1"
  /// What is said beside the point, or cannot be done now.
  case faint = "2"

  /// `text` in this style, where `terminal` has any.
  func applied(to text: String, on terminal: Terminal) -> String {
    guard terminal.isColoured, self != .plain, !text.isEmpty else { return text }
    return "\u{1b}[\(rawValue)m\(text)\u{1b}[0m"
  }
}

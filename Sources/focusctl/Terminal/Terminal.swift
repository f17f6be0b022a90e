import EventLoop
import Glibc

/// The properties of standard output: its width, its height, and whether it has colours.
struct Terminal: Hashable, Sendable {
  /// The width in columns; unlimited if it is not a terminal.
  var columns = Int.max
  /// The height in lines; unlimited if it is not a terminal.
  var rows = Int.max
  var isColoured = false
  /// Whether it only appends lines: no cursor moves there, and a pager warns.
  var isDumb = false

  /// A pipe or a file, for programs.
  static let none = Terminal()

  var isTerminal: Bool { columns != .max }

  /// The current properties of standard output.
  static var output: Terminal {
    guard isatty(STDOUT_FILENO) != 0 else { return none }
    var size = winsize()
    _ = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size)
    let isDumb = Environment.value("TERM").map { $0 == "dumb" } ?? true
    return Terminal(
      columns: size.ws_col > 0 ? Int(size.ws_col) : number("COLUMNS") ?? 80,
      rows: size.ws_row > 0 ? Int(size.ws_row) : number("LINES") ?? 24,
      isColoured: Environment.value("NO_COLOR") == nil && !isDumb, isDumb: isDumb)
  }

  /// As large as `winsize` can say.
  private static func number(_ variable: String) -> Int? {
    Environment.value(variable).flatMap(UInt16.init).flatMap { $0 > 0 ? Int($0) : nil }
  }
}

/// The style of text on a terminal with colours.
enum Style: String, Sendable {
  case plain = ""
  /// Has focus.
  case strong = "1"
  /// Secondary or currently disabled.
  case faint = "2"

  /// `text` in this style, if `terminal` supports it.
  func applied(to text: String, on terminal: Terminal) -> String {
    guard terminal.isColoured, self != .plain, !text.isEmpty else { return text }
    return "\u{1b}[\(rawValue)m\(text)\u{1b}[0m"
  }
}

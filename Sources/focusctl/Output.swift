import Glibc
import ProgramSupport

/// Standard output and standard error, written at once and completely.
enum Output {
  /// Writes `text` to standard output.
  /// - Throws: `CommandError`: status 0, without a message, if the reader has closed the pipe.
  static func write(_ text: String) throws(CommandError) {
    let error = write(text, to: STDOUT_FILENO)
    guard error != 0 else { return }
    if error == EPIPE { throw CommandError(.done) }
    throw .refused("cannot write to standard output: \(String(cString: strerror(error)))")
  }

  /// Writes `text` to standard error, ignoring failures.
  static func writeError(_ text: String) { _ = write(text, to: STDERR_FILENO) }

  /// Writes all of `text` and returns 0, or the number of the error that prevented it.
  private static func write(_ text: String, to descriptor: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { StandardStreams.write($0, to: descriptor) }
  }

  /// Whether standard output is a terminal, which acts on control characters, whoever wrote them.
  static let isTerminal = isatty(STDOUT_FILENO) != 0

  /// Writes a message to standard error, as one line.
  static func say(_ message: String) {
    let line = oneLine(message)
    writeError("\(Program.name): \(isatty(STDERR_FILENO) != 0 ? visible(line) : line)\n")
  }

  /// A message with spaces in place of its line breaks.
  static func oneLine(_ message: String) -> String {
    message.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  /// The width of each column of `rows`.
  static func widths(_ rows: [[String]]) -> [Int] {
    var widths: [Int] = []
    for row in rows {
      for (column, cell) in row.enumerated() {
        let width = TextWidth.columns(of: cell)
        if column < widths.count { widths[column] = max(widths[column], width) } else { widths.append(width) }
      }
    }
    return widths
  }

  /// Lines of cells, each column as wide as its widest cell.
  static func table(_ rows: [[String]]) -> String {
    let widths = widths(rows)
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        line += cell
        guard column < row.count - 1 else { break }
        line += String(repeating: " ", count: widths[column] - TextWidth.columns(of: cell) + 2)
      }
      return line + "\n"
    }.joined()
  }
}

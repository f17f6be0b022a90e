import Glibc

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
    return text.withUTF8 { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let written = Glibc.write(descriptor, UnsafeBufferPointer(rebasing: rest).baseAddress, rest.count)
        if written >= 0 {
          rest = rest.dropFirst(written)
        } else if errno == EAGAIN {
          var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&wait, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return 0
    }
  }

  /// `text` with control characters and backslashes escaped, so that it stays within its line.
  static func escaped(_ text: String) -> String {
    // C2 is the first byte of the control characters U+0080 to U+009F, among others.
    let isSuspect = { (byte: UInt8) in byte < 0x20 || byte == 0x7f || byte == 0xc2 || byte == UInt8(ascii: "\\") }
    guard text.utf8.contains(where: isSuspect) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case _ where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value):
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
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

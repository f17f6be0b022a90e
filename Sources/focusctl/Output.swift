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

  /// Whether standard output is a terminal, which acts on control characters, whoever wrote them.
  static let isTerminal = isatty(STDOUT_FILENO) != 0

  /// Writes a message to standard error, as one line.
  static func say(_ message: String) {
    let line = oneLine(message)
    writeError("\(Program.name): \(isatty(STDERR_FILENO) != 0 ? visible(line) : line)\n")
  }

  /// `text` for standard output: as it is for a program, visible on a terminal.
  static func shown(_ text: String) -> String { isTerminal ? visible(text) : text }

  /// `text` with control and direction-changing characters escaped.
  static func visible(_ text: String) -> String { escaped(text, backslashes: false, directions: true) }

  /// `text` with control characters and backslashes escaped, so that it stays within its line; on a terminal, with
  /// direction-changing characters too.
  static func escaped(_ text: String) -> String { escaped(text, backslashes: true, directions: isTerminal) }

  private static func escaped(_ text: String, backslashes: Bool, directions: Bool) -> String {
    // C2 is the first byte of the control characters U+0080 to U+009F, D8 and E2 of those that change directions.
    let isSuspect = { (byte: UInt8) in
      byte < 0x20 || byte == 0x7f || byte == 0xc2 || byte == UInt8(ascii: "\\") || byte == 0xd8 || byte == 0xe2
    }
    guard text.utf8.contains(where: isSuspect) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += backslashes ? "\\\\" : "\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case _ where scalar.isControl || directions && scalar.changesDirection: result += numbered(scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The escape of JSON for `scalar`, which has at most four digits.
  private static func numbered(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// The text that `escaped` made `line` of; a backslash that begins no escape stands for itself.
  static func unescaped(_ line: Substring) -> String {
    guard line.utf8.contains(UInt8(ascii: "\\")) else { return String(line) }
    var result = ""
    var rest = line
    while let character = rest.popFirst() {
      guard character == "\\", let next = rest.first else {
        result.append(character)
        continue
      }
      switch next {
      case "\\", "n", "t", "r":
        result += ["\\": "\\", "n": "\n", "t": "\t", "r": "\r"][next] ?? ""
        rest.removeFirst()
      case "u":
        let digits = rest.dropFirst().prefix(4)
        guard digits.utf8.count == 4, let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) else {
          fallthrough
        }
        result.unicodeScalars.append(scalar)
        rest = rest.dropFirst(5)
      default: result += "\\"
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

extension Unicode.Scalar {
  fileprivate var isControl: Bool { value < 0x20 || (0x7f...0x9f).contains(value) }

  /// Whether it makes a terminal show the text after it in another order.
  fileprivate var changesDirection: Bool {
    switch value {
    case 0x61c, 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069: true
    default: false
    }
  }
}

/// Text that others wrote, for a terminal, which would obey it, and for a line, which it would break.
extension Output {
  /// `text` for standard output: as it is for a program, visible on a terminal.
  static func shown(_ text: String) -> String { isTerminal ? visible(text) : text }

  /// `text` with control, direction-changing and invisible characters escaped.
  static func visible(_ text: String) -> String { escaped(text, backslashes: false, .all) }

  /// `text` with control characters and backslashes escaped, so that it stays within its line; on a terminal, with all
  /// that `visible` escapes too.
  static func escaped(_ text: String) -> String { escaped(text, backslashes: true, isTerminal ? .all : .control) }

  /// `text` with backslashes, line breaks and tabs escaped, and nothing else but for a terminal: what reads lines need
  /// know no more than these three escapes.
  static func line(_ text: String) -> String { escaped(text, backslashes: true, isTerminal ? .all : .breaking) }

  /// Which characters are escaped.
  private enum Extent: Int, Comparable {
    /// Line breaks and tabs.
    case breaking
    /// All control characters.
    case control
    /// All that a terminal does not show as themselves.
    case all

    static func < (left: Extent, right: Extent) -> Bool { left.rawValue < right.rawValue }
  }

  private static func escaped(_ text: String, backslashes: Bool, _ extent: Extent) -> String {
    let isSuspect = { (byte: UInt8) in byte < 0x20 || byte == UInt8(ascii: "\\") || byte >= 0x7f }
    guard text.utf8.contains(where: isSuspect) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += backslashes ? "\\\\" : "\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r" where extent >= .control: result += "\\r"
      case _ where extent >= .control && scalar.isControl: result += numbered(scalar)
      case _ where extent == .all && scalar.isInvisible: result += numbered(scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The escape of JSON for `scalar`, which is two if it is beyond U+FFFF.
  static func numbered(_ scalar: Unicode.Scalar) -> String {
    UTF16.encode(scalar).map { units in
      units.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      }.joined()
    } ?? ""
  }

  /// The text that `escaped` made `line` of; a backslash that begins no escape stands for itself.
  static func unescaped(_ line: Substring) -> String {
    guard line.utf8.contains(UInt8(ascii: "\\")) else { return String(line) }
    var result = String.UnicodeScalarView()
    var rest = line.unicodeScalars
    while let scalar = rest.popFirst() {
      guard scalar == "\\", let next = rest.first else {
        result.append(scalar)
        continue
      }
      if let plain = plainEscapes[next] {
        result.append(plain)
        rest.removeFirst()
      } else if let (scalar, length) = numberedScalar(rest) {
        result.append(scalar)
        rest = rest.dropFirst(length)
      } else {
        result.append("\\")
      }
    }
    return String(result)
  }

  private static let plainEscapes: [Unicode.Scalar: Unicode.Scalar] = ["\\": "\\", "n": "\n", "t": "\t", "r": "\r"]

  /// The scalar whose escape `text` begins with, after its backslash, and the length of that.
  private static func numberedScalar(
    _ text: Substring.UnicodeScalarView
  ) -> (scalar: Unicode.Scalar, length: Int)? {
    func unit(_ text: Substring.UnicodeScalarView) -> UInt16? {
      let digits = text.dropFirst().prefix(4)
      guard text.first == "u", digits.count == 4, digits.allSatisfy(\.properties.isASCIIHexDigit) else { return nil }
      return UInt16(String(digits), radix: 16)
    }
    guard let first = unit(text) else { return nil }
    if let scalar = Unicode.Scalar(first) { return (scalar, 5) }
    let rest = text.dropFirst(5)
    guard UTF16.isLeadSurrogate(first), rest.first == "\\", let second = unit(rest.dropFirst()),
      UTF16.isTrailSurrogate(second)
    else { return nil }
    return (UTF16.decode(UTF16.EncodedScalar([first, second])), 11)
  }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool { value < 0x20 || (0x7f...0x9f).contains(value) }

  /// Whether it hides text, changes the order of the text after it, or ends a line for some programs, without being seen:
  /// Default_Ignorable_Code_Point (UAX #44) but for the joiners and variation selectors that scripts and emoji need, the
  /// separators of lines and paragraphs, and the marks of annotations.
  fileprivate var isInvisible: Bool {
    switch value {
    case 0x200c, 0x200d, 0xfe00...0xfe0f, 0xe0100...0xe01ef: false
    case 0x2028, 0x2029, 0xfff9...0xfffb: true
    default: properties.isDefaultIgnorableCodePoint
    }
  }
}

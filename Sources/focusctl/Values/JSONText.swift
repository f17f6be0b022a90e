import DBusTypes

/// A value in a JSON text, with its place there.
struct JSONNode: Sendable {
  enum Content: Sendable {
    case null
    case boolean(Bool)
    /// A number as it is written.
    case number(Substring)
    case string(String)
    case array([JSONNode])
    /// The members in the order of the text, each name once.
    case object([(name: String, value: JSONNode)])
  }

  let content: Content
  /// Where it begins, in bytes.
  let offset: Int
}

/// A place where a text is not JSON.
struct JSONSyntaxError: Error, Hashable, Sendable {
  /// What should be there.
  let expected: String
  /// Where, in bytes.
  let offset: Int
}

/// Reads a text as RFC 8259 has it: strict, and never deeper than D-Bus allows.
struct JSONParser {
  /// D-Bus nests 64 containers, and a variant is an object with two members here.
  private static let depthLimit = 160

  private let bytes: [UInt8]
  private var offset = 0
  private var depth = 0

  private init(_ text: String) { bytes = Array(text.utf8) }

  /// The one value that `text` holds.
  /// - Throws: `JSONSyntaxError` if it is not one.
  static func parse(_ text: String) throws(JSONSyntaxError) -> JSONNode {
    var parser = JSONParser(text)
    let node = try parser.value()
    parser.skipSpace()
    guard parser.offset == parser.bytes.count else { throw parser.error("nothing after the value") }
    return node
  }

  private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private func error(_ expected: String) -> JSONSyntaxError { JSONSyntaxError(expected: expected, offset: offset) }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { offset += 1 }
  }

  /// Takes `character` if it is next.
  private mutating func takes(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }

  private mutating func value() throws(JSONSyntaxError) -> JSONNode {
    skipSpace()
    let start = offset
    let content: JSONNode.Content
    switch next {
    case UInt8(ascii: "["): content = try nested { (parser) throws(JSONSyntaxError) in .array(try parser.elements()) }
    case UInt8(ascii: "{"): content = try nested { (parser) throws(JSONSyntaxError) in .object(try parser.members()) }
    case UInt8(ascii: "\""): content = .string(try string())
    case let byte? where byte == UInt8(ascii: "-") || isDigit(byte): content = .number(try number())
    default: content = try word()
    }
    return JSONNode(content: content, offset: start)
  }

  private mutating func nested(
    _ read: (inout JSONParser) throws(JSONSyntaxError) -> JSONNode.Content
  ) throws(JSONSyntaxError) -> JSONNode.Content {
    guard depth < Self.depthLimit else { throw error("at most \(Self.depthLimit) nested arrays and objects") }
    depth += 1
    offset += 1
    let content = try read(&self)
    depth -= 1
    return content
  }

  private mutating func elements() throws(JSONSyntaxError) -> [JSONNode] {
    var elements: [JSONNode] = []
    skipSpace()
    if takes("]") { return elements }
    while true {
      elements.append(try value())
      skipSpace()
      if takes("]") { return elements }
      guard takes(",") else { throw error("',' or ']'") }
    }
  }

  private mutating func members() throws(JSONSyntaxError) -> [(name: String, value: JSONNode)] {
    var members: [(name: String, value: JSONNode)] = []
    var names: Set<[UInt8]> = []
    skipSpace()
    if takes("}") { return members }
    while true {
      skipSpace()
      let start = offset
      guard next == UInt8(ascii: "\"") else { throw error("a name in quotation marks") }
      let name = try string()
      // Names are bytes: characters that look alike may be different ones.
      guard names.insert(Array(name.utf8)).inserted else {
        throw JSONSyntaxError(expected: "each name once, not '\(name.excerpt)' again,", offset: start)
      }
      skipSpace()
      guard takes(":") else { throw error("':'") }
      members.append((name, try value()))
      skipSpace()
      if takes("}") { return members }
      guard takes(",") else { throw error("',' or '}'") }
    }
  }

  private static let words: [(word: String, content: JSONNode.Content)] = [
    ("true", .boolean(true)), ("false", .boolean(false)), ("null", .null),
  ]

  private mutating func word() throws(JSONSyntaxError) -> JSONNode.Content {
    for (word, content) in Self.words where bytes[offset...].starts(with: word.utf8) {
      offset += word.utf8.count
      return content
    }
    throw error("a value")
  }

  private mutating func number() throws(JSONSyntaxError) -> Substring {
    let start = offset
    _ = takes("-")
    let leadsWithZero = next == UInt8(ascii: "0")
    let first = offset
    try digits()
    guard !leadsWithZero || offset == first + 1 else {
      throw JSONSyntaxError(expected: "a number without a zero at its start", offset: first)
    }
    if takes(".") { try digits() }
    if let letter = next, letter | 0x20 == UInt8(ascii: "e") {
      offset += 1
      if !takes("+") { _ = takes("-") }
      try digits()
    }
    return slice(start..<offset)
  }

  private mutating func digits() throws(JSONSyntaxError) {
    guard let byte = next, isDigit(byte) else { throw error("a digit") }
    while let byte = next, isDigit(byte) { offset += 1 }
  }

  private func slice(_ range: Range<Int>) -> Substring { Substring(String(decoding: bytes[range], as: UTF8.self)) }

  // MARK: Strings

  private mutating func string() throws(JSONSyntaxError) -> String {
    offset += 1
    var result: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        offset += 1
        return String(decoding: result, as: UTF8.self)
      case UInt8(ascii: "\\"): result += try escape()
      case ..<0x20: throw error("an escape such as \\n in place of a control character")
      default:
        result.append(byte)
        offset += 1
      }
    }
    throw error("'\"' at the end of a string")
  }

  private mutating func escape() throws(JSONSyntaxError) -> [UInt8] {
    let start = offset
    offset += 1
    let letter = next ?? 0
    offset += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [letter]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0c]
    case UInt8(ascii: "n"): return [0x0a]
    case UInt8(ascii: "r"): return [0x0d]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): return Array(String(Character(try scalar(start))).utf8)
    default:
      throw JSONSyntaxError(expected: "one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX", offset: start)
    }
  }

  /// The scalar of an escape, which has two for what is beyond U+FFFF.
  private mutating func scalar(_ start: Int) throws(JSONSyntaxError) -> Unicode.Scalar {
    let unpaired = JSONSyntaxError(expected: "both halves of a surrogate pair", offset: start)
    let first = try unit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard UTF16.isLeadSurrogate(first), takes("\\"), takes("u") else { throw unpaired }
    let second = try unit()
    guard UTF16.isTrailSurrogate(second) else { throw unpaired }
    return UTF16.decode(UTF16.EncodedScalar([first, second]))
  }

  private mutating func unit() throws(JSONSyntaxError) -> UInt16 {
    let digits = bytes[offset...].prefix(4)
    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw error("four hexadecimal digits") }
    offset += 4
    return unit
  }
}

/// A JSON Pointer (RFC 6901) to an element of a D-Bus value.
///
/// Steps are indices in arrays and structures and keys in dictionaries; variants are transparent. `-` is the element
/// after an array's last: writing it appends.
public struct Pointer: Hashable, Sendable, CustomStringConvertible {
  /// The unescaped steps from the whole value down to the element; empty for the whole value.
  public let tokens: [String]

  /// The maximum number of steps in a pointer's text: the depth of the deepest value in a message.
  public static let maximumSteps = ProtocolLimits.depth

  /// The pointer to the whole value.
  public static let whole = Pointer(tokens: [])

  /// The bytes of its steps.
  public var size: Int { tokens.reduce(0) { $0 + $1.utf8.count } }

  /// Creates a pointer from unescaped steps.
  public init(tokens: [String]) { self.tokens = tokens }

  /// Parses a pointer: empty for the whole value, else steps, each after a slash, with `~1` for `/` and `~0` for `~`.
  /// - Throws: `SyntaxError` if it begins otherwise, a `~` is followed by anything else, or there are more steps than
  ///   `maximumSteps`.
  public init(_ text: String) throws(SyntaxError) {
    func error(_ rule: String) -> SyntaxError { SyntaxError(expected: "JSON Pointer", text: text, rule: rule) }
    guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else {
      throw error("steps, each after a slash, such as /2/done")
    }
    // Split bytes: to Swift, a slash and a combining accent are one other character.
    let parts = text.utf8.split(
      separator: UInt8(ascii: "/"), maxSplits: Pointer.maximumSteps + 1, omittingEmptySubsequences: false)
    guard parts.count <= Pointer.maximumSteps + 1 else {
      throw error("at most \(Pointer.maximumSteps) steps, because no value is nested more deeply")
    }
    var tokens: [String] = []
    for part in parts.dropFirst() {
      guard let token = Pointer.unescaped(part) else {
        throw error("write '~0' for '~', and '~1' for '/' within a step")
      }
      tokens.append(token)
    }
    self.tokens = tokens
  }

  private static func unescaped(_ part: Substring.UTF8View) -> String? {
    let tilde = UInt8(ascii: "~")
    guard part.contains(tilde) else { return String(Substring(part)) }
    var token: [UInt8] = []
    var rest = part
    while let byte = rest.popFirst() {
      guard byte == tilde else {
        token.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "0"): token.append(tilde)
      case UInt8(ascii: "1"): token.append(UInt8(ascii: "/"))
      default: return nil
      }
    }
    return String(decoding: token, as: UTF8.self)
  }

  /// The pointer's text, escaped.
  public var description: String { tokens.map { "/" + Pointer.escaped($0) }.joined() }

  /// A token as a pointer's text has it: RFC 6901, section 3.
  package static func escaped(_ token: String) -> String {
    // By bytes: what is escaped is ASCII, and appending one view of scalars to another copies the whole each time.
    var text: [UInt8] = []
    for byte in token.utf8 {
      switch byte {
      case UInt8(ascii: "~"): text += "~0".utf8
      case UInt8(ascii: "/"): text += "~1".utf8
      default: text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The text for error messages, for which a peer's megabytes need not be escaped.
  var excerpt: String {
    Pointer(tokens: tokens.map { $0.utf8.count <= 300 ? $0 : String($0.unicodeScalars.prefix(300)) }).description
      .excerpt
  }
}

/// Why a pointer into a value cannot be followed or written.
public enum PointerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The value has no such element; `reason` describes the existing elements.
  case noSuchElement(Pointer, reason: String)
  /// The element is of another type than the value to write.
  case typeMismatch(Pointer, TypeMismatch)

  /// The whole error in one sentence.
  public var description: String {
    switch self {
    case .noSuchElement(let pointer, let reason): "there is no element '\(pointer.excerpt)': \(reason)"
    case .typeMismatch(let pointer, let mismatch):
      "the element '\(pointer.excerpt)' is of type '\(mismatch.expected)', but the given value is of type '\(mismatch.actual)'"
    }
  }
}

extension Pointer {
  /// An index as defined by RFC 6901: digits without leading zeros; nil if `token` is not an index.
  static func index(_ token: String) -> Int? {
    guard token.utf8.allSatisfy(isDigit), token == "0" || token.utf8.first != UInt8(ascii: "0") else { return nil }
    return Int(token)
  }

  /// The reason why `token` names none of the `count` elements of a container.
  static func indexReason(_ token: String, _ container: String, _ count: Int) -> String {
    count == 0
      ? "the \(container) is empty"
      : "the \(container) has the elements 0 to \(count - 1), and '\(token.excerpt)' is not one of them"
  }
}

/// The same for decoded values, by way of marshalled values.
extension DBusValue {
  /// The element at `pointer`; if it is in a variant, the variant's content.
  /// - Throws: `PointerError.noSuchElement`.
  public func element(at pointer: Pointer) throws(PointerError) -> DBusValue {
    guard !pointer.tokens.isEmpty else { return self }
    return try MarshalledValue(self).element(at: pointer).decoded(descriptors(of: self))
  }

  /// This value with the element at `pointer` replaced, appended or added, as by `MarshalledValue`.
  /// - Throws: `PointerError`.
  public func replacingElement(at pointer: Pointer, with value: DBusValue) throws(PointerError) -> DBusValue {
    try MarshalledValue(self).replacingElement(at: pointer, with: MarshalledValue(value))
      .decoded(descriptors(of: self))
  }

  /// The descriptors in `value`, by their index when it is marshalled.
  private func descriptors(of value: DBusValue) -> WireReader.Descriptors {
    guard value.holdsUnixFD else { return { _, _ in nil } }
    var writer = WireWriter()
    writer.append(value)
    let descriptors = writer.descriptors
    return { index, _ in index < descriptors.count ? descriptors[index] : nil }
  }

  /// The content of all nested variants.
  public var lookedThrough: DBusValue {
    var value = self
    while case .variant(let content) = value { value = content }
    return value
  }
}

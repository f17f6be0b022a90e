/// A JSON Pointer (RFC 6901) on D-Bus values: which element of a value is meant.
///
/// Arrays and structures go by index, dictionaries by key, variants are looked through. `-` is the element after an
/// array's last: writing it appends.
public struct Pointer: Hashable, Sendable, CustomStringConvertible {
  /// The steps from the whole value down to the element, unescaped; none for the whole.
  public let tokens: [String]

  /// The most steps that a pointer's text may have: the depth of the deepest value that a message carries.
  public static let maximumSteps = ProtocolLimits.depth

  /// The pointer to the whole value.
  public static let whole = Pointer(tokens: [])

  /// Creates a pointer of steps that are not escaped.
  public init(tokens: [String]) { self.tokens = tokens }

  /// Reads a pointer: nothing for the whole, else steps, each after a slash, with `~1` for `/` and `~0` for `~`.
  /// - Throws: `SyntaxError` where it begins otherwise, a `~` is followed by anything else, or there are more steps than
  ///   `maximumSteps`.
  public init(_ text: String) throws(SyntaxError) {
    func error(_ rule: String) -> SyntaxError { SyntaxError(expected: "JSON Pointer", text: text, rule: rule) }
    guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else {
      throw error("steps, each after a slash, such as /2/done")
    }
    // By bytes: to Swift a slash with an accent after it is another letter, and no slash.
    let parts = text.utf8.split(
      separator: UInt8(ascii: "/"), maxSplits: Pointer.maximumSteps + 1, omittingEmptySubsequences: false)
    guard parts.count <= Pointer.maximumSteps + 1 else {
      throw error("at most \(Pointer.maximumSteps) steps, since no value is nested deeper")
    }
    var tokens: [String] = []
    for part in parts.dropFirst() {
      guard let token = Pointer.unescaped(part) else {
        throw error("'~' is written '~0', and '/' within a step '~1'")
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
    var text = String.UnicodeScalarView()
    for scalar in token.unicodeScalars {
      switch scalar {
      case "~": text.append(contentsOf: "~0".unicodeScalars)
      case "/": text.append(contentsOf: "~1".unicodeScalars)
      default: text.append(scalar)
      }
    }
    return String(text)
  }
}

/// Why a pointer into a value cannot be followed or written.
public enum PointerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The value has no such element; `reason` says what there is instead.
  case noSuchElement(Pointer, reason: String)
  /// The element is of another type than the value that is to be written.
  case typeMismatch(Pointer, TypeMismatch)

  /// The whole error in one sentence.
  public var description: String {
    switch self {
    case .noSuchElement(let pointer, let reason): "there is no element '\(pointer)': \(reason)"
    case .typeMismatch(let pointer, let mismatch):
      "the element '\(pointer)' is of type '\(mismatch.expected)', and the value given is of type '\(mismatch.actual)'"
    }
  }
}

extension Pointer {
  /// An index as RFC 6901 writes it: digits without leading zeros; nil if `token` is not one.
  static func index(_ token: String) -> Int? {
    guard token.utf8.allSatisfy(isDigit), token == "0" || token.utf8.first != UInt8(ascii: "0") else { return nil }
    return Int(token)
  }

  /// Why `token` names none of the `count` elements of a container.
  static func indexReason(_ token: String, _ container: String, _ count: Int) -> String {
    count == 0
      ? "the \(container) is empty"
      : "the \(container) has the elements 0 to \(count - 1), and '\(token)' is not one of them"
  }
}

/// The same on decoded values, through the marshalled ones.
extension DBusValue {
  /// The element at `pointer`; if it lies in a variant, what that holds.
  /// - Throws: `PointerError.noSuchElement`.
  public func element(at pointer: Pointer) throws(PointerError) -> DBusValue {
    guard !pointer.tokens.isEmpty else { return self }
    return try MarshalledValue(self).element(at: pointer).decoded(descriptors(of: self))
  }

  /// This value with the element at `pointer` replaced, appended or added, as `MarshalledValue` does.
  /// - Throws: `PointerError`.
  public func replacingElement(at pointer: Pointer, with value: DBusValue) throws(PointerError) -> DBusValue {
    try MarshalledValue(self).replacingElement(at: pointer, with: MarshalledValue(value))
      .decoded(descriptors(of: self))
  }

  /// The descriptors that `value` holds, by the index that they have when it is marshalled.
  private func descriptors(of value: DBusValue) -> WireReader.Descriptors {
    guard value.holdsUnixFD else { return { _, _ in nil } }
    var writer = WireWriter()
    writer.append(value)
    let descriptors = writer.descriptors
    return { index, _ in index < descriptors.count ? descriptors[index] : nil }
  }

  /// What is below all variants around it.
  public var lookedThrough: DBusValue {
    var value = self
    while case .variant(let content) = value { value = content }
    return value
  }
}

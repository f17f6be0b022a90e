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
  public var description: String {
    var text = String.UnicodeScalarView()
    for token in tokens {
      text.append("/")
      for scalar in token.unicodeScalars {
        switch scalar {
        case "~": text.append(contentsOf: "~0".unicodeScalars)
        case "/": text.append(contentsOf: "~1".unicodeScalars)
        default: text.append(scalar)
        }
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

extension DBusValue {
  /// The element at `pointer`; where it lies in a variant, what that holds.
  /// - Throws: `PointerError.noSuchElement`.
  public func element(at pointer: Pointer) throws(PointerError) -> DBusValue {
    var element = self.lookedThrough
    for token in pointer.tokens {
      switch element.child(token) {
      case .found(_, let child): element = child.lookedThrough
      case .appended, .added: throw .noSuchElement(pointer, reason: "'\(token)' can be written, and is not there yet")
      case .missing(let reason): throw .noSuchElement(pointer, reason: reason)
      }
    }
    return pointer.tokens.isEmpty ? self : element
  }

  /// This value with the element at `pointer` replaced, appended or added; what is beside the way there is shared.
  ///
  /// In a variant, a value of the type that it holds replaces its content, and a variant replaces it whatever it holds.
  /// - Throws: `PointerError`.
  public func replacingElement(at pointer: Pointer, with value: DBusValue) throws(PointerError) -> DBusValue {
    try replacing(pointer.tokens[...], of: pointer, with: value)
  }

  /// What is below all variants around it.
  public var lookedThrough: DBusValue {
    var value = self
    while case .variant(let content) = value { value = content }
    return value
  }

  private enum Child {
    case found(index: Int, DBusValue)
    /// The place after an array's last element.
    case appended(DBusType)
    /// A key that the dictionary does not have yet.
    case added(key: DBusValue, DBusType)
    case missing(reason: String)
  }

  private func child(_ token: String) -> Child {
    switch self {
    case .array(let array):
      if token == "-" { return .appended(array.elementType) }
      guard let index = DBusValue.index(token), index < array.count else {
        return .missing(reason: DBusValue.indexReason(token, "array", array.count))
      }
      return .found(index: index, array[index])
    case .structure(let members):
      guard let index = DBusValue.index(token), index < members.count else {
        return .missing(reason: DBusValue.indexReason(token, "structure", members.count))
      }
      return .found(index: index, members[index])
    case .dictionary(let dictionary):
      if let index = dictionary.entries.firstIndex(where: { $0.key.reads(token) }) {
        return .found(index: index, dictionary.entries[index].value)
      }
      guard let key = try? DBusValue(text: token, of: dictionary.keyType), key.reads(token) else {
        return .missing(reason: "the dictionary's keys are of type '\(dictionary.keyType)', and '\(token)' is none")
      }
      return .added(key: key, dictionary.valueType)
    default:
      return .missing(reason: "a value of type '\(type)' has no elements")
    }
  }

  /// Whether the value's text is `token`, byte for byte: Swift takes a letter with an accent for the accented letter.
  private func reads(_ token: String) -> Bool { basicText?.hasSameBytes(as: token) == true }

  /// An index as RFC 6901 writes it: digits without leading zeros.
  private static func index(_ token: String) -> Int? {
    guard token.utf8.allSatisfy(isDigit), token == "0" || token.utf8.first != UInt8(ascii: "0") else { return nil }
    return Int(token)
  }

  private static func indexReason(_ token: String, _ container: String, _ count: Int) -> String {
    count == 0
      ? "the \(container) is empty"
      : "the \(container) has the elements 0 to \(count - 1), and '\(token)' is none of them"
  }

  private func replacing(
    _ tokens: ArraySlice<String>, of pointer: Pointer, with value: DBusValue
  ) throws(PointerError) -> DBusValue {
    if case .variant(let content) = self {
      if tokens.isEmpty, case .variant = value { return value }
      return .variant(try content.replacing(tokens, of: pointer, with: value))
    }
    guard let token = tokens.first else { return try value.fitting(type, pointer) }
    let rest = tokens.dropFirst()
    switch child(token) {
    case .found(let index, let child):
      return replacingChild(index, with: try child.replacing(rest, of: pointer, with: value))
    case .appended(let type) where rest.isEmpty:
      return appending(try value.fitting(type, pointer))
    case .added(let key, let type) where rest.isEmpty:
      return adding(key, try value.fitting(type, pointer))
    case .appended, .added:
      throw .noSuchElement(pointer, reason: "'\(token)' is not there yet, and so has no elements")
    case .missing(let reason):
      throw .noSuchElement(pointer, reason: reason)
    }
  }

  /// The value as it goes into a place of `type`: in a variant where the place is one.
  /// - Throws: `PointerError.typeMismatch`.
  private func fitting(_ type: DBusType, _ pointer: Pointer) throws(PointerError) -> DBusValue {
    let own = self.type
    if own == type { return self }
    if type == .variant { return .variant(self) }
    throw .typeMismatch(pointer, TypeMismatch(expected: type, actual: own))
  }

  private func replacingChild(_ index: Int, with child: DBusValue) -> DBusValue {
    switch self {
    case .array(let array): .array(array.replacing(index, with: child))
    case .structure(let members): .structure(members[..<index] + [child] + members[(index + 1)...])
    case .dictionary(let dictionary): .dictionary(dictionary.replacing(index, with: child))
    default: self
    }
  }

  private func appending(_ child: DBusValue) -> DBusValue {
    guard case .array(let array) = self else { return self }
    return .array(array.appending(child))
  }

  private func adding(_ key: DBusValue, _ child: DBusValue) -> DBusValue {
    guard case .dictionary(let dictionary) = self else { return self }
    let entries = dictionary.entries + [.init(key: key, value: child)]
    return .dictionary(DBusDictionary(known: dictionary.keyType, dictionary.valueType, entries))
  }
}

extension DBusDictionary {
  fileprivate func replacing(_ index: Int, with value: DBusValue) -> DBusDictionary {
    var entries = entries
    entries[index].value = value
    return DBusDictionary(known: keyType, valueType, entries)
  }
}

/// Any number of complete types, one after another: the types of a message's body or a method's arguments.
///
/// The D-Bus specification, section "Valid Signatures": at most 255 bytes, 32 arrays and 32 structures deep.
public struct Signature: DBusName {
  /// The signature's text.
  public let text: String
  /// The complete types that the signature lists.
  public let types: [DBusType]

  /// The empty signature.
  public static let empty = Signature(known: [])

  /// Creates a signature from `text`.
  /// - Throws: `SyntaxError` if the text breaks the rules of the specification.
  public init(_ text: String) throws(SyntaxError) {
    var parser = SignatureParser(text)
    self.types = try parser.parse()
    self.text = text
  }

  /// The signature that lists `types`.
  /// - Throws: `SyntaxError` if the types are nested more deeply, or their text is longer, than the specification allows,
  ///   a structure is empty, or a dictionary's key is not basic.
  public init(_ types: [DBusType]) throws(SyntaxError) {
    try self.init(types.map(\.description).joined())
  }

  package init(known types: [DBusType]) {
    self.types = types
    self.text = types.map(\.description).joined()
  }
}

extension DBusType {
  /// Creates a type from `signature`.
  /// - Throws: `SyntaxError` if it is not one single complete type.
  public init(_ signature: String) throws(SyntaxError) {
    let types = try Signature(signature).types
    guard let only = types.first, types.count == 1 else {
      throw SyntaxError(
        expected: "type", text: signature, rule: "one single complete type, such as 'i', 'as' or 'a{sv}'")
    }
    self = only
  }
}

extension DBusType {
  /// The length of the type's signature in bytes.
  package var signatureLength: Int {
    switch self {
    case .array(let element): 1 + element.signatureLength
    case .structure(let members): members.reduce(2) { $0 + $1.signatureLength }
    case .dictionary(let key, let value): 3 + key.signatureLength + value.signatureLength
    default: 1
    }
  }

  /// Whether `Signature` accepts the type's signature: applies the same rules without building the text.
  package var isValid: Bool {
    isBasic || (signatureLength <= SignatureParser.maximumLength && isValid(arrays: 0, structures: 0))
  }

  private func isValid(arrays: Int, structures: Int) -> Bool {
    guard arrays <= SignatureParser.maximumDepth, structures <= SignatureParser.maximumDepth else { return false }
    return switch self {
    case .array(let element): element.isValid(arrays: arrays + 1, structures: structures)
    case .structure(let members):
      !members.isEmpty && members.allSatisfy { $0.isValid(arrays: arrays, structures: structures + 1) }
    case .dictionary(let key, let value):
      key.isBasic && value.isValid(arrays: arrays + 1, structures: structures)
    default: true
    }
  }
}

/// Parses a signature from left to right.
private struct SignatureParser {
  fileprivate static let maximumLength = 255
  fileprivate static let maximumDepth = 32

  private let text: String
  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) {
    self.text = text
    self.bytes = Array(text.utf8.prefix(Self.maximumLength + 1))
  }

  mutating func parse() throws(SyntaxError) -> [DBusType] {
    guard bytes.count <= Self.maximumLength else { throw error("at most 255 bytes") }
    var types: [DBusType] = []
    while position < bytes.count { types.append(try type(arrays: 0, structures: 0)) }
    return types
  }

  private func error(_ rule: String) -> SyntaxError {
    SyntaxError(expected: "signature", text: text, rule: rule)
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func type(arrays: Int, structures: Int) throws(SyntaxError) -> DBusType {
    guard let code = next else { throw error("it ends where a type should follow") }
    position += 1
    if let basic = DBusType(basicCode: code) { return basic }
    switch code {
    case UInt8(ascii: "v"): return .variant
    case UInt8(ascii: "a"):
      guard arrays < Self.maximumDepth else { throw error("at most 32 nested arrays") }
      if next == UInt8(ascii: "{") { return try dictionary(arrays: arrays + 1, structures: structures) }
      return .array(try type(arrays: arrays + 1, structures: structures))
    case UInt8(ascii: "("):
      guard structures < Self.maximumDepth else { throw error("at most 32 nested structures") }
      return try structure(arrays: arrays, structures: structures + 1)
    default:
      throw error("one of 'ybnqiuxtdsoghv', an array 'a…', a structure '(…)' or a dictionary 'a{…}' at each place")
    }
  }

  private mutating func structure(arrays: Int, structures: Int) throws(SyntaxError) -> DBusType {
    var members: [DBusType] = []
    while next != UInt8(ascii: ")") { members.append(try type(arrays: arrays, structures: structures)) }
    position += 1
    guard !members.isEmpty else { throw error("a structure has at least one member") }
    return .structure(members)
  }

  private mutating func dictionary(arrays: Int, structures: Int) throws(SyntaxError) -> DBusType {
    position += 1
    let key = try type(arrays: arrays, structures: structures)
    guard key.isBasic else { throw error("a dictionary's key is of a basic type") }
    let value = try type(arrays: arrays, structures: structures)
    guard next == UInt8(ascii: "}") else { throw error("a dictionary has one key and one value: 'a{sv}'") }
    position += 1
    return .dictionary(key: key, value: value)
  }
}

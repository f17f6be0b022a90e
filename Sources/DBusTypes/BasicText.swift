/// The human-readable text form of basic values.
extension DBusValue {
  /// The value as plain text, or nil if it is an array, structure, dictionary, variant or file descriptor.
  ///
  /// `init(text:of:)` reads it back unchanged, except for the payload of a NaN.
  public var basicText: String? {
    switch self {
    case .byte(let value): String(value)
    case .boolean(let value): value ? "true" : "false"
    case .int16(let value): String(value)
    case .uint16(let value): String(value)
    case .int32(let value): String(value)
    case .uint32(let value): String(value)
    case .int64(let value): String(value)
    case .uint64(let value): String(value)
    case .double(let value): value.isNaN ? "nan" : value.description
    case .string(let value): value
    case .objectPath(let value): value.text
    case .signature(let value): value.text
    case .unixFD, .array, .structure, .dictionary, .variant: nil
    }
  }

  /// Reads a value of the basic type `type`.
  /// - Throws: `SyntaxError` if the text is not such a value, is out of the type's range, or the type is not basic.
  public init(text: String, of type: DBusType) throws(SyntaxError) {
    switch type {
    case .byte: self = .byte(try DBusValue.integer(text, "byte"))
    case .boolean: self = .boolean(try DBusValue.boolean(text))
    case .int16: self = .int16(try DBusValue.integer(text, "16-bit integer"))
    case .uint16: self = .uint16(try DBusValue.integer(text, "unsigned 16-bit integer"))
    case .int32: self = .int32(try DBusValue.integer(text, "32-bit integer"))
    case .uint32: self = .uint32(try DBusValue.integer(text, "unsigned 32-bit integer"))
    case .int64: self = .int64(try DBusValue.integer(text, "64-bit integer"))
    case .uint64: self = .uint64(try DBusValue.integer(text, "unsigned 64-bit integer"))
    case .double: self = .double(try DBusValue.double(text))
    case .string:
      guard !text.utf8.contains(0) else {
        throw SyntaxError(expected: "string", text: text, rule: "D-Bus strings cannot contain NUL")
      }
      self = .string(text)
    case .objectPath: self = .objectPath(try ObjectPath(text))
    case .signature: self = .signature(try Signature(text))
    case .unixFD, .array, .structure, .dictionary, .variant:
      throw SyntaxError(expected: "value of type '\(type)'", text: text, rule: "that type has no plain text form")
    }
  }

  private static func integer<I: FixedWidthInteger>(_ text: String, _ name: String) throws(SyntaxError) -> I {
    guard let value: I = NumberText.integer(text) else {
      throw SyntaxError(expected: name, text: text, rule: "a whole number from \(I.min) to \(I.max)")
    }
    return value
  }

  private static func double(_ text: String) throws(SyntaxError) -> Double {
    switch text {
    case "inf": return .infinity
    case "-inf": return -.infinity
    case "nan": return .nan
    default: break
    }
    // A number beyond the type's range is not infinity, which must be written by name.
    guard let value = NumberText.number(text) else {
      throw SyntaxError(expected: "number", text: text, rule: "digits, 'inf' or 'nan'")
    }
    return value
  }

  private static func boolean(_ text: String) throws(SyntaxError) -> Bool {
    switch text {
    case "true": true
    case "false": false
    default: throw SyntaxError(expected: "boolean", text: text, rule: "'true' or 'false'")
    }
  }
}

/// A single complete type of the D-Bus type system.
///
/// The D-Bus specification, section "Type System".
public enum DBusType: Hashable, Sendable {
  /// `y`, an unsigned byte.
  case byte
  /// `b`, true or false.
  case boolean
  /// `n`, a signed 16-bit integer.
  case int16
  /// `q`, an unsigned 16-bit integer.
  case uint16
  /// `i`, a signed 32-bit integer.
  case int32
  /// `u`, an unsigned 32-bit integer.
  case uint32
  /// `x`, a signed 64-bit integer.
  case int64
  /// `t`, an unsigned 64-bit integer.
  case uint64
  /// `d`, an IEEE 754 double.
  case double
  /// `s`, UTF-8 text without NUL.
  case string
  /// `o`, the path of an object.
  case objectPath
  /// `g`, a signature.
  case signature
  /// `h`, a file descriptor.
  case unixFD
  /// `v`, a value together with its type.
  case variant
  /// `aT`, any number of values of one type.
  indirect case array(DBusType)
  /// `(T…)`, one or more values of fixed types.
  indirect case structure([DBusType])
  /// `a{KV}`, values by keys of a basic type.
  indirect case dictionary(key: DBusType, value: DBusType)

  /// The type's signature.
  public var description: String {
    if isBasic { return String(Unicode.Scalar(code)) }
    var text = ""
    write(to: &text)
    return text
  }

  /// The signature of one dictionary entry, as libdbus requires it: `{sv}`.
  package static func entrySignature(_ key: DBusType, _ value: DBusType) -> String {
    var text = "{"
    key.write(to: &text)
    value.write(to: &text)
    text.append("}")
    return text
  }

  private func write(to text: inout String) {
    switch self {
    case .array(let element):
      text.append("a")
      element.write(to: &text)
    case .structure(let members):
      text.append("(")
      for member in members { member.write(to: &text) }
      text.append(")")
    case .dictionary(let key, let value):
      text.append("a")
      text.append(DBusType.entrySignature(key, value))
    default:
      text.unicodeScalars.append(Unicode.Scalar(code))
    }
  }

  /// The first byte of the type's signature: `a` for arrays and dictionaries, `(` for structures.
  package var code: UInt8 {
    switch self {
    case .byte: TypeCode.byte
    case .boolean: TypeCode.boolean
    case .int16: TypeCode.int16
    case .uint16: TypeCode.uint16
    case .int32: TypeCode.int32
    case .uint32: TypeCode.uint32
    case .int64: TypeCode.int64
    case .uint64: TypeCode.uint64
    case .double: TypeCode.double
    case .string: TypeCode.string
    case .objectPath: TypeCode.objectPath
    case .signature: TypeCode.signature
    case .unixFD: TypeCode.unixFD
    case .variant: TypeCode.variant
    case .array, .dictionary: TypeCode.array
    case .structure: TypeCode.structure
    }
  }

  /// The basic type for a signature's byte, or nil if the byte begins a container or is not a type.
  package init?(basicCode: UInt8) {
    switch basicCode {
    case TypeCode.byte: self = .byte
    case TypeCode.boolean: self = .boolean
    case TypeCode.int16: self = .int16
    case TypeCode.uint16: self = .uint16
    case TypeCode.int32: self = .int32
    case TypeCode.uint32: self = .uint32
    case TypeCode.int64: self = .int64
    case TypeCode.uint64: self = .uint64
    case TypeCode.double: self = .double
    case TypeCode.string: self = .string
    case TypeCode.objectPath: self = .objectPath
    case TypeCode.signature: self = .signature
    case TypeCode.unixFD: self = .unixFD
    default: return nil
    }
  }

  /// Whether the type is basic: not an array, structure, dictionary or variant.
  public var isBasic: Bool {
    switch self {
    case .array, .structure, .dictionary, .variant: false
    default: true
    }
  }

  /// The alignment of a marshalled value, in bytes.
  package var alignment: Int { TypeCode.alignment(code) }
}

extension DBusType: CustomStringConvertible {}

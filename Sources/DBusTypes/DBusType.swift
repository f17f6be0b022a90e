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
    case .byte: UInt8(ascii: "y")
    case .boolean: UInt8(ascii: "b")
    case .int16: UInt8(ascii: "n")
    case .uint16: UInt8(ascii: "q")
    case .int32: UInt8(ascii: "i")
    case .uint32: UInt8(ascii: "u")
    case .int64: UInt8(ascii: "x")
    case .uint64: UInt8(ascii: "t")
    case .double: UInt8(ascii: "d")
    case .string: UInt8(ascii: "s")
    case .objectPath: UInt8(ascii: "o")
    case .signature: UInt8(ascii: "g")
    case .unixFD: UInt8(ascii: "h")
    case .variant: UInt8(ascii: "v")
    case .array, .dictionary: UInt8(ascii: "a")
    case .structure: UInt8(ascii: "(")
    }
  }

  /// The basic type for a signature's byte, or nil if the byte begins a container or is not a type.
  package init?(basicCode: UInt8) {
    switch basicCode {
    case UInt8(ascii: "y"): self = .byte
    case UInt8(ascii: "b"): self = .boolean
    case UInt8(ascii: "n"): self = .int16
    case UInt8(ascii: "q"): self = .uint16
    case UInt8(ascii: "i"): self = .int32
    case UInt8(ascii: "u"): self = .uint32
    case UInt8(ascii: "x"): self = .int64
    case UInt8(ascii: "t"): self = .uint64
    case UInt8(ascii: "d"): self = .double
    case UInt8(ascii: "s"): self = .string
    case UInt8(ascii: "o"): self = .objectPath
    case UInt8(ascii: "g"): self = .signature
    case UInt8(ascii: "h"): self = .unixFD
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
  package var alignment: Int {
    switch self {
    case .byte, .signature, .variant: 1
    case .int16, .uint16: 2
    case .boolean, .int32, .uint32, .string, .objectPath, .unixFD, .array, .dictionary: 4
    case .int64, .uint64, .double, .structure: 8
    }
  }
}

extension DBusType: CustomStringConvertible {}

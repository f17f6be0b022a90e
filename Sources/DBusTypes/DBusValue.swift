/// A value of any D-Bus type.
///
/// Two values are equal if they have the same type and content. Doubles are compared bit for bit, so that NaN equals
/// itself and 0 differs from -0; dictionaries are compared regardless of the order of their entries.
public enum DBusValue: Sendable {
  /// `y`
  case byte(UInt8)
  /// `b`
  case boolean(Bool)
  /// `n`
  case int16(Int16)
  /// `q`
  case uint16(UInt16)
  /// `i`
  case int32(Int32)
  /// `u`
  case uint32(UInt32)
  /// `x`
  case int64(Int64)
  /// `t`
  case uint64(UInt64)
  /// `d`
  case double(Double)
  /// `s`: text without NUL; text with NUL is refused when the value is sent.
  case string(String)
  /// `o`
  case objectPath(ObjectPath)
  /// `g`
  case signature(Signature)
  /// `h`
  case unixFD(UnixFD)
  /// `aT`
  case array(DBusArray)
  /// `(T…)`: at least one member; an empty structure is refused when the value is sent.
  case structure([DBusValue])
  /// `a{KV}`
  case dictionary(DBusDictionary)
  /// `v`
  indirect case variant(DBusValue)

  /// The value's type.
  public var type: DBusType {
    switch self {
    case .byte: .byte
    case .boolean: .boolean
    case .int16: .int16
    case .uint16: .uint16
    case .int32: .int32
    case .uint32: .uint32
    case .int64: .int64
    case .uint64: .uint64
    case .double: .double
    case .string: .string
    case .objectPath: .objectPath
    case .signature: .signature
    case .unixFD: .unixFD
    case .array(let array): .array(array.elementType)
    case .structure(let members): .structure(members.map(\.type))
    case .dictionary(let dictionary): .dictionary(key: dictionary.keyType, value: dictionary.valueType)
    case .variant: .variant
    }
  }
}

extension DBusValue: Hashable {
  /// Compares type and content.
  public static func == (left: DBusValue, right: DBusValue) -> Bool {
    switch (left, right) {
    case (.byte(let a), .byte(let b)): a == b
    case (.boolean(let a), .boolean(let b)): a == b
    case (.int16(let a), .int16(let b)): a == b
    case (.uint16(let a), .uint16(let b)): a == b
    case (.int32(let a), .int32(let b)): a == b
    case (.uint32(let a), .uint32(let b)): a == b
    case (.int64(let a), .int64(let b)): a == b
    case (.uint64(let a), .uint64(let b)): a == b
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.objectPath(let a), .objectPath(let b)): a == b
    case (.signature(let a), .signature(let b)): a == b
    case (.unixFD(let a), .unixFD(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.structure(let a), .structure(let b)): a == b
    case (.dictionary(let a), .dictionary(let b)): a == b
    case (.variant(let a), .variant(let b)): a == b
    default: false
    }
  }

  /// Feeds type and content into `hasher`.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .byte(let value): Self.combine("y", value, &hasher)
    case .boolean(let value): Self.combine("b", value, &hasher)
    case .int16(let value): Self.combine("n", value, &hasher)
    case .uint16(let value): Self.combine("q", value, &hasher)
    case .int32(let value): Self.combine("i", value, &hasher)
    case .uint32(let value): Self.combine("u", value, &hasher)
    case .int64(let value): Self.combine("x", value, &hasher)
    case .uint64(let value): Self.combine("t", value, &hasher)
    case .double(let value): Self.combine("d", value.bitPattern, &hasher)
    // Swift's own hash treats canonically equivalent texts as equal, D-Bus does not.
    case .string(let value): Self.combine("s", Array(value.utf8), &hasher)
    case .objectPath(let value): Self.combine("o", value, &hasher)
    case .signature(let value): Self.combine("g", value.text, &hasher)
    case .unixFD(let value): Self.combine("h", value, &hasher)
    case .array(let value): Self.combine("a", value, &hasher)
    case .structure(let value): Self.combine("(", value, &hasher)
    case .dictionary(let value): Self.combine("{", value, &hasher)
    case .variant(let value): Self.combine("v", value, &hasher)
    }
  }

  private static func combine(_ kind: Unicode.Scalar, _ content: some Hashable, _ hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(content)
  }
}

extension DBusType {
  /// `a{sv}`: names and values.
  package static let properties = DBusType.dictionary(key: .string, value: .variant)
}

extension DBusValue {
  /// A dictionary of type `a{sv}`, in the order given.
  public static func properties(_ entries: [(name: String, value: DBusValue)]) -> DBusValue {
    .dictionary(
      DBusDictionary(
        known: .string, .variant, entries.map { .init(key: .string($0.name), value: .variant($0.value)) }))
  }

  /// An array of type `as`.
  public static func strings(_ strings: [String]) -> DBusValue {
    .array(DBusArray(known: .string, strings.map { .string($0) }))
  }

  /// An array of type `ao`.
  public static func objectPaths(_ paths: [ObjectPath]) -> DBusValue {
    .array(DBusArray(known: .objectPath, paths.map { .objectPath($0) }))
  }

  /// An array of type `av`.
  public static func variants(_ values: [DBusValue]) -> DBusValue {
    .array(DBusArray(known: .variant, values.map { .variant($0) }))
  }
}

extension DBusValue {
  /// What a variant holds, or nil for a value that is not a variant.
  public var variantContent: DBusValue? {
    guard case .variant(let content) = self else { return nil }
    return content
  }
}

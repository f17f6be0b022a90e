/// Integers of every D-Bus type as one type, wide enough for all of them and for one operation on two.
extension DBusValue {
  /// The value, if it has an integer type.
  package var integer: Int128? {
    switch self {
    case .byte(let value): Int128(value)
    case .int16(let value): Int128(value)
    case .uint16(let value): Int128(value)
    case .int32(let value): Int128(value)
    case .uint32(let value): Int128(value)
    case .int64(let value): Int128(value)
    case .uint64(let value): Int128(value)
    default: nil
    }
  }

  /// `integer` as a value of the integer type `type`, or nil if it is out of that type's range.
  package init?(_ integer: Int128, of type: DBusType) {
    let value: DBusValue? =
      switch type {
      case .byte: UInt8(exactly: integer).map { .byte($0) }
      case .int16: Int16(exactly: integer).map { .int16($0) }
      case .uint16: UInt16(exactly: integer).map { .uint16($0) }
      case .int32: Int32(exactly: integer).map { .int32($0) }
      case .uint32: UInt32(exactly: integer).map { .uint32($0) }
      case .int64: Int64(exactly: integer).map { .int64($0) }
      case .uint64: UInt64(exactly: integer).map { .uint64($0) }
      default: nil
      }
    guard let value else { return nil }
    self = value
  }
}

extension DBusValue {
  /// The integer that the value is exactly, also as a double; -0.0 and NaN are no integers.
  package var exactInteger: Int128? {
    guard case .double(let number) = self else { return integer }
    // Swift takes -0.0 for 0.
    return number == 0 && number.sign == .minus ? nil : Int128(exactly: number)
  }

  /// The number that the value is exactly, as a double; 2^53 + 1 is no double.
  package var exactDouble: Double? {
    if case .double(let number) = self { number } else { integer.flatMap { Double(exactly: $0) } }
  }

  /// The same number as a value of `type`, if that holds exactly it; nil otherwise, and if one of the types is no number's.
  package func number(of type: DBusType) -> DBusValue? {
    type == .double ? exactDouble.map(DBusValue.double) : exactInteger.flatMap { DBusValue($0, of: type) }
  }
}

extension DBusType {
  /// Whether it is an integer's type or `d`.
  package var isNumber: Bool { integerRange != nil || self == .double }

  /// The range of an integer type.
  package var integerRange: ClosedRange<Int128>? {
    switch self {
    case .byte: 0...Int128(UInt8.max)
    case .int16: Int128(Int16.min)...Int128(Int16.max)
    case .uint16: 0...Int128(UInt16.max)
    case .int32: Int128(Int32.min)...Int128(Int32.max)
    case .uint32: 0...Int128(UInt32.max)
    case .int64: Int128(Int64.min)...Int128(Int64.max)
    case .uint64: 0...Int128(UInt64.max)
    default: nil
    }
  }
}

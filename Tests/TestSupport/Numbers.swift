package import DBusTypes

extension DBusValue {
  /// The same number as a value of `type`, found by way of integers that hold all of them; nil if none of them is that number.
  package func sameNumber(as type: DBusType) -> DBusValue? {
    guard self.type != type, let number else { return self.type == type ? self : nil }
    func fits(_ bits: Int, signed: Bool) -> Bool {
      let size = Int128(1) << bits
      return (signed ? -size / 2 : 0)...(signed ? size / 2 - 1 : size - 1) ~= number
    }
    return switch type {
    case .byte: fits(8, signed: false) ? .byte(UInt8(number)) : nil
    case .int16: fits(16, signed: true) ? .int16(Int16(number)) : nil
    case .uint16: fits(16, signed: false) ? .uint16(UInt16(number)) : nil
    case .int32: fits(32, signed: true) ? .int32(Int32(number)) : nil
    case .uint32: fits(32, signed: false) ? .uint32(UInt32(number)) : nil
    case .int64: fits(64, signed: true) ? .int64(Int64(number)) : nil
    case .uint64: fits(64, signed: false) ? .uint64(UInt64(number)) : nil
    case .double: Int128(Double(number)) == number ? .double(Double(number)) : nil
    default: nil
    }
  }

  /// The integer that the value is.
  private var number: Int128? {
    switch self {
    case .byte(let number): return Int128(number)
    case .int16(let number): return Int128(number)
    case .uint16(let number): return Int128(number)
    case .int32(let number): return Int128(number)
    case .uint32(let number): return Int128(number)
    case .int64(let number): return Int128(number)
    case .uint64(let number): return Int128(number)
    case .double(let number):
      guard number.bitPattern != (-0.0).bitPattern, abs(number) < 0x1p65, number.rounded() == number else { return nil }
      return Int128(number)
    default: return nil
    }
  }
}

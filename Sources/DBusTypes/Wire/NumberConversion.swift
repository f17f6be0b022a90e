extension MarshalledValue {
  /// The same number as a value of `type`, if that holds exactly it; nil otherwise, and if one of the types is no number's.
  ///
  /// -0.0 and NaN are no integers, and 2^53 + 1 is no double.
  public func converted(to type: DBusType) -> MarshalledValue? {
    guard !hasSignature(of: type) else { return self }
    // A large value is not decoded in vain.
    guard storage[1] == 1, type.isBasic else { return nil }
    let number =
      switch value {
      case .byte(let number): type.value(exactly: number)
      case .int16(let number): type.value(exactly: number)
      case .uint16(let number): type.value(exactly: number)
      case .int32(let number): type.value(exactly: number)
      case .uint32(let number): type.value(exactly: number)
      case .int64(let number): type.value(exactly: number)
      case .uint64(let number): type.value(exactly: number)
      case .double(let number): type.value(exactly: number)
      default: DBusValue?.none
      }
    return number.map { MarshalledValue($0) }
  }

  private func hasSignature(of type: DBusType) -> Bool {
    withParts { signature, _ in signature.elementsEqual(type.description.utf8) }
  }
}

extension DBusType {
  /// `number` as a value of this type; nil if the type does not hold exactly it.
  fileprivate func value(exactly number: some FixedWidthInteger) -> DBusValue? {
    switch self {
    case .byte: UInt8(exactly: number).map(DBusValue.byte)
    case .int16: Int16(exactly: number).map(DBusValue.int16)
    case .uint16: UInt16(exactly: number).map(DBusValue.uint16)
    case .int32: Int32(exactly: number).map(DBusValue.int32)
    case .uint32: UInt32(exactly: number).map(DBusValue.uint32)
    case .int64: Int64(exactly: number).map(DBusValue.int64)
    case .uint64: UInt64(exactly: number).map(DBusValue.uint64)
    case .double: Double(exactly: number).map(DBusValue.double)
    default: nil
    }
  }

  /// `number` as a value of this type, an integer's.
  fileprivate func value(exactly number: Double) -> DBusValue? {
    // Swift takes -0.0 for 0.
    guard number != 0 || number.sign == .plus else { return nil }
    if let integer = Int64(exactly: number) { return value(exactly: integer) }
    return UInt64(exactly: number).flatMap { value(exactly: $0) }
  }
}

internal import DBus
internal import DBusTypes

/// Values as they lie in the journal: as they are in memory, or as version 0.1 kept them.
enum KeptValue {
  /// Reads what was kept.
  /// - Throws: `WireError`, or `SavedStateDamaged`, if it is no value.
  static func read(_ bytes: [UInt8]) throws -> MarshalledValue {
    guard let first = bytes.first else { throw damaged }
    // Version 0.1 began with a type's code, or with a message's first letter.
    if first <= 8 { return try MarshalledValue(checking: bytes) }
    return try MarshalledValue(version1(bytes, first))
  }

  private static let damaged = SavedStateDamaged(description: "a value is not valid")

  /// A basic value as its type's code and its content, any other as a reply that carries it in a variant: a message begins
  /// with `l` or `B`, which are no types' codes.
  private static func version1(_ bytes: [UInt8], _ first: UInt8) throws -> DBusValue {
    if let type = DBusType(basicCode: first) {
      guard let value = basic(type, bytes.dropFirst()) else { throw damaged }
      return value
    }
    let message = try bytes.withUnsafeBufferPointer { bytes throws(DBusError) in
      try Message(demarshalling: bytes)
    }
    guard case .variant(let value)? = try message.arguments().first else { throw damaged }
    return value
  }

  private static func basic(_ type: DBusType, _ bytes: ArraySlice<UInt8>) -> DBusValue? {
    func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
      guard bytes.count == MemoryLayout<Number>.size else { return nil }
      return bytes.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }
    func text() -> String? {
      guard bytes.last == 0, let text = String(validating: bytes.dropLast(), as: UTF8.self) else { return nil }
      return text.holdsNUL ? nil : text
    }
    return switch type {
    case .byte: number().map(DBusValue.byte)
    case .boolean: number(UInt8.self).flatMap { $0 > 1 ? nil : .boolean($0 == 1) }
    case .int16: number().map(DBusValue.int16)
    case .uint16: number().map(DBusValue.uint16)
    case .int32: number().map(DBusValue.int32)
    case .uint32: number().map(DBusValue.uint32)
    case .int64: number().map(DBusValue.int64)
    case .uint64: number().map(DBusValue.uint64)
    case .double: number().map { .double(Double(bitPattern: $0)) }
    case .string: text().map(DBusValue.string)
    case .objectPath: text().flatMap { try? ObjectPath($0) }.map(DBusValue.objectPath)
    case .signature: text().flatMap { try? Signature($0) }.map(DBusValue.signature)
    case .unixFD, .array, .structure, .dictionary, .variant: nil
    }
  }
}

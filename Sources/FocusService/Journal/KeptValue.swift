internal import DBus
internal import DBusTypes

/// Values as they lie in the journal: as they are in memory, or as version 0.1 kept them.
enum KeptValue {
  /// Reads what was kept.
  /// - Throws: `WireError`, or `SavedStateDamaged`, if it is no value.
  static func read(_ bytes: [UInt8]) throws -> MarshalledValue {
    guard let first = bytes.first else { throw damaged }
    // Version 0.1 began with a basic type's code; any other value it kept as a reply that carries it in a variant, which
    // begins with `l` or `B`: these are no types' codes.
    if first <= 8 { return try MarshalledValue(checking: bytes) }
    if let type = DBusType(basicCode: first) { return try basic(type, first, bytes.dropFirst()) }
    let message = try bytes.withUnsafeBufferPointer { bytes throws(DBusError) in
      try Message(demarshalling: bytes)
    }
    guard case .variant(let value)? = try message.arguments().first else { throw damaged }
    return MarshalledValue(value)
  }

  private static let damaged = SavedStateDamaged(description: "a value is not valid")

  /// What version 0.1 kept after a basic type's code: a number in as many bytes as it has, or a text and a NUL.
  private static func basic(_ type: DBusType, _ code: UInt8, _ kept: ArraySlice<UInt8>) throws -> MarshalledValue {
    let length = UInt32(truncatingIfNeeded: kept.count - 1)
    var storage: [UInt8] = [UInt8(type.alignment), 1, code, 0, 0, 0, 0, 0]
    switch type {
    case .string, .objectPath: storage += withUnsafeBytes(of: length) { Array($0) } + kept
    case .signature: storage += [UInt8(truncatingIfNeeded: length)] + kept
    case .boolean: storage += kept + [0, 0, 0]
    default: storage += kept
    }
    return try MarshalledValue(checking: storage)
  }
}

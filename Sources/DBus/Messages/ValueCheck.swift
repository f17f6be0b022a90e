package import DBusTypes

/// Whether values can be sent: a value that would make a bus close the connection is refused.
package enum ValueCheck {
  /// Checks that all values can be carried by one message.
  /// - Throws: `DBusError`: `InvalidArgs` for a value that no message can carry (NUL in a text, an array with elements of
  ///   another type), `LimitsExceeded` past the protocol's depth, signature length or number of descriptors.
  package static func check(_ values: [DBusValue]) throws(DBusError) {
    for value in values { try check(value, as: value.type) }
    let signature = values.reduce(0) { $0 + $1.type.signatureLength }
    guard signature <= 255 else { throw MessageBody.longSignature(signature) }
  }

  private static func check(_ value: DBusValue, as type: DBusType, depth: Int = 0) throws(DBusError) {
    // An array counts also if it is empty: other libraries go by its type.
    guard depth + type.ownDepth <= ProtocolLimits.sendableDepth else {
      throw DBusError(.limitsExceeded, "the value is nested more than \(ProtocolLimits.sendableDepth) deep")
    }
    if depth == 0 || type == .variant { try checkSignature(value, type) }
    switch (value, type) {
    case (.string(let text), .string):
      guard !text.holdsNUL else {
        throw DBusError(.invalidArgs, "D-Bus strings cannot contain NUL, but one of \(text.utf8.count) bytes does")
      }
    case (.array(let array), .array(let element)):
      guard array.elementType == element else { throw mismatch(value, type) }
      guard array.bytes == nil else { return }
      for item in array { try check(item, as: element, depth: depth + 1) }
    case (.structure(let members), .structure(let types)):
      guard members.count == types.count else { throw mismatch(value, type) }
      for (member, type) in zip(members, types) { try check(member, as: type, depth: depth + 1) }
    case (.dictionary(let dictionary), .dictionary(let keyType, let valueType)):
      guard dictionary.keyType == keyType, dictionary.valueType == valueType else { throw mismatch(value, type) }
      for entry in dictionary.entries {
        try check(entry.key, as: keyType, depth: depth + 2)
        try check(entry.value, as: valueType, depth: depth + 2)
      }
    case (.variant(let inner), .variant):
      try check(inner, as: inner.type, depth: depth + 1)
    default:
      guard value.type == type else { throw mismatch(value, type) }
    }
  }

  private static func checkSignature(_ value: DBusValue, _ type: DBusType) throws(DBusError) {
    let outer = type == .variant ? value.variantContent?.type ?? type : type
    guard !outer.isValid else { return }
    do { _ = try Signature([outer]) } catch { throw DBusError(error) }
  }

  private static func mismatch(_ value: DBusValue, _ type: DBusType) -> DBusError {
    DBusError(.invalidArgs, TypeMismatch(expected: type, actual: value.type).description)
  }
}

extension DBusType {
  /// How many containers a value of this type is at least.
  fileprivate var ownDepth: Int {
    switch self {
    case .dictionary: 2
    case .array, .structure, .variant: 1
    default: 0
    }
  }
}

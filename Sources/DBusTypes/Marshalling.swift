/// The limits of the protocol: the D-Bus specification, sections "Marshaling" and "Message Protocol".
public enum ProtocolLimits {
  /// The marshalled elements of an array, in bytes.
  public static let arraySize = 64 << 20
  /// The nesting of containers in a message's body, including variants.
  public static let depth = 64
  /// The nesting that every bus accepts: dbus-broker closes the connection of a client that sends 64.
  public static let sendableDepth = 63
}

extension DBusValue {
  /// Whether the value contains a file descriptor.
  public var holdsUnixFD: Bool {
    switch self {
    case .unixFD: true
    case .array(let array): array.elementType.mayHoldUnixFD && array.contains(where: \.holdsUnixFD)
    case .structure(let members): members.contains(where: \.holdsUnixFD)
    case .dictionary(let dictionary):
      (dictionary.keyType == .unixFD && !dictionary.entries.isEmpty)
        || (dictionary.valueType.mayHoldUnixFD && dictionary.entries.contains(where: \.value.holdsUnixFD))
    case .variant(let value): value.holdsUnixFD
    default: false
    }
  }
}

extension DBusType {
  /// Whether a value of this type can contain a file descriptor.
  package var mayHoldUnixFD: Bool {
    switch self {
    case .unixFD, .variant: true
    case .array(let element): element.mayHoldUnixFD
    case .structure(let members): members.contains(where: \.mayHoldUnixFD)
    case .dictionary(let key, let value): key == .unixFD || value.mayHoldUnixFD
    default: false
    }
  }
}

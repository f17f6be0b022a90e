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
  /// The size in bytes of the value marshalled by itself, from an aligned start.
  public var marshalledSize: Int { marshalledEnd(from: 0) }

  /// The nesting of containers: 0 for a basic value, 1 for an array of basic values.
  public var depth: Int {
    switch self {
    case .array(let array):
      return 1 + (array.elementType.isBasic ? 0 : array.lazy.map(\.depth).max() ?? 0)
    case .structure(let members):
      return 1 + (members.lazy.map(\.depth).max() ?? 0)
    case .dictionary(let dictionary):
      return 2 + (dictionary.valueType.isBasic ? 0 : dictionary.entries.lazy.map(\.value.depth).max() ?? 0)
    case .variant(let value):
      return 1 + value.depth
    default:
      return 0
    }
  }

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

  /// The end of the value if it is marshalled at `offset`, including the padding before it.
  package func marshalledEnd(from offset: Int) -> Int {
    switch self {
    case .string(let text): return stringEnd(text, from: offset)
    case .objectPath(let path): return stringEnd(path.text, from: offset)
    case .signature(let signature): return offset + signature.text.utf8.count + 2
    case .array(let array):
      let start = align(align(offset, 4) + 4, array.elementType.alignment)
      if let fixed = array.elementType.fixedSize { return start + fixed * array.count }
      return array.reduce(start) { $1.marshalledEnd(from: $0) }
    case .structure(let members):
      return members.reduce(align(offset, 8)) { $1.marshalledEnd(from: $0) }
    case .dictionary(let dictionary):
      let start = align(align(offset, 4) + 4, 8)
      return dictionary.entries.reduce(start) { end, entry in
        entry.value.marshalledEnd(from: entry.key.marshalledEnd(from: align(end, 8)))
      }
    case .variant(let value):
      return value.marshalledEnd(from: offset + value.type.description.utf8.count + 2)
    default:
      let size = type.fixedSize ?? 0
      return align(offset, size) + size
    }
  }
}

extension DBusType {
  /// The marshalled size of every value of this type in bytes, which is also its alignment, or nil if sizes differ.
  package var fixedSize: Int? {
    switch self {
    case .byte, .int16, .uint16, .boolean, .int32, .uint32, .unixFD, .int64, .uint64, .double: alignment
    default: nil
    }
  }

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

private func align(_ offset: Int, _ alignment: Int) -> Int { (offset + alignment - 1) / alignment * alignment }

private func stringEnd(_ text: String, from offset: Int) -> Int { align(offset, 4) + 4 + text.utf8.count + 1 }

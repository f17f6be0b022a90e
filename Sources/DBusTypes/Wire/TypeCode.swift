/// The bytes of a signature, and how values of each type are marshalled.
///
/// The D-Bus specification, sections "Type System" and "Marshaling (Wire Format)".
enum TypeCode {
  static let byte = UInt8(ascii: "y")
  static let boolean = UInt8(ascii: "b")
  static let int16 = UInt8(ascii: "n")
  static let uint16 = UInt8(ascii: "q")
  static let int32 = UInt8(ascii: "i")
  static let uint32 = UInt8(ascii: "u")
  static let int64 = UInt8(ascii: "x")
  static let uint64 = UInt8(ascii: "t")
  static let double = UInt8(ascii: "d")
  static let string = UInt8(ascii: "s")
  static let objectPath = UInt8(ascii: "o")
  static let signature = UInt8(ascii: "g")
  static let unixFD = UInt8(ascii: "h")
  static let variant = UInt8(ascii: "v")
  static let array = UInt8(ascii: "a")
  static let structure = UInt8(ascii: "(")
  static let structureEnd = UInt8(ascii: ")")
  static let entry = UInt8(ascii: "{")
  static let entryEnd = UInt8(ascii: "}")

  /// The alignment of a value.
  @inline(__always)
  static func alignment(_ code: UInt8) -> Int {
    switch code {
    case string, objectPath, array: 4
    case structure, entry: 8
    default: fixedSize(code) ?? 1
    }
  }

  /// The size of all values of a basic type, or nil if their sizes differ.
  @inline(__always)
  static func fixedSize(_ code: UInt8) -> Int? {
    switch code {
    case byte: 1
    case int16, uint16: 2
    case boolean, int32, uint32, unixFD: 4
    case int64, uint64, double: 8
    default: nil
    }
  }

  /// The end of the single complete type that begins at `start` of `signature`.
  /// - Throws: `WireError.malformed` if the signature ends before it.
  static func end(of start: Int, in signature: UnsafeRawBufferPointer) throws(WireError) -> Int {
    var position = start
    var open = 0
    while position < signature.count {
      let code = signature[position]
      position += 1
      switch code {
      case array: continue
      case structure, entry: open += 1
      case structureEnd, entryEnd: open -= 1
      default: break
      }
      if open == 0 { return position }
    }
    throw .malformed("a signature ends in the middle of a type")
  }
}

/// An error of reading or writing marshalled values.
public enum WireError: Error, Hashable, Sendable {
  /// The bytes do not match the signature; the text names the first fault.
  case malformed(String)
  /// There are more elements than the limit.
  case tooManyElements(limit: Int)
  /// Containers are nested more deeply than a message allows.
  case tooDeep
  /// A file descriptor is referenced that was not received with the bytes.
  case missingDescriptor
}

extension WireError: CustomStringConvertible {
  /// The error in one sentence.
  public var description: String {
    switch self {
    case .malformed(let fault): "the bytes are not a D-Bus value: \(fault)"
    case .tooManyElements(let limit): "there are more than \(limit) elements"
    case .tooDeep: "containers are nested more than \(ProtocolLimits.depth) deep"
    case .missingDescriptor: "a file descriptor is referenced that was not received with the message"
    }
  }
}

extension Int {
  /// This offset, or the next one that is a multiple of `alignment`, a power of two.
  @inlinable @inline(__always)
  package func aligned(to alignment: Int) -> Int { (self + alignment - 1) & ~(alignment - 1) }
}

public import DBusTypes
internal import Glibc

/// The values that a message carries, as they are marshalled.
public struct MessageBody: Sendable {
  /// The most bytes that one message carries: within it no array can pass the protocol's limit.
  public static let sizeLimit = ProtocolLimits.arraySize

  /// The most file descriptors that one message carries; a bus closes the connection of who sends more.
  public static let unixFDLimit = 16

  /// No values.
  public static let empty = MessageBody()

  /// The values' types.
  public let signature: String
  /// The values.
  public let bytes: [UInt8]
  /// The file descriptors that the values name by their index.
  let descriptors: [UnixFD]

  private init() {
    signature = ""
    bytes = []
    descriptors = []
  }

  /// Marshals `values`.
  /// - Throws: `DBusError`: `InvalidArgs` for a value that no message can carry (NUL in a text, an array with elements of
  ///   another type), `LimitsExceeded` past the protocol's depth, `sizeLimit` or `unixFDLimit`.
  public init(_ values: [DBusValue]) throws(DBusError) {
    guard !values.isEmpty else {
      self = .empty
      return
    }
    try ValueCheck.check(values)
    var writer = WireWriter()
    for value in values { writer.append(value) }
    try self.init(values.map(\.type.description).joined(), writer)
  }

  /// Takes marshalled values, one argument each.
  /// - Throws: `DBusError.limitsExceeded` past `sizeLimit`, or for a signature of more than 255 bytes.
  public init(_ values: [MarshalledValue]) throws(DBusError) {
    var writer = WireWriter()
    for value in values { writer.append(value) }
    let signature = values.map(\.signature).joined()
    guard signature.utf8.count <= 255 else { throw MessageBody.longSignature(signature.utf8.count) }
    try self.init(signature, writer)
  }

  static func longSignature(_ length: Int) -> DBusError {
    DBusError(.limitsExceeded, "the values' signature takes \(length) bytes, but a message's takes at most 255")
  }

  /// Takes values of the types in `signature` that were marshalled from checked parts.
  /// - Throws: `DBusError.limitsExceeded` past `sizeLimit` or `unixFDLimit`.
  public init(_ signature: String, _ writer: consuming WireWriter) throws(DBusError) {
    try MessageBody.check(size: writer.count)
    let descriptors = writer.descriptors.count
    guard descriptors <= MessageBody.unixFDLimit else {
      throw DBusError(
        .limitsExceeded,
        "the values hold \(descriptors) file descriptors, but a message carries at most \(MessageBody.unixFDLimit)")
    }
    for descriptor in writer.descriptors where fcntl(descriptor.number, F_GETFD) < 0 {
      throw DBusError(.invalidArgs, "\(descriptor.number) is not an open file descriptor")
    }
    self.signature = signature
    self.descriptors = writer.descriptors
    bytes = writer.finish()
  }

  /// Takes what another message carried.
  init(_ signature: String, received bytes: UnsafeRawBufferPointer) {
    self.signature = signature
    self.bytes = Array(bytes)
    descriptors = []
  }

  /// Checks that a message can carry `size` bytes, or that many at least.
  /// - Throws: `DBusError.limitsExceeded`.
  public static func check(size: Int) throws(DBusError) {
    guard size > sizeLimit else { return }
    throw DBusError(
      .limitsExceeded, "the values take \(size) bytes or more, but a message carries at most \(sizeLimit)")
  }
}

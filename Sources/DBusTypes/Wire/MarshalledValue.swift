/// A value as its type and its marshalled bytes: it takes as much memory as in a message.
///
/// Two values are equal if their types and their bytes are equal: dictionary entries in the same order, doubles bit for
/// bit. It contains no file descriptors.
public struct MarshalledValue: Hashable, Sendable {
  /// The alignment of the content, the signature's length, the signature, a NUL, zeros up to a multiple of 8, then the
  /// value marshalled from an aligned start, in the byte order of this machine.
  public let storage: [UInt8]

  private static let signatureStart = 2

  private static func contentStart(_ signatureLength: Int) -> Int {
    (signatureStart + signatureLength + 1).aligned(to: 8)
  }

  /// Marshals `value`, which must be valid according to `DBusValue.check`.
  public init(_ value: DBusValue) {
    var writer = WireWriter(capacity: 24)
    MarshalledValue.begin(&writer, value.type.description.utf8)
    writer.append(value)
    self.init(writer)
  }

  /// Copies the value of the single complete type at `index` of `signature` from `walker`, and moves both past it.
  init(
    _ walker: inout WireWalker, _ signature: UnsafeRawBufferPointer, _ index: inout Int
  ) throws(WireError) {
    let end = try TypeCode.end(of: index, in: signature)
    let own = UnsafeRawBufferPointer(rebasing: signature[index..<end])
    var writer = WireWriter(capacity: 24)
    MarshalledValue.begin(&writer, own)
    try walker.align(TypeCode.alignment(signature[index]))
    let start = walker.position
    let outer = walker.measure.alignment
    walker.measure.alignment = 1
    try walker.skip(signature, &index)
    let alignment = walker.measure.alignment
    walker.measure.alignment = max(outer, alignment)
    let source = UnsafeRawBufferPointer(rebasing: walker.source[..<walker.position])
    writer.copy(own, source, from: start, alignment: alignment)
    self.init(writer, alignment: alignment)
  }

  /// Writes the part before the value's own bytes; the alignment is set at the end.
  static func begin(_ writer: inout WireWriter, _ signature: some Collection<UInt8>) {
    writer.append(UInt8(0))
    writer.append(UInt8(truncatingIfNeeded: signature.count))
    writer.append(raw: Array(signature))
    writer.append(UInt8(0))
    writer.align(8)
  }

  /// The value in a writer that `begin` prepared.
  init(_ writer: consuming WireWriter, alignment: Int? = nil) {
    var bytes = writer.finish()
    bytes[0] = UInt8(truncatingIfNeeded: alignment ?? bytes.withUnsafeBytes(MarshalledValue.alignment))
    storage = bytes
  }

  /// The alignment of the content.
  var alignment: Int { Int(storage[0]) }

  private static func alignment(of bytes: UnsafeRawBufferPointer) -> Int {
    let length = Int(bytes[1])
    let signature = UnsafeRawBufferPointer(rebasing: bytes[signatureStart..<(signatureStart + length)])
    if length == 1, let size = TypeCode.fixedSize(signature[0]) { return size }
    var walker = WireWalker(UnsafeRawBufferPointer(rebasing: bytes[contentStart(length)...]))
    var index = 0
    guard (try? walker.skip(signature, &index)) != nil else { return 8 }
    return walker.measure.alignment
  }

  /// Creates a value from bytes that were once the `storage` of a value, after checking them.
  /// - Throws: `WireError` if they are not valid.
  public init(checking storage: [UInt8]) throws(WireError) {
    var fault: WireError?
    storage.withUnsafeBytes { bytes in
      do throws(WireError) { try MarshalledValue.check(bytes) } catch { fault = error }
    }
    if let fault { throw fault }
    self.storage = storage
  }

  private static func check(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
    guard bytes.count > signatureStart else { throw .malformed("they end in the middle of the signature") }
    let length = Int(bytes[1])
    let start = contentStart(length)
    guard length > 0, bytes.count >= start else { throw .malformed("they end in the middle of the signature") }
    let text = bytes[signatureStart..<(signatureStart + length)]
    guard (try? DBusType(String(decoding: text, as: UTF8.self))) != nil,
      bytes[(signatureStart + length)..<start].allSatisfy({ $0 == 0 })
    else { throw .malformed("the signature is not one type") }
    var walker = WireWalker(UnsafeRawBufferPointer(rebasing: bytes[start...]), checksContent: true)
    var index = 0
    try walker.skip(UnsafeRawBufferPointer(rebasing: text), &index)
    guard walker.position == walker.source.count else { throw .malformed("more bytes follow") }
    guard !walker.measure.holdsUnixFD else { throw .missingDescriptor }
    guard Int(bytes[0]) == walker.measure.alignment else { throw .malformed("they do not begin with their alignment") }
  }

  /// Calls `body` with the signature and the value's own bytes.
  func withParts<Result>(
    _ body: (_ signature: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer) -> Result
  ) -> Result {
    storage.withUnsafeBytes { bytes in
      let length = Int(bytes[1])
      return body(
        UnsafeRawBufferPointer(rebasing: bytes[Self.signatureStart..<(Self.signatureStart + length)]),
        UnsafeRawBufferPointer(rebasing: bytes[Self.contentStart(length)...]))
    }
  }
}

extension MarshalledValue {
  /// The type's signature.
  public var signature: String { withParts { signature, _ in String(decoding: signature, as: UTF8.self) } }

  /// The type.
  public var type: DBusType {
    withParts { signature, _ in
      if signature.count == 1, let basic = DBusType(basicCode: signature[0]) { return basic }
      return (try? DBusType(String(decoding: signature, as: UTF8.self))) ?? .variant
    }
  }

  /// Whether both values have one type.
  public func hasSameType(as other: MarshalledValue) -> Bool {
    let end = Self.signatureStart + Int(storage[1])
    return storage[1] == other.storage[1] && storage[1..<end].elementsEqual(other.storage[1..<end])
  }

  /// The size in bytes of the value marshalled by itself, from an aligned start.
  public var size: Int { storage.count - Self.contentStart(Int(storage[1])) }

  /// The value, decoded.
  ///
  /// A file descriptor is not stored, and decoded as a closed one.
  public var value: DBusValue { decoded { _, _ in nil } }

  func decoded(_ descriptors: @escaping WireReader.Descriptors) -> DBusValue {
    let type = type
    return withParts { _, content in
      var reader = WireReader(content, descriptors: descriptors)
      // The content of a marshalled value was validated when it was created: only descriptors can be missing.
      return (try? reader.value(type)) ?? .unixFD(UnixFD(owning: -1))
    }
  }

  /// The size of the value.
  public var measure: WireMeasure {
    withParts { signature, content in
      var walker = WireWalker(content)
      var index = 0
      try? walker.skip(signature, &index)
      return walker.measure
    }
  }

  /// The content of all nested variants.
  public var lookedThrough: MarshalledValue {
    guard storage[1] == 1, storage[Self.signatureStart] == TypeCode.variant else { return self }
    return withParts { _, content in
      var walker = WireWalker(content)
      guard let inner = try? MarshalledValue(inVariant: &walker) else { return self }
      return inner.lookedThrough
    }
  }

  /// The content of the next variant; moves past it.
  init(inVariant walker: inout WireWalker) throws(WireError) {
    let text = try walker.signatureText()
    let signature = UnsafeRawBufferPointer(rebasing: text[1..<(text.count - 1)])
    var index = 0
    try self.init(&walker, signature, &index)
  }

  /// The value as the content of a variant.
  public var inVariant: MarshalledValue {
    var writer = WireWriter(capacity: storage.count + 16)
    MarshalledValue.begin(&writer, CollectionOfOne(TypeCode.variant))
    writer.append(variant: self)
    return MarshalledValue(writer)
  }
}

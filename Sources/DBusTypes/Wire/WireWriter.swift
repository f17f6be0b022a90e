/// Marshals values one after another, from an aligned start, in the byte order of this machine.
///
/// The D-Bus specification, section "Marshaling (Wire Format)". Values must be valid according to `DBusValue.check`.
public struct WireWriter: WireSink {
  /// The bytes written so far.
  public private(set) var bytes: [UInt8] = []
  /// The file descriptors that the written values reference by index.
  public private(set) var descriptors: [UnixFD] = []

  /// The start of an array.
  struct Mark {
    /// The offset of its length.
    let length: Int
    /// The offset of its first element.
    let start: Int
  }

  /// Creates a writer with room for `capacity` bytes.
  public init(capacity: Int = 64) { bytes.reserveCapacity(capacity) }

  /// Writes zeros up to the next multiple of `alignment`.
  @inline(__always)
  public mutating func align(_ alignment: Int) {
    let missing = aligned(bytes.count, to: alignment) - bytes.count
    if missing > 0 { for _ in 0..<missing { bytes.append(0) } }
  }

  @inline(__always)
  mutating func take(_ bytes: UnsafeRawBufferPointer, alignment: Int) {
    align(alignment)
    self.bytes.append(contentsOf: bytes)
  }

  /// Writes a number, a byte or a double's bits.
  @inline(__always)
  public mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    withUnsafeBytes(of: number) { take($0, alignment: MemoryLayout<Number>.size) }
  }

  /// Writes a byte.
  @inline(__always)
  public mutating func append(_ byte: UInt8) { bytes.append(byte) }

  /// Writes bytes unchanged.
  public mutating func append(raw bytes: [UInt8]) { self.bytes.append(contentsOf: bytes) }

  /// Replaces the previously written 32-bit number at `offset`.
  public mutating func replace(at offset: Int, with number: UInt32) {
    withUnsafeBytes(of: number) { new in
      for (index, byte) in new.enumerated() { bytes[offset + index] = byte }
    }
  }

  /// Writes a string or an object path.
  public mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      append(UInt32(truncatingIfNeeded: utf8.count))
      bytes.append(contentsOf: utf8)
    }
    bytes.append(0)
  }

  /// Writes a signature.
  public mutating func append(signature text: String) {
    var text = text
    text.withUTF8 { utf8 in
      bytes.append(UInt8(truncatingIfNeeded: utf8.count))
      bytes.append(contentsOf: utf8)
    }
    bytes.append(0)
  }

  /// Writes the signature of one value of a basic type.
  public mutating func append(signatureOf code: Unicode.Scalar) {
    bytes.append(1)
    bytes.append(UInt8(ascii: code))
    bytes.append(0)
  }

  mutating func beginArray(alignment: Int) -> Mark {
    append(UInt32(0))
    let length = bytes.count - 4
    align(alignment)
    return Mark(length: length, start: bytes.count)
  }

  mutating func endArray(_ mark: Mark) {
    replace(at: mark.length, with: UInt32(truncatingIfNeeded: bytes.count - mark.start))
  }

  /// Writes an array or a dictionary; `body` writes its elements, which have `alignment`.
  public mutating func array(alignment: Int, _ body: (inout WireWriter) -> Void) {
    let mark = beginArray(alignment: alignment)
    body(&self)
    endArray(mark)
  }

  /// Writes `value` as a variant, preceded by its type.
  public mutating func append(variant value: MarshalledValue) {
    value.withParts { signature, content in
      bytes.append(UInt8(truncatingIfNeeded: signature.count))
      bytes.append(contentsOf: signature)
      bytes.append(0)
    }
    append(value)
  }

  /// Writes `value` without its type.
  public mutating func append(_ value: MarshalledValue) {
    value.withParts { signature, content in
      align(TypeCode.alignment(signature[0]))
      copy(signature, content, from: 0, alignment: value.alignment)
    }
  }

  /// Appends a copy of the value in `source` that begins at `start`, an aligned offset; `alignment` is the alignment of
  /// its whole content.
  mutating func copy(
    _ signature: UnsafeRawBufferPointer, _ source: UnsafeRawBufferPointer, from start: Int, alignment: Int
  ) {
    if (bytes.count - start) % alignment == 0 {
      bytes.append(contentsOf: source[start...])
    } else if signature.count > 1, signature[0] == TypeCode.array, TypeCode.alignment(signature[1]) == 8 {
      // The elements begin at a multiple of 8 wherever the array begins.
      bytes.append(contentsOf: source[start..<(start + 4)])
      align(8)
      bytes.append(contentsOf: source[aligned(start + 4, to: 8)...])
    } else {
      var walker = WireWalker(source, at: start)
      var index = 0
      // The value has been validated before.
      try? walker.copy(signature, &index, to: &self)
    }
  }

  /// Writes `value` without its type.
  public mutating func append(_ value: DBusValue) {
    switch value {
    case .byte(let number): bytes.append(number)
    case .boolean(let truth): append(UInt32(truth ? 1 : 0))
    case .int16(let number): append(number)
    case .uint16(let number): append(number)
    case .int32(let number): append(number)
    case .uint32(let number): append(number)
    case .int64(let number): append(number)
    case .uint64(let number): append(number)
    case .double(let number): append(number.bitPattern)
    case .string(let text): append(text)
    case .objectPath(let path): append(path.text)
    case .signature(let signature): append(signature: signature.text)
    case .unixFD(let descriptor):
      append(UInt32(truncatingIfNeeded: descriptors.count))
      descriptors.append(descriptor)
    case .array(let array): append(array)
    case .structure(let members):
      align(8)
      for member in members { append(member) }
    case .dictionary(let dictionary):
      array(alignment: 8) { writer in
        for entry in dictionary.entries {
          writer.align(8)
          writer.append(entry.key)
          writer.append(entry.value)
        }
      }
    case .variant(let content):
      append(signature: content.type.description)
      append(content)
    }
  }

  private mutating func append(_ elements: DBusArray) {
    array(alignment: elements.elementType.alignment) { writer in
      if let bytes = elements.bytes { return writer.append(raw: bytes) }
      for element in elements { writer.append(element) }
    }
  }
}

/// Marshals values one after another, from an aligned start, in the byte order of this machine.
///
/// The D-Bus specification, section "Marshaling (Wire Format)". Values must be valid according to `DBusValue.check`.
public struct WireWriter: WireSink, ~Copyable {
  /// The bytes written so far, then zeros: those that align a value, or end a text, need not be written.
  private var storage: [UInt8] = []
  /// How many bytes are written.
  public private(set) var count = 0
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
  public init(capacity: Int = 64) {
    storage.reserveCapacity(capacity)
    grow(to: min(capacity, 256))
  }

  /// What `storage` grows by: few enough to be in the processor's cache still when they are written over.
  private static let zeros = [UInt8](repeating: 0, count: 4096)

  /// The bytes written.
  public consuming func finish() -> [UInt8] {
    storage.removeLast(storage.count - count)
    return storage
  }

  /// Lets `body` write `size` bytes, which are zeros now, at the next multiple of `alignment`.
  @inline(__always)
  private mutating func extend(by size: Int, alignment: Int, _ body: (UnsafeMutableRawBufferPointer) -> Void) {
    let start = count.aligned(to: alignment)
    let end = start + size
    if end > storage.count { grow(to: end) }
    count = end
    storage.withUnsafeMutableBytes { body(UnsafeMutableRawBufferPointer(rebasing: $0[start..<end])) }
  }

  @inline(never)
  private mutating func grow(to size: Int) {
    if size > 2 * storage.count { storage.reserveCapacity(size) }
    while storage.count < size {
      storage.append(contentsOf: WireWriter.zeros.prefix(max(size - storage.count, storage.count)))
    }
  }

  /// Writes zeros up to the next multiple of `alignment`.
  @inline(__always)
  public mutating func align(_ alignment: Int) { extend(by: 0, alignment: alignment) { _ in } }

  @inline(__always)
  mutating func take(_ bytes: UnsafeRawBufferPointer, alignment: Int) {
    extend(by: bytes.count, alignment: alignment) { $0.copyMemory(from: bytes) }
  }

  /// Writes a number, a byte or a double's bits.
  @inline(__always)
  public mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    withUnsafeBytes(of: number) { take($0, alignment: MemoryLayout<Number>.size) }
  }

  /// Writes a byte.
  public mutating func append(_ byte: UInt8) { extend(by: 1, alignment: 1) { $0[0] = byte } }

  /// Writes bytes unchanged, at the next multiple of `alignment`.
  public mutating func append(raw bytes: [UInt8], alignment: Int = 1) {
    bytes.withUnsafeBytes { take($0, alignment: alignment) }
  }

  /// Replaces the previously written 32-bit number at `offset`.
  public mutating func replace(at offset: Int, with number: UInt32) {
    precondition(offset >= 0 && offset <= count - MemoryLayout<UInt32>.size, "nothing is written there")
    storage.withUnsafeMutableBytes { $0.storeBytes(of: number, toByteOffset: offset, as: UInt32.self) }
  }

  /// Writes a string or an object path.
  public mutating func append(_ text: String) { append(text, length: UInt32.self) }

  /// Writes a signature.
  public mutating func append(signature text: String) { append(text, length: UInt8.self) }

  /// Writes the length of `text`, as a number of that type, then its bytes and a NUL.
  @inline(__always)
  private mutating func append<Length: FixedWidthInteger>(_ text: String, length: Length.Type) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0), length: length) }
  }

  @inline(__always)
  private mutating func append<Length: FixedWidthInteger>(_ text: UnsafeRawBufferPointer, length: Length.Type) {
    let size = MemoryLayout<Length>.size
    extend(by: size + text.count + 1, alignment: size) { room in
      withUnsafeBytes(of: Length(truncatingIfNeeded: text.count)) { room.copyMemory(from: $0) }
      UnsafeMutableRawBufferPointer(rebasing: room[size...]).copyMemory(from: text)
    }
  }

  /// Writes the signature of one value of a basic type.
  public mutating func append(signatureOf code: Unicode.Scalar) {
    withUnsafeBytes(of: (UInt8(1), UInt8(ascii: code), UInt8(0))) { take($0, alignment: 1) }
  }

  mutating func beginArray(alignment: Int) -> Mark {
    append(UInt32(0))
    let length = count - 4
    align(alignment)
    return Mark(length: length, start: count)
  }

  mutating func endArray(_ mark: Mark) {
    replace(at: mark.length, with: UInt32(truncatingIfNeeded: count - mark.start))
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
      append(signature, length: UInt8.self)
      append(signature, content, alignment: value.alignment)
    }
  }

  /// Writes `value` without its type.
  public mutating func append(_ value: MarshalledValue) {
    value.withParts { signature, content in append(signature, content, alignment: value.alignment) }
  }

  private mutating func append(
    _ signature: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer, alignment: Int
  ) {
    align(TypeCode.alignment(signature[0]))
    copy(signature, content, from: 0, alignment: alignment)
  }

  /// Appends a copy of the value in `source` that begins at `start`, an aligned offset; `alignment` is the alignment of
  /// its whole content.
  mutating func copy(
    _ signature: UnsafeRawBufferPointer, _ source: UnsafeRawBufferPointer, from start: Int, alignment: Int
  ) {
    if (count - start) % alignment == 0 {
      take(UnsafeRawBufferPointer(rebasing: source[start...]), alignment: 1)
    } else if signature.count > 1, signature[0] == TypeCode.array, TypeCode.alignment(signature[1]) == 8 {
      // The elements begin at a multiple of 8 wherever the array begins.
      take(UnsafeRawBufferPointer(rebasing: source[start..<(start + 4)]), alignment: 1)
      take(UnsafeRawBufferPointer(rebasing: source[(start + 4).aligned(to: 8)...]), alignment: 8)
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
    case .byte(let number): append(number)
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

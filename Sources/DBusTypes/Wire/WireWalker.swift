internal import Glibc

/// The destination of a walk that copies marshalled values.
protocol WireSink: ~Copyable {
  /// Appends `bytes` at the next multiple of `alignment`.
  mutating func take(_ bytes: UnsafeRawBufferPointer, alignment: Int)
  /// Begins an array whose elements have `alignment`, and returns the argument for `endArray`.
  mutating func beginArray(alignment: Int) -> WireWriter.Mark
  mutating func endArray(_ mark: WireWriter.Mark)
}

/// A sink for walks that only measure.
struct NoSink: WireSink {
  // ThreadSanitizer takes the address of an empty structure for one that all threads share.
  private var content: UInt8 = 0

  @inline(__always) mutating func take(_ bytes: UnsafeRawBufferPointer, alignment: Int) {}
  @inline(__always) mutating func beginArray(alignment: Int) -> WireWriter.Mark { .init(length: 0, start: 0) }
  @inline(__always) mutating func endArray(_ mark: WireWriter.Mark) {}
}

/// The size of marshalled values.
public struct WireMeasure: Hashable, Sendable {
  /// Basic values, structures and empty arrays, at any depth; a string or a byte array counts as one.
  public var elements = 0
  /// The nesting of containers: 0 for a basic value, 1 for an array of basic values.
  public var depth = 0
  /// Whether the values contain a file descriptor.
  public var holdsUnixFD = false
  /// The alignment of the whole content: at any multiple of it, the same bytes are the same value.
  var alignment = 1
}

/// Walks over marshalled values by their signature, without decoding them, to measure, check and copy them.
///
/// Every offset is checked against the bytes, so no data from a peer or a file leads outside of them.
package struct WireWalker {
  let source: UnsafeRawBufferPointer
  var position: Int
  var measure = WireMeasure()
  /// The maximum number of elements, after which the walk ends.
  let elementLimit: Int
  /// Whether to repeat the checks that libdbus makes on arrival, for bytes from another source.
  let checksContent: Bool

  init(
    _ source: UnsafeRawBufferPointer, at position: Int = 0, elementLimit: Int = .max, checksContent: Bool = false
  ) {
    self.source = source
    self.position = position
    self.elementLimit = elementLimit
    self.checksContent = checksContent
  }

  /// Skips the value of the single complete type at `index` of `signature`, and moves `index` past it.
  mutating func skip(_ signature: UnsafeRawBufferPointer, _ index: inout Int, depth: Int = 0) throws(WireError) {
    var sink = NoSink()
    try copy(signature, &index, depth: depth, to: &sink)
  }

  /// Copies the value of the single complete type at `index` of `signature`, and moves `index` past it.
  mutating func copy<Sink: WireSink & ~Copyable>(
    _ signature: UnsafeRawBufferPointer, _ index: inout Int, depth: Int = 0, to sink: inout Sink
  ) throws(WireError) {
    guard index < signature.count else { throw .malformed("a signature ends where a type should follow") }
    let code = signature[index]
    if let size = TypeCode.fixedSize(code) {
      index += 1
      let bytes = try take(size, alignment: size)
      if code == TypeCode.boolean { try checkBoolean(bytes) }
      if code == TypeCode.unixFD { measure.holdsUnixFD = true }
      sink.take(bytes, alignment: size)
      return try count(1)
    }
    switch code {
    case TypeCode.string, TypeCode.objectPath:
      index += 1
      let bytes = try text(code)
      sink.take(bytes, alignment: 4)
      try count(1)
    case TypeCode.signature:
      index += 1
      let bytes = try signatureText()
      if checksContent { try checkSignature(bytes, isSingle: false) }
      sink.take(bytes, alignment: 1)
      try count(1)
    case TypeCode.variant:
      index += 1
      try variant(depth + 1, &sink)
    case TypeCode.structure:
      try enter(depth + 1)
      try align(8)
      sink.take(UnsafeRawBufferPointer(rebasing: source[position..<position]), alignment: 8)
      try count(1)
      index += 1
      while index < signature.count, signature[index] != TypeCode.structureEnd {
        try copy(signature, &index, depth: depth + 1, to: &sink)
      }
      index += 1
    case TypeCode.array:
      try array(signature, &index, depth + 1, &sink)
    default:
      throw .malformed("a signature contains the byte \(code)")
    }
  }

  private mutating func variant<Sink: WireSink & ~Copyable>(_ depth: Int, _ sink: inout Sink) throws(WireError) {
    try enter(depth)
    let bytes = try signatureText()
    if checksContent { try checkSignature(bytes, isSingle: true) }
    sink.take(bytes, alignment: 1)
    let inner = UnsafeRawBufferPointer(rebasing: bytes[1..<(bytes.count - 1)])
    var index = 0
    try copy(inner, &index, depth: depth, to: &sink)
    guard index == inner.count else { throw .malformed("a variant's signature is not one type") }
  }

  private mutating func array<Sink: WireSink & ~Copyable>(
    _ signature: UnsafeRawBufferPointer, _ index: inout Int, _ depth: Int, _ sink: inout Sink
  ) throws(WireError) {
    let element = index + 1
    guard element < signature.count else { throw .malformed("a signature ends where a type should follow") }
    let code = signature[element]
    try enter(code == TypeCode.entry ? depth + 1 : depth)
    let length = Int(try number())
    let alignment = TypeCode.alignment(code)
    try align(alignment)
    guard length <= ProtocolLimits.arraySize, length <= source.count - position else {
      throw .malformed("an array of \(length) bytes exceeds the remaining bytes")
    }
    let end = position + length
    let mark = sink.beginArray(alignment: alignment)
    defer { sink.endArray(mark) }
    if length == 0 { try count(1) }
    if let size = TypeCode.fixedSize(code) {
      index = element + 1
      guard length % size == 0 else { throw .malformed("an array ends in the middle of an element") }
      let bytes = UnsafeRawBufferPointer(rebasing: source[position..<end])
      position = end
      guard length > 0 else { return }
      if code == TypeCode.unixFD { measure.holdsUnixFD = true }
      if code == TypeCode.boolean, checksContent {
        for start in stride(from: 0, to: length, by: 4) {
          try checkBoolean(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + 4)]))
        }
      }
      sink.take(bytes, alignment: size)
      return try count(code == TypeCode.byte ? 1 : length / size)
    }
    while position < end {
      index = element
      if code == TypeCode.entry {
        try entry(signature, &index, depth + 1, &sink)
      } else {
        try copy(signature, &index, depth: depth, to: &sink)
      }
    }
    guard position == end else { throw .malformed("an array's last element is longer than the array") }
    index = try TypeCode.end(of: element, in: signature)
  }

  private mutating func entry<Sink: WireSink & ~Copyable>(
    _ signature: UnsafeRawBufferPointer, _ index: inout Int, _ depth: Int, _ sink: inout Sink
  ) throws(WireError) {
    try align(8)
    sink.take(UnsafeRawBufferPointer(rebasing: source[position..<position]), alignment: 8)
    index += 1
    try copy(signature, &index, depth: depth, to: &sink)
    try copy(signature, &index, depth: depth, to: &sink)
    index += 1
  }

  @inline(__always)
  mutating func count(_ elements: Int) throws(WireError) {
    measure.elements += elements
    guard measure.elements <= elementLimit else { throw .tooManyElements(limit: elementLimit) }
  }

  @inline(__always)
  private mutating func enter(_ depth: Int) throws(WireError) {
    if depth > measure.depth { measure.depth = depth }
    guard depth <= ProtocolLimits.depth else { throw .tooDeep }
  }
}

/// Steps over parts of values.
extension WireWalker {
  /// Moves to the next multiple of `alignment`.
  @inline(__always)
  mutating func align(_ alignment: Int) throws(WireError) {
    if alignment > measure.alignment { measure.alignment = alignment }
    let next = position.aligned(to: alignment)
    guard next <= source.count else { throw .malformed("they end where a value should follow") }
    if checksContent, source[position..<next].contains(where: { $0 != 0 }) {
      throw .malformed("bytes between values are not 0")
    }
    position = next
  }

  /// The next `size` bytes at a multiple of `alignment`.
  @inline(__always)
  mutating func take(_ size: Int, alignment: Int) throws(WireError) -> UnsafeRawBufferPointer {
    try align(alignment)
    guard size <= source.count - position else { throw .malformed("they end in the middle of a value") }
    defer { position += size }
    return UnsafeRawBufferPointer(rebasing: source[position..<(position + size)])
  }

  /// A 32-bit number, such as a length.
  @inline(__always)
  mutating func number() throws(WireError) -> UInt32 {
    try take(4, alignment: 4).loadUnaligned(as: UInt32.self)
  }

  /// A string or an object path, including its length and its NUL.
  @inline(__always)
  mutating func text(_ code: UInt8) throws(WireError) -> UnsafeRawBufferPointer {
    try align(4)
    let start = position
    let length = Int(try number())
    guard length < source.count - position else { throw .malformed("a text exceeds the remaining bytes") }
    position += length + 1
    let bytes = UnsafeRawBufferPointer(rebasing: source[start..<position])
    if checksContent { try checkText(bytes, code) }
    return bytes
  }

  /// A signature, including its length and its NUL.
  @inline(__always)
  mutating func signatureText() throws(WireError) -> UnsafeRawBufferPointer {
    guard position < source.count else { throw .malformed("they end where a signature should follow") }
    let size = Int(source[position]) + 2
    let bytes = try take(size, alignment: 1)
    guard bytes[size - 1] == 0 else { throw .malformed("a signature has no NUL at its end") }
    return bytes
  }

  private func checkBoolean(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
    guard checksContent, bytes.loadUnaligned(as: UInt32.self) > 1 else { return }
    throw .malformed("a boolean is neither 0 nor 1")
  }

  private func checkText(_ bytes: UnsafeRawBufferPointer, _ code: UInt8) throws(WireError) {
    let content = UnsafeRawBufferPointer(rebasing: bytes[4..<(bytes.count - 1)])
    let holdsNUL = content.baseAddress.map { memchr($0, 0, content.count) != nil } ?? false
    guard bytes[bytes.count - 1] == 0, !holdsNUL, let text = String(validating: content, as: UTF8.self) else {
      throw .malformed("a text is not valid UTF-8 or contains NUL")
    }
    guard code != TypeCode.objectPath || (try? ObjectPath(text)) != nil else {
      throw .malformed("an object path is not valid")
    }
  }

  private func checkSignature(_ bytes: UnsafeRawBufferPointer, isSingle: Bool) throws(WireError) {
    guard let signature = try? Signature(String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)),
      !isSingle || signature.types.count == 1
    else { throw .malformed("a signature is not valid") }
  }
}

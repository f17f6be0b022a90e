import Glibc

/// Cuts what arrives in pieces into lines; each byte is looked at once, however long its line is.
struct LineReader {
  /// A line without its line break.
  enum Line: Equatable {
    case whole(ArraySlice<UInt8>)
    /// It is longer than the limit; nothing of it is kept.
    case tooLong
  }

  private let limit: Int
  /// The beginning of a line whose end has not arrived.
  private var begun: [UInt8] = []
  /// Whether the rest of the line is dropped, because it is too long.
  private var isDropping = false

  /// Creates a reader of lines of at most `limit` bytes.
  init(limit: Int) { self.limit = limit }

  /// The lines that end within `bytes`, which follow those before.
  mutating func lines(endingIn bytes: [UInt8]) -> [Line] {
    var lines: [Line] = []
    var rest = bytes[...]
    while let end = LineReader.lineBreak(in: rest) {
      add(rest[..<end])
      lines.append(take())
      rest = rest[(end + 1)...]
    }
    add(rest)
    return lines
  }

  /// The line that has begun, at the end of all; nil if none has.
  mutating func last() -> Line? { begun.isEmpty && !isDropping ? nil : take() }

  private static func lineBreak(in bytes: ArraySlice<UInt8>) -> Int? {
    bytes.withUnsafeBytes { buffer in
      guard let start = buffer.baseAddress, let end = memchr(start, 0x0a, buffer.count) else { return nil }
      return bytes.startIndex + (UnsafeRawPointer(end) - start)
    }
  }

  private mutating func add(_ bytes: ArraySlice<UInt8>) {
    guard !isDropping else { return }
    if begun.count + bytes.count > limit {
      (begun, isDropping) = ([], true)
    } else {
      begun += bytes
    }
  }

  private mutating func take() -> Line {
    let line: Line = isDropping ? .tooLong : .whole(begun[...])
    (begun, isDropping) = ([], false)
    return line
  }
}

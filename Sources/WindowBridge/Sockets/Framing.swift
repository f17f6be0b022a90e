/// A message that is longer than any window manager's, or that does not begin as one.
package struct FramingError: Error, CustomStringConvertible {
  package let description: String
}

/// Cuts a stream of bytes into messages, whatever pieces they arrive in.
package struct ByteQueue {
  /// The most bytes of one message; a tree of ten thousand windows has a fifth of it.
  package static let longestMessage = 64 << 20

  private var bytes: [UInt8] = []
  private var start = 0
  /// Up to here nothing is a line feed.
  private var searched = 0

  package init() {}

  package mutating func append(_ more: [UInt8]) {
    if start > 0, start == bytes.count || start > 1 << 20 {
      bytes.removeFirst(start)
      (searched, start) = (max(searched - start, 0), 0)
    }
    bytes += more
  }

  private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
    defer { start += count }
    return bytes[start..<start + count]
  }

  /// A number of what comes next, in the byte order of the machine; it must be there.
  private func number(at offset: Int) -> UInt32 {
    bytes[start + offset..<start + offset + 4].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
  }

  /// The next message of the protocol of i3 and sway: `i3-ipc`, a length, a type, and a payload; nil until it is complete.
  /// - Throws: `FramingError`; nothing that follows can be read then.
  package mutating func nextFrame() throws(FramingError) -> (type: UInt32, payload: [UInt8])? {
    guard bytes.count - start >= TreeMessage.headerLength else { return nil }
    guard bytes[start..<start + TreeMessage.magic.count].elementsEqual(TreeMessage.magic) else {
      throw FramingError(description: "a message that does not begin with 'i3-ipc'")
    }
    let (length, type) = (Int(number(at: TreeMessage.magic.count)), number(at: TreeMessage.magic.count + 4))
    guard length <= Self.longestMessage else { throw FramingError(description: "a message of \(length) bytes") }
    guard bytes.count - start >= TreeMessage.headerLength + length else { return nil }
    _ = take(TreeMessage.headerLength)
    return (type, Array(take(length)))
  }

  /// The next message of the Wayland protocol: an object, a length and an opcode, and arguments; nil until it is complete.
  /// - Throws: `FramingError`; nothing that follows can be read then.
  package mutating func nextMessage() throws(FramingError) -> WaylandMessage? {
    guard bytes.count - start >= WaylandMessage.headerLength else { return nil }
    let (object, sizes) = (number(at: 0), number(at: 4))
    let length = Int(sizes >> 16)
    guard length >= WaylandMessage.headerLength, length % 4 == 0 else {
      throw FramingError(description: "a message of \(length) bytes")
    }
    guard bytes.count - start >= length else { return nil }
    _ = take(WaylandMessage.headerLength)
    let body = Array(take(length - WaylandMessage.headerLength))
    return WaylandMessage(object: object, opcode: Int(sizes & 0xffff), body: body)
  }

  /// The next line, without its line feed; nil until it is complete.
  /// - Throws: `FramingError`; nothing that follows can be read then.
  package mutating func nextLine() throws(FramingError) -> [UInt8]? {
    searched = max(searched, start)
    guard let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
      searched = bytes.count
      guard bytes.count - start <= Self.longestMessage else {
        throw FramingError(description: "a line of more than \(Self.longestMessage) bytes")
      }
      return nil
    }
    let line = Array(take(end - start))
    start += 1
    return line
  }

  /// All that has not been taken.
  package var rest: [UInt8] { Array(bytes[start...]) }

  /// Nothing: what has no end yet is only bounded.
  /// - Throws: `FramingError` if it is longer than any message.
  package func checked() throws(FramingError) -> [UInt8]? {
    guard bytes.count - start <= Self.longestMessage else {
      throw FramingError(description: "more than \(Self.longestMessage) bytes")
    }
    return nil
  }
}

/// Cuts what a browser sends into messages, whatever pieces it arrives in: a length of four bytes, and so many bytes.
package struct MessageFraming {
  /// A piece of what a browser sends.
  package enum Piece: Equatable, Sendable {
    case message([UInt8])
    /// A message that is longer than `longestMessage`, and is skipped.
    case oversized(Int)
  }

  /// The most bytes of a message that is read.
  package static let longestMessage = 1 << 20
  private static let headerLength = 4

  private var bytes: [UInt8] = []
  private var start = 0
  /// How much of a message that is too long is still to come.
  private var skipped = 0

  package init() {}

  /// Takes what has arrived.
  package mutating func append(_ more: some Collection<UInt8>) {
    let ignored = min(skipped, more.count)
    skipped -= ignored
    if start > 0 {
      bytes.removeFirst(start)
      start = 0
    }
    bytes += more.dropFirst(ignored)
  }

  /// The next message; nil until it is complete.
  package mutating func next() -> Piece? {
    let left = bytes.count - start
    guard left >= Self.headerLength else { return nil }
    // In the byte order of the machine.
    let length = bytes[start..<start + Self.headerLength].withUnsafeBytes { Int($0.loadUnaligned(as: UInt32.self)) }
    let body = start + Self.headerLength
    guard length <= Self.longestMessage else {
      let here = min(length, bytes.count - body)
      start = body + here
      skipped = length - here
      return .oversized(length)
    }
    guard left >= Self.headerLength + length else { return nil }
    start = body + length
    return .message(Array(bytes[body..<start]))
  }

  /// Whether the last message is not complete.
  package var isCutOff: Bool { skipped > 0 || start < bytes.count }

  /// A message with its length before it.
  package static func frame(_ message: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: UInt32(clamping: message.count)) { Array($0) } + message
  }
}

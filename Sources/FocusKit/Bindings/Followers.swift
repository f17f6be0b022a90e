internal import EventLoop

/// Those who are told each new value of a source, in order, and never under a lock.
///
/// The source enqueues each value under its own lock, and delivers when that is free. One thread at a time delivers, also
/// what others enqueue meanwhile; if it does not keep up, the newest value replaces the one before.
final class Followers<Value>: @unchecked Sendable {
  // Sendable for the lock; values that are not Sendable are told where the program changes them.
  typealias Sink = (Value) -> Void

  private struct Content {
    var sinks: [UInt64: Sink] = [:]
    var last: UInt64 = 0
    /// Each value with the numbers of those who are told of it: of all who were there, or of one who came.
    var queue: [(value: Value, audience: ClosedRange<UInt64>)] = []
    var isDelivering = false
  }

  /// How many values wait for their delivery at most.
  private static var longestQueue: Int { 256 }

  private let content = Locked(Content())

  /// Adds a follower; if `current` is given, it is the first value that it is told of.
  func add(_ sink: @escaping Sink, current: Value? = nil) -> UInt64 {
    content.withLock { content in
      content.last += 1
      content.sinks[content.last] = sink
      if let current { content.queue.append((current, content.last...content.last)) }
      return content.last
    }
  }

  func remove(_ number: UInt64) {
    // The sink is freed outside of the lock.
    _ = content.withLock { $0.sinks.removeValue(forKey: number) }
  }

  /// Notes a new value; called under the source's lock.
  /// - Returns: the value that it replaces, to be freed outside of the lock.
  func enqueue(_ value: @autoclosure () -> Value) -> Value? {
    content.withLock { content in
      guard !content.sinks.isEmpty else { return nil }
      let item = (value: value(), audience: 0...content.last)
      let isFull = content.queue.count >= Self.longestQueue && content.queue.last?.audience == item.audience
      let replaced = isFull ? content.queue.removeLast().value : nil
      content.queue.append(item)
      return replaced
    }
  }

  /// Tells what was noted.
  func deliver() {
    guard content.withLock({ Self.begin(&$0) }) else { return }
    while true {
      let (items, sinks) = content.withLock { content in
        let items = content.queue
        content.queue = []
        if items.isEmpty { content.isDelivering = false }
        return (items, content.sinks)
      }
      guard !items.isEmpty else { return }
      for (value, audience) in items {
        for (number, sink) in sinks where audience.contains(number) { sink(value) }
      }
    }
  }

  private static func begin(_ content: inout Content) -> Bool {
    guard !content.isDelivering, !content.queue.isEmpty else { return false }
    content.isDelivering = true
    return true
  }
}

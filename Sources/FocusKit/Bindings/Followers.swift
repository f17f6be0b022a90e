internal import EventLoop

/// Those who are told each new value of a source, in order, and never under a lock.
///
/// The source enqueues each value under its own lock, and delivers when that is free. One thread at a time delivers, also
/// what others enqueue meanwhile; if it does not keep up, the newest value replaces the one before.
final class Followers<Value>: @unchecked Sendable {
  // Sendable for the lock; values that are not Sendable are told where the program changes them.
  typealias Sink = (Value) -> Void

  private enum Audience {
    /// Those who came before or with the follower of this number.
    case all(upTo: UInt64)
    case one(UInt64)

    func includes(_ number: UInt64) -> Bool {
      switch self {
      case .all(let last): number <= last
      case .one(let only): number == only
      }
    }
  }

  private struct Content {
    var sinks: [UInt64: Sink] = [:]
    var last: UInt64 = 0
    var queue: [(value: Value, audience: Audience)] = []
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
      if let current { content.queue.append((current, .one(content.last))) }
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
      let item = (value: value(), audience: Audience.all(upTo: content.last))
      if content.queue.count >= Self.longestQueue, case .all(let last)? = content.queue.last?.audience,
        last == content.last
      {
        let replaced = content.queue.removeLast().value
        content.queue.append(item)
        return replaced
      }
      content.queue.append(item)
      return nil
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
        for (number, sink) in sinks where audience.includes(number) { sink(value) }
      }
    }
  }

  private static func begin(_ content: inout Content) -> Bool {
    guard !content.isDelivering, !content.queue.isEmpty else { return false }
    content.isDelivering = true
    return true
  }
}

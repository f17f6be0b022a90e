/// Names one scheduled timer of an event loop.
public struct TimerID: Hashable, Sendable {
  fileprivate let number: UInt64
}

/// Handlers by the time at which they are due.
///
/// Most timers are reply timeouts of one length, which are added in the order in which they are due.
struct TimerQueue {
  private var handlers: [UInt64: () -> Void] = [:]
  /// The latest first, so that the earliest is taken from the end.
  private var order: [(due: SuspendingClock.Instant, number: UInt64)] = []
  private var lastNumber: UInt64 = 0

  /// When the next handler is due, or nil.
  var earliest: SuspendingClock.Instant? { order.last?.due }

  mutating func add(at due: SuspendingClock.Instant, _ handler: @escaping () -> Void) -> TimerID {
    lastNumber += 1
    handlers[lastNumber] = handler
    var low = 0
    var high = order.count
    while low < high {
      let middle = (low + high) / 2
      if order[middle].due > due { low = middle + 1 } else { high = middle }
    }
    order.insert((due, lastNumber), at: low)
    return TimerID(number: lastNumber)
  }

  mutating func cancel(_ timer: TimerID) {
    guard handlers.removeValue(forKey: timer.number) != nil else { return }
    dropCancelled()
  }

  /// Takes out the earliest handler that is due at `now`, or nil.
  ///
  /// The caller calls it, when the queue is free again: a handler may schedule and cancel.
  mutating func takeDue(at now: SuspendingClock.Instant) -> (() -> Void)? {
    dropCancelled()
    guard let next = order.last, next.due <= now else { return nil }
    order.removeLast()
    return handlers.removeValue(forKey: next.number)
  }

  private mutating func dropCancelled() {
    while let next = order.last, handlers[next.number] == nil { order.removeLast() }
    if order.count > 64, order.count > handlers.count * 2 { order.removeAll { handlers[$0.number] == nil } }
  }
}

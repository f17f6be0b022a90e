/// Names one scheduled timer of an event loop.
public struct TimerID: Hashable, Sendable {
  fileprivate let number: UInt64
}

/// Handlers by the time at which they are due: a binary heap, so that adding and taking cost O(log n) in any order.
///
/// Timers that are due at the same time fire in the order in which they were added.
struct TimerQueue {
  private struct Entry {
    let due: SuspendingClock.Instant
    let number: UInt64

    func precedes(_ other: Entry) -> Bool { (due, number) < (other.due, other.number) }
  }

  private var handlers: [UInt64: () -> Void] = [:]
  /// Each entry precedes those at twice its index plus one and plus two; cancelled ones stay until they come first.
  private var heap: [Entry] = []
  private var lastNumber: UInt64 = 0

  /// When the next handler is due, or nil.
  var earliest: SuspendingClock.Instant? { heap.first?.due }

  mutating func add(at due: SuspendingClock.Instant, _ handler: @escaping () -> Void) -> TimerID {
    lastNumber += 1
    handlers[lastNumber] = handler
    heap.append(Entry(due: due, number: lastNumber))
    siftUp(from: heap.count - 1)
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
    guard let next = heap.first, next.due <= now else { return nil }
    removeFirst()
    return handlers.removeValue(forKey: next.number)
  }

  private mutating func dropCancelled() {
    while let next = heap.first, handlers[next.number] == nil { removeFirst() }
    guard heap.count > 64, heap.count > handlers.count * 2 else { return }
    heap = heap.filter { handlers[$0.number] != nil }
    for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(from: index) }
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    siftDown(from: 0)
  }

  private mutating func siftUp(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].precedes(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func siftDown(from start: Int) {
    var parent = start
    while true {
      var first = parent
      for child in [parent * 2 + 1, parent * 2 + 2] where child < heap.count && heap[child].precedes(heap[first]) {
        first = child
      }
      guard first != parent else { return }
      heap.swapAt(parent, first)
      parent = first
    }
  }
}

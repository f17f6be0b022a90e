internal import Dispatch
internal import EventLoop

/// Content behind a lock, and those who follow what is seen of it: they are told in order, and never under the lock.
///
/// One thread at a time tells, also of some of what others change meanwhile, before it leaves the rest to a thread of
/// Dispatch; if it does not keep up, the newest replaces the one before.
final class Followed<Content, Seen>: @unchecked Sendable {
  // Sendable for the lock; nobody follows values that are not Sendable.
  typealias Sink = (Seen) -> Void

  private struct State {
    var content: Content
    var sinks: [UInt64: Sink] = [:]
    var last: UInt64 = 0
    /// What was seen, with the numbers of those who are told of it: of all who were there, or of one who came.
    var queue: [(seen: Seen, audience: ClosedRange<UInt64>)] = []
    var isTelling = false
  }

  /// How many values wait to be told at most.
  private static var longestQueue: Int { 256 }
  /// How often whoever changes the content tells also of what has been changed meanwhile.
  private static var mostRounds: Int { 2 }

  private let state: Locked<State>
  private let seen: (Content) -> Seen

  /// Creates the content, of which followers see what `seen` returns.
  init(_ content: Content, _ seen: @escaping (Content) -> Seen) {
    state = Locked(State(content: content))
    self.seen = seen
  }

  /// Reads the content, or changes what nobody follows.
  func withLock<Result>(_ body: (inout Content) -> Result) -> Result { state.withLock { body(&$0.content) } }

  /// Changes the content; if `change` returns that followers must know, calls `observed` and then tells them.
  /// - Returns: what `change` returned.
  @discardableResult
  func update(_ change: (inout Content) -> Bool, observed: () -> Void) -> Bool {
    guard self.change(change) else { return false }
    observed()
    tell()
    return true
  }

  /// Changes the content; if `change` returns that followers must know, so does this, and `tell()` must follow.
  func change(_ change: (inout Content) -> Bool) -> Bool {
    let (isOther, replaced): (Bool, Seen?) = state.withLock { state in
      guard change(&state.content) else { return (false, nil) }
      guard !state.sinks.isEmpty else { return (true, nil) }
      let isFull = state.queue.count >= Self.longestQueue && state.queue.last?.audience == 0...state.last
      let replaced = isFull ? state.queue.removeLast().seen : nil
      state.queue.append((seen(state.content), 0...state.last))
      return (true, replaced)
    }
    // It is freed outside of the lock, as the values' own code may run then.
    return withExtendedLifetime(replaced) { isOther }
  }

  /// Calls `sink` with what is seen now, if `withCurrent`, and after each change, until the result is called.
  func follow(withCurrent: Bool, _ sink: @escaping Sink) -> @Sendable () -> Void {
    let number = state.withLock { state in
      state.last += 1
      state.sinks[state.last] = sink
      if withCurrent { state.queue.append((seen(state.content), state.last...state.last)) }
      return state.last
    }
    tell()
    return { [weak self] in
      // The sink is freed outside of the lock.
      _ = self?.state.withLock { $0.sinks.removeValue(forKey: number) }
    }
  }

  /// Tells those who follow what has been changed.
  func tell() {
    if state.withLock({ Self.begin(&$0) }) { tellAll() }
  }

  private func tellAll() {
    for _ in 0..<Self.mostRounds {
      let (items, sinks) = state.withLock { state in
        let items = state.queue
        state.queue = []
        if items.isEmpty { state.isTelling = false }
        return (items, state.sinks)
      }
      guard !items.isEmpty else { return }
      for (seen, audience) in items {
        for (number, sink) in sinks where audience.contains(number) { sink(seen) }
      }
    }
    // Others change it without a pause, and this thread has its own work to do.
    DispatchQueue.global().async { self.tellAll() }
  }

  private static func begin(_ state: inout State) -> Bool {
    guard !state.isTelling, !state.queue.isEmpty else { return false }
    state.isTelling = true
    return true
  }
}

internal import Glibc

/// Something that an event loop waits for: a connection's sockets and timeouts, or a signal descriptor.
package protocol EventSource: AnyObject {
  /// Adds to `set` what the next turn waits for.
  func prepare(_ set: inout PollSet)
  /// Handles what `poll` reported for the descriptor that was added with `token`.
  func ready(token: UInt, events: Int16)
  /// Works off what has arrived, within a bound, so that no source starves the others.
  func dispatch()
}

extension EventSource {
  /// Does nothing: `ready` is enough for most sources.
  package func dispatch() {}
}

/// What one turn waits for: descriptors, each with the source and the token that it belongs to, and a time.
package struct PollSet {
  fileprivate var descriptors: [pollfd] = []
  fileprivate var origins: [(source: any EventSource, token: UInt)] = []
  fileprivate var earliest: SuspendingClock.Instant?

  /// Whether a source has work left that needs no waiting.
  package var hasPendingWork = false

  /// Adds `descriptor` for `source`, to be polled for `events`.
  package mutating func add(_ descriptor: Int32, events: Int16, source: any EventSource, token: UInt) {
    descriptors.append(pollfd(fd: descriptor, events: events, revents: 0))
    origins.append((source, token))
  }

  /// Ends the turn's waiting at `due` at the latest.
  package mutating func wake(at due: SuspendingClock.Instant) { earliest = min(earliest ?? due, due) }

  fileprivate mutating func clear() {
    descriptors.removeAll(keepingCapacity: true)
    origins.removeAll(keepingCapacity: true)
    earliest = nil
    hasPendingWork = false
  }
}

/// A single-threaded loop over `poll(2)`: what arrives is handled, then timers, then the end of the turn.
///
/// The loop, and everything attached to it, belongs to the thread that runs it.
public final class EventLoop {
  private var sources: [any EventSource] = []
  private var timers = TimerQueue()
  private var set = PollSet()

  /// Whether `stop` was called.
  public private(set) var isStopped = false

  /// How long timers that are due are put off while there is more to handle.
  package static let mostDelay = Duration.milliseconds(250)
  private var putOffSince: SuspendingClock.Instant?

  /// Called at the end of each turn, after all that arrived in it has been handled.
  public var onTurnEnd: (() -> Void)?

  /// Creates a loop that waits for nothing yet.
  public init() {}

  /// Waits for `source` from the next turn on, until `remove`.
  package func add(_ source: any EventSource) { sources.append(source) }

  /// Waits for `source` no longer; in the current turn it may be asked once more.
  package func remove(_ source: any EventSource) { sources.removeAll { $0 === source } }

  /// Runs turns until `stop` is called, now or before.
  public func run() { while !isStopped { turn() } }

  /// Makes `run` return at the end of the turn.
  public func stop() { isStopped = true }

  /// Forgets all sources and timers of a loop that has ended: what a timer holds may hold the loop.
  package func close() {
    stop()
    onTurnEnd = nil
    let forgotten = (sources, timers)
    (sources, timers) = ([], TimerQueue())
    withExtendedLifetime(forgotten) {}
  }

  /// Calls `handler` once, `delay` from now.
  @discardableResult
  public func schedule(after delay: Duration, _ handler: @escaping () -> Void) -> TimerID {
    timers.add(at: SuspendingClock.now + delay, handler)
  }

  /// Cancels a timer; does nothing if it has fired.
  public func cancel(_ timer: TimerID) { timers.cancel(timer) }

  /// Waits until something arrives or `limit` has passed, and handles what has arrived.
  public func turn(waitingAtMost limit: Duration? = nil) {
    set.clear()
    for source in sources { source.prepare(&set) }
    let isWorking = set.hasPendingWork
    let wait = isWorking ? 0 : waitMilliseconds(limit)
    let ready = poll(&set.descriptors, nfds_t(set.descriptors.count), wait)
    if ready > 0 {
      for (descriptor, origin) in zip(set.descriptors, set.origins) where descriptor.revents != 0 {
        origin.source.ready(token: origin.token, events: descriptor.revents)
      }
    }
    // A source that is removed before the next turn, if there is one, is not kept for it.
    set.clear()
    fireTimers(isIdle: ready <= 0 && !isWorking)
    for source in sources { source.dispatch() }
    onTurnEnd?()
  }

  /// Calls the handlers of due timers.
  ///
  /// What has arrived comes first, for so long at least: a reply may have come in time, and be read late only because
  /// this process was held up.
  private func fireTimers(isIdle: Bool) {
    let now = SuspendingClock.now
    guard let earliest = timers.earliest, earliest <= now else {
      putOffSince = nil
      return
    }
    if !isIdle {
      let since = putOffSince ?? now
      putOffSince = since
      guard now - since >= EventLoop.mostDelay else { return }
    }
    putOffSince = nil
    while let handler = timers.takeDue(at: now) { handler() }
  }

  /// How long `poll` may wait, rounded up so that a deadline has passed when it returns; -1 for ever.
  private func waitMilliseconds(_ limit: Duration?) -> Int32 {
    if isStopped { return 0 }
    if let due = timers.earliest { set.wake(at: due) }
    guard let earliest = set.earliest else { return limit?.milliseconds ?? -1 }
    let left = max(.zero, earliest - SuspendingClock.now)
    return min(limit ?? left, left).milliseconds
  }
}

extension Duration {
  /// The duration in milliseconds, rounded up, within what C's timeouts can say.
  package var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    let exact = Double(seconds) * 1000 + Double(attoseconds) / 1e15
    return Int32(min(max(exact.rounded(.up), 0), Double(Int32.max)))
  }
}

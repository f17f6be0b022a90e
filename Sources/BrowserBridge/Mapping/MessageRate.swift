/// So many messages a second, and some more at once after a pause.
package struct MessageRate: Sendable {
  private let interval: Duration
  private let burst: Int
  /// When all that was admitted is paid for.
  private var paid: SuspendingClock.Instant?

  package init(perSecond: Int, burst: Int) {
    interval = .seconds(1) / max(perSecond, 1)
    self.burst = burst
  }

  /// Admits one more message, or tells how long it must wait.
  package mutating func admit(at now: SuspendingClock.Instant = .now) -> Duration? {
    let start = max(paid ?? now, now)
    let ahead = start - now
    guard ahead <= interval * (burst - 1) else { return ahead - interval * (burst - 1) }
    paid = start + interval
    return nil
  }
}

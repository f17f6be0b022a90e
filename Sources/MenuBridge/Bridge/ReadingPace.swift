/// When a program that tells of more is read: after a moment, and less and less often while it goes on to tell of more.
struct ReadingPace {
  /// What adds an action may add more, and the item that stands for it.
  private static let moment = Duration.milliseconds(200)
  private static let (shortest, longest) = (Duration.seconds(1), Duration.seconds(60))

  /// Before when it is not read again.
  private var next: SuspendingClock.Instant?
  /// How long it is left alone after the next reading.
  private var rest = Self.shortest

  /// Takes note of a reading that is wanted now.
  /// - Returns: How long to wait for it.
  mutating func pause(at now: SuspendingClock.Instant) -> Duration {
    if let next, now >= next + rest { rest = Self.shortest }
    let due = max(now + Self.moment, next ?? now)
    next = due + rest
    rest = min(rest * 2, Self.longest)
    return due - now
  }
}

/// How a source comes back to a window manager that restarts, and when it gives up.
package struct Reconnection {
  private static let firstDelay = Duration.milliseconds(50)
  private static let longestDelay = Duration.seconds(2)
  /// How long the windows stay as they were: a window manager that restarts has them again.
  package static let grace = Duration.seconds(3)
  /// How long a window manager may be away before it is taken to be gone for good.
  package static let patience = Duration.seconds(30)

  private var delay = Reconnection.firstDelay
  /// When it failed for the first time since it succeeded.
  private var since: SuspendingClock.Instant?
  /// When it failed for the first time since the windows were told.
  private var lost: SuspendingClock.Instant?

  package init() {}

  /// The windows are told, by one that has yet to show that it lasts.
  package mutating func told() { lost = nil }

  /// The window manager answers.
  package mutating func succeeded() {
    delay = Self.firstDelay
    (since, lost) = (nil, nil)
  }

  /// The window manager is gone.
  /// - Returns: when to try again, nil for never; and whether it has been away too long for its windows to be kept.
  package mutating func failed(
    at now: SuspendingClock.Instant = .now
  ) -> (delay: Duration, isForgotten: Bool)? {
    let (start, loss) = (since ?? now, lost ?? now)
    (since, lost) = (start, loss)
    guard now - start < Self.patience else { return nil }
    defer { delay = min(delay * 2, Self.longestDelay) }
    return (delay, now - loss >= Self.grace)
  }
}

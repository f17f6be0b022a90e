package import EventLoop

/// A wait that its deadline ended.
package struct DeadlinePassed: Error, CustomStringConvertible {
  /// How long a wait lasts where its caller does not say; only a test that fails ever takes so long.
  package static var patience: Duration { .seconds(120) }

  /// The condition that did not come true in time, and the state at the deadline.
  package let description: String

  package init(description: String) { self.description = description }
}

/// Asks again and again, over a bus or otherwise, until `condition` holds.
/// - Throws: `DeadlinePassed` if it does not in time; what `condition` throws.
package func eventually(
  isolation: isolated (any Actor)? = #isolation, _ what: String, _ condition: () async throws -> Bool
) async throws {
  let deadline = SuspendingClock.now + DeadlinePassed.patience
  var pause = Duration.milliseconds(1)
  while try await !condition() {
    guard SuspendingClock.now < deadline else { throw DeadlinePassed(description: "not in time: \(what)") }
    // Longer each time, since asking takes time from what it waits for.
    try await Task.sleep(for: pause)
    pause = min(pause * 2, .milliseconds(50))
  }
}

/// Repeats `round`, which depends on what a program waits for, until the machine holds nothing up meanwhile: a few times.
/// - Throws: `DeadlinePassed` if `round` returns false each time; what it throws.
package func inTime(
  isolation: isolated (any Actor)? = #isolation, _ what: String, _ round: () async throws -> Bool
) async throws {
  for _ in 0..<5 {
    if try await round() { return }
  }
  throw DeadlinePassed(description: "not in time in any round: \(what)")
}

extension EventLoop {
  /// Turns until `condition` holds, asleep between events.
  /// - Throws: `DeadlinePassed` if it does not in time.
  package func turn(until what: String = "condition", _ condition: () -> Bool) throws {
    let deadline = SuspendingClock.now + DeadlinePassed.patience
    while !condition() {
      guard SuspendingClock.now < deadline else { throw DeadlinePassed(description: "not in time: \(what)") }
      turn(waitingAtMost: .seconds(1))
    }
  }
}

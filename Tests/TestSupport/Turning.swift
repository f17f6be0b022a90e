package import EventLoop

/// A condition that did not come true in time.
package struct NotReached: Error {
  package let condition: String

  package init(condition: String) { self.condition = condition }
}

extension EventLoop {
  /// Turns until `condition` holds.
  /// - Throws: `NotReached` if it does not hold within a minute.
  package func turn(until what: String = "condition", _ condition: () -> Bool) throws {
    let deadline = SuspendingClock.now + .seconds(60)
    while !condition() {
      guard SuspendingClock.now < deadline else { throw NotReached(condition: what) }
      turn(waitingAtMost: .seconds(1))
    }
  }
}

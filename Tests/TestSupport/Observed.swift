internal import DBus
internal import Dispatch
internal import EventLoop

/// A state that others change and that a test waits on, woken by each change and by nothing else.
package final class Observed<State: Sendable>: Sendable {
  private struct Waiter {
    /// Tries the state and says whether the wait is over.
    let attempt: @Sendable (State) -> Bool
    let expire: @Sendable (State) -> Void
  }

  private struct Storage {
    var state: State
    var waiters: [UInt64: Waiter] = [:]
    var lastWaiter: UInt64 = 0
  }

  private let storage: Locked<Storage>

  package init(_ state: State) { storage = Locked(Storage(state: state)) }

  /// The state as it is now.
  package var now: State { storage.withLock { $0.state } }

  /// Changes the state and wakes whoever waited for what it is now.
  package func update<Result: Sendable>(_ change: @Sendable (inout State) -> Result) -> Result {
    storage.withLock { storage in
      let result = change(&storage.state)
      for (id, waiter) in storage.waiters where waiter.attempt(storage.state) { storage.waiters[id] = nil }
      return result
    }
  }

  /// Waits until `match` finds something in the state, and returns that.
  /// - Throws: `DeadlinePassed` with `what` and the state after `limit`.
  package func wait<Found: Sendable>(
    for what: String, within limit: Duration = DeadlinePassed.patience, _ match: @escaping @Sendable (State) -> Found?
  ) async throws -> Found {
    try await withCheckedThrowingContinuation { continuation in
      let waiter = Waiter(
        attempt: { state in
          guard let found = match(state) else { return false }
          continuation.resume(returning: found)
          return true
        },
        expire: { state in
          continuation.resume(throwing: DeadlinePassed(description: "no \(what) within \(limit); there is: \(state)"))
        })
      let added: UInt64? = storage.withLock { storage in
        if waiter.attempt(storage.state) { return nil }
        storage.lastWaiter += 1
        storage.waiters[storage.lastWaiter] = waiter
        return storage.lastWaiter
      }
      guard let added else { return }
      let limit = DispatchTimeInterval.milliseconds(Int(limit.components.seconds * 1000))
      DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak self] in
        self?.storage.withLock { storage in
          storage.waiters.removeValue(forKey: added)?.expire(storage.state)
        }
      }
    }
  }
}

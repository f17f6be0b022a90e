internal import DBus
internal import EventLoop

/// Lets so many in at a time, and then whoever came last: a test that runs many cases one after the other waits for each of
/// them, and would else wait behind all others every time, and end alone.
package final class Gate: Sendable {
  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Locked<State>

  package init(places: Int) { state = Locked(State(free: places)) }

  package func enter() async {
    await withCheckedContinuation { continuation in
      let entered = state.withLock { state in
        guard state.free > 0 else {
          state.waiting.append(continuation)
          return false
        }
        state.free -= 1
        return true
      }
      if entered { continuation.resume() }
    }
  }

  package func leave() {
    let next: CheckedContinuation<Void, Never>? = state.withLock { state in
      guard state.waiting.isEmpty else { return state.waiting.removeLast() }
      state.free += 1
      return nil
    }
    next?.resume()
  }
}

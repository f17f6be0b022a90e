internal import Dispatch
internal import Observation
internal import Synchronization

/// Reads a value so that each change of it is noticed, as far as Observation tells of what is read.
///
/// Observation misses a change between a reading and the moment when it begins to look, and tells of one before it is made,
/// by a thread that may be held up in between. So the value is read again a little later, and a few times more.
final class ObservedReading: Sendable {
  /// When it is read again, in milliseconds: each time after twice as long.
  private static let (firstDelay, longestDelay) = (20, 1000)

  /// Whether Observation tells of the next change.
  private let isObserved = Atomic(false)
  /// How often Observation began to look.
  private let beginnings = Atomic(0)
  private let isRechecked = Atomic(false)

  /// Reads the value with `body`; `onChange` is called, on any thread, when it should be read again, with whether Observation
  /// tells of a change.
  func read<Value>(_ body: () -> Value, onChange: @escaping @Sendable (_ isTold: Bool) -> Void) -> Value {
    guard !isObserved.exchange(true, ordering: .acquiringAndReleasing) else { return body() }
    defer {
      beginnings.add(1, ordering: .releasing)
      recheck(onChange)
    }
    return withObservationTracking(body) { [weak self] in
      guard let self else { return }
      isObserved.store(false, ordering: .releasing)
      onChange(true)
    }
  }

  private func recheck(after delay: Int = firstDelay, _ onChange: @escaping @Sendable (Bool) -> Void) {
    guard delay <= Self.longestDelay, !isRechecked.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let known = beginnings.load(ordering: .acquiring)
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in
      guard let self else { return }
      // Whoever finds it true has counted before.
      _ = isRechecked.exchange(false, ordering: .acquiringAndReleasing)
      recheck(after: beginnings.load(ordering: .acquiring) == known ? 2 * delay : Self.firstDelay, onChange)
      onChange(false)
    }
  }
}

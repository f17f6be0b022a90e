internal import DBusTypes
internal import Dispatch
internal import EventLoop
internal import Synchronization

/// How many changes a sequence keeps for a task that does not ask for them; then the oldest are dropped.
private let mostKept = 256

extension FocusClient {
  /// The value of the key at `keyPath` now and after each change, in order, until the task that asks ends.
  ///
  /// A task that does not keep up misses the oldest changes, never the last.
  public func changes<Value: DBusRepresentable>(
    of keyPath: WritableKeyPath<FocusedValues, Binding<Value>?>
  ) -> AsyncStream<Value?> {
    changes(FocusedValues.name(of: keyPath))
  }

  /// The value of the key at `keyPath` now and after each change, in order, until the task that asks ends.
  ///
  /// A task that does not keep up misses the oldest changes, never the last.
  public func changes<Value: DBusRepresentable>(
    of keyPath: WritableKeyPath<FocusedValues, Value?>
  ) -> AsyncStream<Value?> {
    changes(FocusedValues.name(of: keyPath))
  }

  /// Whether the command of the key at `keyPath` can be called, nil if nothing in focus has it, now and after each change.
  public func commandChanges<Value>(of keyPath: WritableKeyPath<FocusedValues, Value?>) -> AsyncStream<Bool?> {
    stream(
      FocusedValues.name(of: keyPath), isSame: { $0.isCommandEnabled == $1.isCommandEnabled },
      element: { shown, _ in shown.isCommandEnabled })
  }

  private func changes<Value: DBusRepresentable>(_ name: String?) -> AsyncStream<Value?> {
    stream(
      name, isSame: { $0.value == $1.value }, element: { shown, slot in shown.value.flatMap { slot?.converted($0) } })
  }

  /// The elements of what is seen of the key `name`, which may be a value's in one field and a command's in another.
  private func stream<Element: Sendable>(
    _ name: String?, isSame: @escaping (Shown, Shown) -> Bool, element: @escaping (Shown, Slot?) -> Element
  ) -> AsyncStream<Element> {
    AsyncStream(bufferingPolicy: .bufferingNewest(mostKept)) { continuation in
      guard let name else {
        report(FocusError("the changes of a property of 'FocusedValues' that is not one key cannot be followed"))
        return continuation.finish()
      }
      let slot = slot(name)
      var last: Shown?
      let cancel = slot.follow(withCurrent: true) { [weak slot] shown in
        if let last, isSame(last, shown) { return }
        last = shown
        continuation.yield(element(shown, slot))
      }
      // The iterator over the changes keeps the client.
      continuation.onTermination = { [self] _ in withExtendedLifetime(self) { cancel() } }
    }
  }
}

/// Calls a closure for each change, until it is cancelled or let go of.
public final class ChangeObservation: Sendable {
  /// Whether the calls were ended, which those who make them see at once.
  private final class Ending: Sendable { let isOver = Atomic(false) }

  private let ending = Ending()
  private let task: Task<Void, Never>

  init<Value: Sendable>(
    _ changes: AsyncStream<Value>, _ action: @escaping @isolated(any) @Sendable (Value, Value) -> Void
  ) {
    task = Task { [ending] in
      var last: Value?
      for await value in changes {
        if let last {
          if action.isolation === MainActor.shared {
            await Self.tellOnMain(last, value, action, ending)
          } else {
            await Self.tell(last, value, action, ending, isolation: action.isolation)
          }
        }
        last = value
      }
    }
  }

  /// Calls `action`, unless its actor has ended the calls.
  private static func tell<Value: Sendable>(
    _ old: Value, _ new: Value, _ action: @escaping @isolated(any) @Sendable (Value, Value) -> Void, _ ending: Ending,
    isolation: isolated (any Actor)?
  ) async {
    if !ending.isOver.load(ordering: .acquiring) { await action(old, new) }
  }

  /// The same for the main actor, on the program's own main loop.
  private static func tellOnMain<Value: Sendable>(
    _ old: Value, _ new: Value, _ action: @escaping @isolated(any) @Sendable (Value, Value) -> Void, _ ending: Ending
  ) async {
    await withCheckedContinuation { told in
      MainThread.post {
        MainActor.assumeIsolated {
          _ = Task.immediate { @MainActor in
            await tell(old, new, action, ending, isolation: MainActor.shared)
            told.resume()
          }
        }
      }
    }
  }

  deinit { cancel() }

  /// Ends the calls.
  public func cancel() {
    ending.isOver.store(true, ordering: .releasing)
    task.cancel()
  }
}

extension FocusClient {
  /// Calls `action` with the value before and after changes of the key at `keyPath`, on the actor where it was made, as
  /// long as the result is kept.
  ///
  /// If it does not keep up, some changes are one, never the last.
  public func onChange<Value: DBusRepresentable>(
    of keyPath: WritableKeyPath<FocusedValues, Binding<Value>?>,
    @_inheritActorContext _ action: @escaping @isolated(any) @Sendable (_ old: Value?, _ new: Value?) -> Void
  ) -> ChangeObservation { ChangeObservation(changes(of: keyPath), action) }

  /// Calls `action` with the value before and after changes of the key at `keyPath`, on the actor where it was made, as
  /// long as the result is kept.
  ///
  /// If it does not keep up, some changes are one, never the last.
  public func onChange<Value: DBusRepresentable>(
    of keyPath: WritableKeyPath<FocusedValues, Value?>,
    @_inheritActorContext _ action: @escaping @isolated(any) @Sendable (_ old: Value?, _ new: Value?) -> Void
  ) -> ChangeObservation { ChangeObservation(changes(of: keyPath), action) }
}

extension State where Value: Sendable {
  /// Calls `action` with the value before and after changes, on the actor where it was made, as long as the result is kept.
  ///
  /// If it does not keep up, some changes are one, never the last.
  public func onChange(
    @_inheritActorContext _ action: @escaping @isolated(any) @Sendable (_ old: Value, _ new: Value) -> Void
  ) -> ChangeObservation { ChangeObservation(changes(), action) }

  /// The value after each change, in order, until the task that asks ends, or nothing can change it
  /// any more; it begins with the value now.
  ///
  /// A task that does not keep up misses the oldest changes, never the last.
  public func changes() -> AsyncStream<Value> { projectedValue.changes() }
}

extension Binding where Value: Sendable {
  /// Calls `action` with the value before and after changes, on the actor where it was made, as long as the result is kept.
  ///
  /// If it does not keep up, some changes are one, never the last.
  public func onChange(
    @_inheritActorContext _ action: @escaping @isolated(any) @Sendable (_ old: Value, _ new: Value) -> Void
  ) -> ChangeObservation { ChangeObservation(changes(), action) }

  /// The value after each change, in order, until the task that asks ends, or nothing can change it
  /// any more; it begins with the value now.
  ///
  /// A task that does not keep up misses the oldest changes, never the last. Of a binding that is made of closures, what
  /// Observation tells is seen: the values of states and of observable objects.
  public func changes() -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(mostKept))
    // Those who follow are told one value after another.
    nonisolated(unsafe) var last: Value?
    // Nobody but the state keeps what follows it.
    let end = StreamEnd { continuation.finish() }
    let cancel = location.follow(withCurrent: true) { value in
      if let last, areEqual(last, value) { return }
      last = value
      withExtendedLifetime(end) { _ = continuation.yield(value) }
    }
    if let cancel {
      continuation.onTermination = { _ in cancel() }
    } else {
      let observation = ValueObservation(continuation, location.isolation) { wrappedValue }
      continuation.onTermination = { _ in withExtendedLifetime(end) { observation.end() } }
      observation.begin()
    }
    return stream
  }
}

/// Calls a closure when it is freed.
private final class StreamEnd: Sendable {
  private let finish: @Sendable () -> Void

  init(_ finish: @escaping @Sendable () -> Void) { self.finish = finish }

  deinit { finish() }
}

/// A value that is read where its binding's closures run, now and after each change that Observation tells of.
private final class ValueObservation<Value: Sendable>: Sendable {
  private let continuation: AsyncStream<Value>.Continuation
  private let value: @Sendable () -> Value
  private let reading = ObservedReading()
  /// Where it is read; nil for the main thread.
  private let queue: DispatchQueue?
  private let last = Locked<Value?>(nil)
  /// How often another value was found, as far as that can be compared.
  private let differences = Atomic(0)
  private let isEnded = Atomic(false)

  init(
    _ continuation: AsyncStream<Value>.Continuation, _ isolation: Isolation, _ value: @escaping @Sendable () -> Value
  ) {
    (self.continuation, self.value) = (continuation, value)
    queue = if case .main = isolation { nil } else { DispatchQueue(label: "org.focusd.FocusKit.observation") }
  }

  /// Looks at once if this thread may: what is changed after the caller goes on is a change.
  func begin() {
    if let queue {
      // On this thread, and not within the queue: there the main thread is not known as that, and would wait for itself.
      queue.suspend()
      look()
      queue.resume()
    } else if MainThread.isCurrent {
      look()
    } else {
      lookLater()
    }
  }

  /// Looks when it is this one's turn; `told` is how many differences were known when a change was told, nil if none was.
  private func lookLater(_ told: Int? = nil) {
    let look: @Sendable () -> Void = { [weak self] in self?.look(told) }
    if let queue { queue.async(execute: look) } else { MainThread.post(look) }
  }

  private func look(_ told: Int? = nil) {
    guard !isEnded.load(ordering: .acquiring) else { return }
    let now = reading.read(value) { [weak self] isTold in
      guard let self else { return }
      lookLater(isTold ? differences.load(ordering: .acquiring) : nil)
    }
    if let before = last.copy {
      if areEqual(before, now) { return }
      let known = differences.load(ordering: .acquiring)
      // What cannot be compared is no change if nothing has told of one, or if that was found meanwhile.
      if !areIdentical(before, now) { differences.add(1, ordering: .releasing) } else if told != known { return }
    }
    last.withLock { $0 = now }
    continuation.yield(now)
  }

  func end() { isEnded.store(true, ordering: .releasing) }
}

internal import DBus
internal import EventLoop
internal import Observation

/// A source of truth: one value and the observers of its changes.
final class Storage<Value>: Location, Observable, Sendable {
  private struct Content {
    var value: Value
    var version: UInt64 = 0
    var sinks: [(number: UInt64, sink: (Value) -> Void)] = []
    var lastSink: UInt64 = 0
  }

  private let content: Locked<Content>
  private let registrar = ObservationRegistrar()

  init(_ value: Value) { content = Locked(Content(value: value)) }

  /// The value's identity for Observation.
  var value: Value { self.get() }

  func get() -> Value {
    registrar.access(self, keyPath: \.value)
    return content.withLock { $0 }.value
  }

  func set(_ value: Value, _ transaction: Transaction) { modify(transaction) { $0 = value } }

  /// The change is applied to a copy, so that the value's own code never runs under the lock, and repeated if another
  /// change came first.
  ///
  /// Observation is notified after the value has changed: another thread that then reads again reads the new value.
  func modify(_ transaction: Transaction, _ change: (inout Value) -> Void) {
    while true {
      let before = content.withLock { $0 }
      var after = before
      change(&after.value)
      guard !areEqual(before.value, after.value) else { return }
      let isDone = content.withLock { content in
        guard content.version == before.version else { return false }
        content.value = after.value
        content.version += 1
        for (_, sink) in content.sinks { sink(after.value) }
        return true
      }
      guard isDone else { continue }
      return registrar.withMutation(of: self, keyPath: \.value) {}
    }
  }

  func follow(_ sink: @escaping (Value) -> Void) -> (@Sendable () -> Void)? {
    let number = content.withLock { content in
      content.lastSink += 1
      content.sinks.append((content.lastSink, sink))
      return content.lastSink
    }
    return { [weak self] in
      guard let self else { return }
      content.withLock { content in content.sinks.removeAll { $0.number == number } }
    }
  }
}

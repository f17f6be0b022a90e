internal import EventLoop
internal import Observation

/// A source of truth: one value and the observers of its changes.
///
/// No code of the value's own runs under the lock: a change is made to a copy, and what it replaces is freed, compared and
/// told outside.
final class Storage<Value>: Location, Observable, Sendable {
  private struct Content {
    var value: Value
    var version: UInt64 = 0
  }

  private let content: Followed<Content, Value>
  private let registrar = ObservationRegistrar()

  init(_ value: Value) { content = Followed(Content(value: value)) { $0.value } }

  /// The value's identity for Observation, which is told of values that `==` calls others.
  var value: Value { self.get() }

  /// The value's identity for those who publish it, who are told of equal values too.
  var stored: Value { self.get() }

  /// The number of the value: how many changes there were.
  var version: UInt64 { content.withLock { $0.version } }

  func get() -> Value {
    registrar.access(self, keyPath: \.value)
    if Publishing.isUnderWay { registrar.access(self, keyPath: \.stored) }
    return peek()
  }

  func peek() -> Value { content.withLock { $0.value } }

  func modify(_ basis: ChangeBasis, _ transaction: Transaction, _ change: @escaping (inout Value) -> Void) {
    while true {
      let (before, version) = content.withLock { ($0.value, $0.version) }
      var after = before
      change(&after)
      let isEqual = areEqual(before, after)
      if commit(ifVersion: version, isEqual: isEqual, { swap(&$0, &after) }) { return }
    }
  }

  /// Replaces the value, unless it has been changed since `version`.
  /// - Returns: whether it was replaced.
  func replace(_ value: Value, ifVersion version: UInt64) -> Bool {
    var value = value
    return commit(ifVersion: version, isEqual: false) { swap(&$0, &value) }
  }

  /// Makes a change that runs none of the value's own code, unless the value has been changed since `version`; observers
  /// are not told of one to an equal value.
  ///
  /// Observation is notified after the value has changed: another thread that then reads again reads the new value.
  private func commit(ifVersion version: UInt64, isEqual: Bool, _ change: (inout Value) -> Void) -> Bool {
    content.update {
      guard $0.version == version else { return false }
      change(&$0.value)
      $0.version += 1
      return true
    } observed: {
      registrar.withMutation(of: self, keyPath: isEqual ? \.stored : \.value) {}
    }
  }

  func follow(withCurrent: Bool, _ sink: @escaping (Value) -> Void) -> (@Sendable () -> Void)? {
    content.follow(withCurrent: withCurrent, sink)
  }
}

extension Storage {
  /// Changes one element of an array in place, as `modify` does with the whole.
  func modifyElement<Element>(at index: Int, _ change: (inout Element) -> Void) -> Element? where Value == [Element] {
    while true {
      let (found, version) = content.withLock { content in
        (content.value.indices.contains(index) ? content.value[index] : nil, content.version)
      }
      guard let before = found else { return nil }
      var after = before
      change(&after)
      let (result, isEqual) = (after, areEqual(before, after))
      if commit(ifVersion: version, isEqual: isEqual, { swap(&$0[index], &after) }) { return result }
    }
  }
}

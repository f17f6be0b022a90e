/// Where a binding's value is: a state, a pair of closures, or a part of another location.
protocol Location<Value>: AnyObject {
  associatedtype Value

  /// Where the value may be read and written.
  var isolation: Isolation { get }

  /// Whether nothing that is written here is kept.
  var isConstant: Bool { get }

  /// The value now; Observation is told that it was read.
  func get() -> Value

  /// The value now, for the binding's own use: not a reading that a write may be based on.
  func peek() -> Value

  /// Replaces the value.
  func set(_ value: Value, _ transaction: Transaction)

  /// Changes the value in place; where the source is a state, no other change is lost between reading and writing.
  func modify(_ transaction: Transaction, _ change: (inout Value) -> Void)

  /// Has `sink` called with each new value, in order, until the result is called.
  ///
  /// The sink is called while the source is locked, and so must not read it.
  /// - Returns: nil where changes cannot be told one by one.
  func follow(_ sink: @escaping (Value) -> Void) -> (@Sendable () -> Void)?
}

extension Location {
  var isolation: Isolation { .anywhere }
  var isConstant: Bool { false }
  func peek() -> Value { get() }

  func modify(_ transaction: Transaction, _ change: (inout Value) -> Void) {
    var value = get()
    change(&value)
    set(value, transaction)
  }

  func follow(_ sink: @escaping (Value) -> Void) -> (@Sendable () -> Void)? { nil }
}

/// Whether two values are known to be equal; values that cannot be compared never are.
func areEqual<Value>(_ left: Value, _ right: Value) -> Bool {
  guard let left = left as? any Equatable else { return false }
  return left.equals(right)
}

extension Equatable {
  fileprivate func equals(_ other: Any) -> Bool { (other as? Self).map { $0 == self } ?? false }
}

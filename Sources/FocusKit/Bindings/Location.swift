/// The source of a binding's value: a state, a pair of closures, or a part of another location.
protocol Location<Value>: AnyObject {
  associatedtype Value

  /// Where the value may be read and written.
  var isolation: Isolation { get }

  /// Whether writes are dropped.
  var isConstant: Bool { get }

  /// The current value; Observation registers the read.
  func get() -> Value

  /// The current value, for the binding's own use: not a read that a write may be based on.
  func peek() -> Value

  /// Replaces the value.
  func set(_ value: Value, _ transaction: Transaction)

  /// The value for a change in place, and what `finish` must know of it.
  func begin() -> (value: Value, reading: SlotReading?)

  /// Ends a change in place of what `begin` returned.
  func finish(_ value: Value, _ reading: SlotReading?, _ transaction: Transaction)

  /// Changes the value in place; if the source is a state, no other change is lost between reading and writing.
  func modify(_ transaction: Transaction, _ change: (inout Value) -> Void)

  /// Calls `sink` with the value now, if `withCurrent`, and with each new one, in order, until the result is called.
  /// - Returns: nil if single changes cannot be observed.
  func follow(withCurrent: Bool, _ sink: @escaping (Value) -> Void) -> (@Sendable () -> Void)?
}

extension Location {
  var isolation: Isolation { .anywhere }
  var isConstant: Bool { false }
  func peek() -> Value { get() }
  func begin() -> (value: Value, reading: SlotReading?) { (get(), nil) }
  func finish(_ value: Value, _ reading: SlotReading?, _ transaction: Transaction) { set(value, transaction) }

  func modify(_ transaction: Transaction, _ change: (inout Value) -> Void) {
    var value = get()
    change(&value)
    set(value, transaction)
  }

  func follow(withCurrent: Bool, _ sink: @escaping (Value) -> Void) -> (@Sendable () -> Void)? { nil }
}

/// Whether two values are known to be equal; values that cannot be compared never are.
func areEqual<Value>(_ left: Value, _ right: Value) -> Bool {
  guard let left = left as? any Equatable else { return false }
  return left.equals(right)
}

/// Compares values of `type`; nil if they cannot be compared.
func equality<Value>(of type: Value.Type) -> ((Value, Value) -> Bool)? {
  (type as? any Equatable.Type)?.equality as? (Value, Value) -> Bool
}

extension Equatable {
  fileprivate func equals(_ other: Any) -> Bool { (other as? Self).map { $0 == self } ?? false }
  fileprivate static var equality: Any { { $0 == $1 } as (Self, Self) -> Bool }
}

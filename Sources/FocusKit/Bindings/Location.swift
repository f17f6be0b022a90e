internal import DBusTypes

/// The source of a binding's value: a state, a pair of closures, or a part of another location.
protocol Location<Value>: AnyObject {
  associatedtype Value

  /// Where the value may be read and written.
  var isolation: Isolation { get }

  /// Whether writes are dropped.
  var isConstant: Bool { get }

  /// The current value; Observation registers the read.
  func get() -> Value

  /// The current value, for the binding's own use: Observation need not know of the read.
  func peek() -> Value

  /// Replaces the value.
  func set(_ value: Value, _ transaction: Transaction)

  /// The value for a change in place, and for a focused value what was read.
  func begin() -> (value: Value, reading: SlotReading?)

  /// Changes the value, or a part of it; `change` is called again if the value has become another meanwhile.
  func modify(_ basis: ChangeBasis, _ transaction: Transaction, _ change: @escaping (inout Value) -> Void)

  /// Calls `sink` with the value now, if `withCurrent`, and after each write, in order, until the result is called.
  /// - Returns: nil if single changes cannot be observed.
  func follow(withCurrent: Bool, _ sink: @escaping (Value) -> Void) -> (@Sendable () -> Void)?
}

/// What a change follows from, which matters to focused values: others may change those at the same time.
enum ChangeBasis {
  /// Nothing: the value, or a part of it, is assigned.
  case assignment
  /// The value that `change` is called with.
  case update(WriteRule)
  /// The value that was read when the change in place began.
  case inPlace(SlotReading, WriteRule)
}

extension Location {
  var isolation: Isolation { .anywhere }
  var isConstant: Bool { false }
  func peek() -> Value { get() }
  func begin() -> (value: Value, reading: SlotReading?) { (get(), nil) }
  func set(_ value: Value, _ transaction: Transaction) { modify(.assignment, transaction) { $0 = value } }

  /// Ends a change in place of what `begin` returned.
  func finish(_ value: Value, _ reading: SlotReading?, _ transaction: Transaction) {
    guard let reading else { return set(value, transaction) }
    modify(.inPlace(reading, .ofValues(Value.self)), transaction) { $0 = value }
  }

  func follow(withCurrent: Bool, _ sink: @escaping (Value) -> Void) -> (@Sendable () -> Void)? { nil }
}

/// Whether those who follow a value need not be told of `after`: `==` decides, and for texts their bytes.
///
/// Values that cannot be compared are never equal.
func areEqual<Value>(_ before: Value, _ after: Value) -> Bool {
  if let before = before as? String, let after = after as? String { return before.hasSameBytes(as: after) }
  if Value.self == [String].self, let before = before as? [String], let after = after as? [String] {
    return before.elementsEqual(after) { $0.hasSameBytes(as: $1) }
  }
  return (before as? any Equatable)?.equals(after) ?? false
}

extension Equatable {
  fileprivate func equals(_ other: Any) -> Bool { (other as? Self).map { $0 == self } ?? false }
}

/// Whether two values consist of the same bytes, and so are the same whatever `==` says.
func areIdentical<Value>(_ left: Value, _ right: Value) -> Bool {
  withUnsafeBytes(of: left) { left in withUnsafeBytes(of: right) { left.elementsEqual($0) } }
}

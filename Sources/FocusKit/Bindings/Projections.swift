internal import EventLoop

/// A value behind two closures.
final class ClosureLocation<Value>: Location {
  let isolation: Isolation
  private let read: @Sendable () -> Value
  private let write: @Sendable (Value, Transaction) -> Void

  init(
    _ isolation: Isolation, _ read: @escaping @Sendable () -> Value,
    _ write: @escaping @Sendable (Value, Transaction) -> Void
  ) {
    self.isolation = isolation
    self.read = read
    self.write = write
  }

  func get() -> Value { isolation.run { read() } }

  func set(_ value: Value, _ transaction: Transaction) {
    isolation.run { Transaction.$current.withValue(transaction) { write(value, transaction) } }
  }

  func modify(_ basis: ChangeBasis, _ transaction: Transaction, _ change: @escaping (inout Value) -> Void) {
    isolation.run {
      var value = read()
      change(&value)
      Transaction.$current.withValue(transaction) { write(value, transaction) }
    }
  }
}

/// A value that never changes.
final class ConstantLocation<Value>: Location {
  private let value: Value

  init(_ value: Value) { self.value = value }

  var isConstant: Bool { true }
  func get() -> Value { value }
  func modify(_ basis: ChangeBasis, _ transaction: Transaction, _ change: @escaping (inout Value) -> Void) {
    var value = value
    change(&value)
  }

  func follow(withCurrent: Bool, _ sink: @escaping (Value) -> Void) -> (@Sendable () -> Void)? {
    if withCurrent { sink(value) }
    return {}
  }
}

/// A location whose value is a part of that of another, or contains it.
protocol Projection<Value>: Location {
  associatedtype Base

  var base: any Location<Base> { get }

  /// The part of `value`; if the value has no such part, the part that was seen last.
  func part(of value: Base) -> Value
}

extension Projection {
  var isolation: Isolation { base.isolation }
  var isConstant: Bool { base.isConstant }
  func get() -> Value { part(of: base.get()) }

  func begin() -> (value: Value, reading: SlotReading?) {
    let (value, reading) = base.begin()
    return (part(of: value), reading)
  }
}

/// A member of the value at another location.
final class KeyPathLocation<Root, Value>: Projection {
  let base: any Location<Root>
  private let keyPath: WritableKeyPath<Root, Value>

  init(_ base: any Location<Root>, _ keyPath: WritableKeyPath<Root, Value>) {
    self.base = base
    self.keyPath = keyPath
  }

  func part(of value: Root) -> Value { value[keyPath: keyPath] }

  func modify(_ basis: ChangeBasis, _ transaction: Transaction, _ change: @escaping (inout Value) -> Void) {
    base.modify(basis, transaction) { [keyPath] in change(&$0[keyPath: keyPath]) }
  }

  func follow(withCurrent: Bool, _ sink: @escaping (Value) -> Void) -> (@Sendable () -> Void)? {
    base.follow(withCurrent: withCurrent) { [keyPath] in sink($0[keyPath: keyPath]) }
  }
}

/// A member of an object at another location, which also changes by itself.
final class MemberLocation<Root, Value>: Location {
  let isolation: Isolation
  private let base: any Location<Root>
  private let keyPath: ReferenceWritableKeyPath<Root, Value>

  init(_ base: any Location<Root>, _ keyPath: ReferenceWritableKeyPath<Root, Value>) {
    isolation = MainThread.isCurrent ? .main : base.isolation
    self.base = base
    self.keyPath = keyPath
  }

  func get() -> Value { isolation.run { base.get()[keyPath: keyPath] } }

  // The location is told, too, since Observation knows nothing of members that are ignored, or a subclass's.
  func modify(_ basis: ChangeBasis, _ transaction: Transaction, _ change: @escaping (inout Value) -> Void) {
    isolation.run {
      Transaction.$current.withValue(transaction) {
        base.modify(basis, transaction) { [keyPath] in change(&$0[keyPath: keyPath]) }
      }
    }
  }
}

/// The last value that a location saw, for use after its source has lost it.
final class LastSeen<Value>: Sendable {
  private let last: Locked<Value>

  init(_ value: Value) { last = Locked(value) }

  /// Keeps `value` if it is not nil, and returns the last value kept.
  func keeping(_ value: Value?) -> Value {
    guard let value else { return last.withLock { $0 } }
    // Free the replaced value outside of the lock: its deinitializer may run arbitrary code.
    let old = last.withLock { last in
      let old = last
      last = value
      return old
    }
    return withExtendedLifetime(old) { value }
  }
}

/// An element of a collection at another location, while its index is valid.
final class ElementLocation<Values: MutableCollection & RandomAccessCollection>: Projection {
  typealias Value = Values.Element

  let base: any Location<Values>
  private let index: Values.Index
  private let last: LastSeen<Value>

  init(_ base: any Location<Values>, _ index: Values.Index, _ value: Value) {
    self.base = base
    self.index = index
    last = LastSeen(value)
  }

  func part(of values: Values) -> Value { last.keeping(Self.has(values, index) ? values[index] : nil) }

  func modify(_ basis: ChangeBasis, _ transaction: Transaction, _ change: @escaping (inout Value) -> Void) {
    // An array's other elements stay where they are.
    if let storage = base as? Storage<[Value]>, let index = index as? Int {
      if let element = storage.modifyElement(at: index, change) { _ = last.keeping(element) }
      return
    }
    base.modify(basis, transaction) { [index, last] values in
      guard Self.has(values, index) else { return }
      change(&values[index])
      _ = last.keeping(values[index])
    }
  }

  func follow(withCurrent: Bool, _ sink: @escaping (Value) -> Void) -> (@Sendable () -> Void)? {
    base.follow(withCurrent: withCurrent) { [index] values in
      if Self.has(values, index) { sink(values[index]) }
    }
  }

  private static func has(_ values: Values, _ index: Values.Index) -> Bool {
    index >= values.startIndex && index < values.endIndex
  }
}

/// A value as an optional.
final class PromotedLocation<Wrapped>: Projection {
  let base: any Location<Wrapped>

  init(_ base: any Location<Wrapped>) { self.base = base }

  func part(of value: Wrapped) -> Wrapped? { value }

  func set(_ value: Wrapped?, _ transaction: Transaction) {
    if let value { base.set(value, transaction) }
  }

  func modify(_ basis: ChangeBasis, _ transaction: Transaction, _ change: @escaping (inout Wrapped?) -> Void) {
    base.modify(basis, transaction) { value in
      var optional: Wrapped? = value
      change(&optional)
      if let optional { value = optional }
    }
  }

  func follow(withCurrent: Bool, _ sink: @escaping (Wrapped?) -> Void) -> (@Sendable () -> Void)? {
    base.follow(withCurrent: withCurrent) { sink($0) }
  }
}

/// The value within an optional.
final class UnwrappedLocation<Value>: Projection {
  let base: any Location<Value?>
  private let last: LastSeen<Value>

  init(_ base: any Location<Value?>, _ value: Value) {
    self.base = base
    last = LastSeen(value)
  }

  func part(of value: Value?) -> Value { last.keeping(value) }

  func set(_ value: Value, _ transaction: Transaction) {
    base.set(value, transaction)
    _ = last.keeping(base.peek())
  }

  func modify(_ basis: ChangeBasis, _ transaction: Transaction, _ change: @escaping (inout Value) -> Void) {
    base.modify(basis, transaction) { [last] optional in
      var value = optional ?? last.keeping(nil)
      change(&value)
      optional = value
    }
    _ = last.keeping(base.peek())
  }

  func follow(withCurrent: Bool, _ sink: @escaping (Value) -> Void) -> (@Sendable () -> Void)? {
    base.follow(withCurrent: withCurrent) { value in
      if let value { sink(value) }
    }
  }
}

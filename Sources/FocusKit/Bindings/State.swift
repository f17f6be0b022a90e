/// A value that belongs to its declaration; others access it through the binding `$name`.
///
/// SwiftUI's `State`, usable from any thread. What is assigned is stored and published, also if it is equal to the value
/// before; `==` decides whether Observation, ``changes()`` and ``onChange(_:)`` tell of it, and for a text its bytes.
///
/// An assignment through a binding to a member or element changes that alone, whatever other threads assign to others.
/// `count += 1` is a read, then a write, as everywhere in Swift: a change of another thread in between is lost. ``update(_:)``
/// loses none.
@propertyWrapper
public struct State<Value> {
  let storage: Storage<Value>

  /// Creates a state with its first value.
  public init(wrappedValue: Value) { storage = Storage(wrappedValue) }

  /// Creates a state with its first value.
  public init(initialValue: Value) { storage = Storage(initialValue) }

  /// The value.
  public var wrappedValue: Value {
    get { storage.get() }
    nonmutating set { storage.set(newValue, Transaction.current) }
  }

  /// Changes the value, and loses no other change, on any thread.
  ///
  /// No lock is held meanwhile. If the value has become another, `change` is called again with that, so it should have no
  /// effect but its argument's.
  public func update(_ change: (inout Value) -> Void) { projectedValue.update(change) }

  /// A binding to the value.
  public var projectedValue: Binding<Value> { Binding(storage) }
}

extension State where Value: ExpressibleByNilLiteral {
  /// Creates a state that is nil.
  public init() { self.init(wrappedValue: nil) }
}

extension State: Sendable where Value: Sendable {}

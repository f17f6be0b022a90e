/// A value that belongs to its declaration; others access it through the binding `$name`.
///
/// SwiftUI's `State`, usable from any thread. Observation sees each change; writing an equal value is not a change.
/// A change through a binding's member or element is never lost to a concurrent one, but `count += 1` is a read, then a
/// write, as everywhere in Swift.
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

  /// A binding to the value.
  public var projectedValue: Binding<Value> { Binding(storage) }
}

extension State where Value: ExpressibleByNilLiteral {
  /// Creates a state that is nil.
  public init() { self.init(wrappedValue: nil) }
}

extension State: Sendable where Value: Sendable {}

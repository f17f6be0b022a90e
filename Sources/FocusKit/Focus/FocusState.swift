/// Which of several fields has focus, or whether one has, as the daemon says: SwiftUI's `FocusState`.
///
/// A field is joined to it with ``FocusField/focused(_:equals:)``. Assigning a field's value asks for focus for that field,
/// assigning nil or false gives it up; when focus moves otherwise, the value follows.
@propertyWrapper
public struct FocusState<Value: Hashable & Sendable>: Sendable {
  /// What a field is joined to a focus state with.
  @propertyWrapper
  public struct Binding: Sendable {
    let storage: Storage<Value>

    /// The value.
    public var wrappedValue: Value {
      get { storage.get() }
      nonmutating set { storage.set(newValue, Transaction.current) }
    }

    /// The binding itself.
    public var projectedValue: Binding { self }
  }

  private let storage: Storage<Value>
  let unfocused: Value

  /// Creates a state for one field, which is true while that has focus.
  public init() where Value == Bool {
    unfocused = false
    storage = Storage(false)
  }

  /// Creates a state for several fields, which is nil while none of them has focus.
  public init<Wrapped: Hashable>() where Value == Wrapped? {
    unfocused = nil
    storage = Storage(nil)
  }

  /// Which field has focus.
  public var wrappedValue: Value {
    get { storage.get() }
    nonmutating set { storage.set(newValue, Transaction.current) }
  }

  /// What a field is joined to the state with.
  public var projectedValue: Binding { Binding(storage: storage) }
}

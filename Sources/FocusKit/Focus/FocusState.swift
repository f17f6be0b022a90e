/// Which of several fields has focus, or whether one field has focus: SwiftUI's `FocusState`.
///
/// ``FocusField/focused(_:equals:)`` connects a field to it. Assigning a field's value requests focus for that field,
/// assigning nil or false gives focus up; when focus moves otherwise, or the field is taken away, the value follows.
@propertyWrapper
public struct FocusState<Value: Hashable & Sendable>: Sendable {
  /// Connects a field to a focus state.
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

  /// Creates a state for one field, which is true while the field has focus.
  public init() where Value == Bool { storage = Storage(false) }

  /// Creates a state for several fields, which becomes nil when the one that has focus loses it.
  ///
  /// A value of no field stays until one of them gets focus, and what it was stays while there is no daemon.
  public init<Wrapped: Hashable>() where Value == Wrapped? { storage = Storage(nil) }

  /// Which field has focus.
  public var wrappedValue: Value {
    get { storage.get() }
    nonmutating set { storage.set(newValue, Transaction.current) }
  }

  /// The binding that connects a field to the state.
  public var projectedValue: Binding { Binding(storage: storage) }
}

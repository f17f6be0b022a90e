/// Reads and writes a value whose source of truth is elsewhere: SwiftUI's `Binding`.
///
/// Members that can be written are bindings of their own (`$person.name`), and so are the elements of a collection
/// (`$todos[0].done`, `$todos.forEach { $todo in … }`).
///
/// A binding to an element that is gone keeps the last value that it saw, and what is written to it is dropped: neither
/// is an error. To ask for an element that is not there is one, as it is for the collection itself.
@propertyWrapper @dynamicMemberLookup
public struct Binding<Value> {
  let location: any Location<Value>

  /// What travels with each change that is made through the binding.
  public var transaction = Transaction()

  init(_ location: any Location<Value>, _ transaction: Transaction = Transaction()) {
    self.location = location
    self.transaction = transaction
  }

  /// Creates a binding that is read and written by closures.
  ///
  /// Those of the main actor are called there, whoever reads or writes; others wherever that happens.
  @preconcurrency
  public init(
    @_inheritActorContext get: @escaping @isolated(any) @Sendable () -> Value,
    @_inheritActorContext set: @escaping @isolated(any) @Sendable (Value) -> Void
  ) {
    let isolation = Isolation([get.isolation, set.isolation])
    // Such a function is called with `await`, or, where its isolation has been seen to, as what it is otherwise.
    let read = unsafeBitCast(get, to: (@Sendable () -> Value).self)
    let write = unsafeBitCast(set, to: (@Sendable (Value) -> Void).self)
    self.init(ClosureLocation(isolation, read) { value, _ in write(value) })
  }

  /// Creates a binding that is read and written by closures, the latter with what travels with the change.
  ///
  /// Those of the main actor are called there, whoever reads or writes; others wherever that happens.
  @preconcurrency
  public init(
    @_inheritActorContext get: @escaping @isolated(any) @Sendable () -> Value,
    @_inheritActorContext set: @escaping @isolated(any) @Sendable (Value, Transaction) -> Void
  ) {
    let isolation = Isolation([get.isolation, set.isolation])
    let read = unsafeBitCast(get, to: (@Sendable () -> Value).self)
    let write = unsafeBitCast(set, to: (@Sendable (Value, Transaction) -> Void).self)
    self.init(ClosureLocation(isolation, read, write))
  }

  /// Creates a binding from another to the same value.
  public init(projectedValue: Binding<Value>) { self = projectedValue }

  /// A binding to a value that never changes: what is written to it is dropped.
  public static func constant(_ value: Value) -> Binding<Value> { Binding(ConstantLocation(value)) }

  /// The value.
  public var wrappedValue: Value {
    get { location.get() }
    nonmutating set {
      let transaction = Transaction.current.merging(transaction)
      Transaction.$current.withValue(transaction) { location.set(newValue, transaction) }
    }
  }

  /// The binding itself, so that it can be handed on as `$name`.
  public var projectedValue: Binding<Value> { self }

  /// A binding to a member of the value.
  public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
    Binding<Subject>(KeyPathLocation(location, keyPath), transaction)
  }

  /// The same binding, whose changes carry `transaction`.
  public func transaction(_ transaction: Transaction) -> Binding<Value> { Binding(location, transaction) }
}

// What it holds are states, which are locked, and closures, which are Sendable.
extension Binding: @unchecked Sendable where Value: Sendable {}

extension Binding {
  /// Creates a binding to an optional from one to a value; nil that is written to it is dropped.
  public init<Wrapped>(_ base: Binding<Wrapped>) where Value == Wrapped? {
    self.init(PromotedLocation(base.location), base.transaction)
  }

  /// Creates a binding to the value within an optional, or nil where there is none now.
  ///
  /// When the optional becomes nil, the binding keeps the last value that it saw.
  public init?(_ base: Binding<Value?>) {
    guard let value = base.wrappedValue else { return nil }
    self.init(UnwrappedLocation(base.location, value), base.transaction)
  }

  /// Creates a binding to a value of any hashable type; a value of another type that is written to it is dropped.
  public init<Content: Hashable>(_ base: Binding<Content>) where Value == AnyHashable {
    self.init(HashableLocation(base.location), base.transaction)
  }
}

extension Binding: Identifiable where Value: Identifiable {
  /// What identifies the value.
  public var id: Value.ID { wrappedValue.id }
}

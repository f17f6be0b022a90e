internal import Observation

/// Reads and writes a value whose source of truth is elsewhere: SwiftUI's `Binding`.
///
/// Writable members have bindings too (`$person.name`), and so do the elements of a collection (`$todos[0].done`,
/// `$todos.forEach { $todo in … }`).
///
/// A binding to an element that no longer exists keeps the last value that it saw and drops writes; neither is an error.
/// Subscripting a missing element traps, as in the collection itself.
@propertyWrapper @dynamicMemberLookup
public struct Binding<Value> {
  let location: any Location<Value>

  /// The transaction of each change through the binding.
  public var transaction = Transaction()

  init(_ location: any Location<Value>, _ transaction: Transaction = Transaction()) {
    self.location = location
    self.transaction = transaction
  }

  /// Creates a binding that is read and written by closures.
  ///
  /// Closures of the main actor are always called there; others on the thread that reads or writes. On another actor, the
  /// compiler refuses it, since `isolation` is nil or the main actor; closures that name another actor themselves cannot be
  /// published, and trap when they are read.
  ///
  /// A field publishes what `get` returns again when Observation tells of a change: of a ``State``, a focused value, or a
  /// property of an `@Observable` type. What changes in another way, others see as it was.
  @preconcurrency
  public init(
    @_inheritActorContext get: @escaping @isolated(any) @Sendable () -> Value,
    @_inheritActorContext set: @escaping @isolated(any) @Sendable (Value) -> Void,
    isolation: MainActor? = #isolation
  ) {
    let write = unsafeBitCast(set, to: (@Sendable (Value) -> Void).self)
    self.init(Isolation([get.isolation, set.isolation, isolation]), get) { value, _ in write(value) }
  }

  /// Creates a binding that is read and written by closures; the setter receives the change's transaction.
  ///
  /// Closures of the main actor are always called there; others on the thread that reads or writes. On another actor, the
  /// compiler refuses it, since `isolation` is nil or the main actor; closures that name another actor themselves cannot be
  /// published, and trap when they are read.
  ///
  /// A field publishes what `get` returns again when Observation tells of a change: of a ``State``, a focused value, or a
  /// property of an `@Observable` type. What changes in another way, others see as it was.
  @preconcurrency
  public init(
    @_inheritActorContext get: @escaping @isolated(any) @Sendable () -> Value,
    @_inheritActorContext set: @escaping @isolated(any) @Sendable (Value, Transaction) -> Void,
    isolation: MainActor? = #isolation
  ) {
    let write = unsafeBitCast(set, to: (@Sendable (Value, Transaction) -> Void).self)
    self.init(Isolation([get.isolation, set.isolation, isolation]), get, write)
  }

  /// Such functions can only be called with `await`, and Swift has no conversion to those that are not isolated.
  ///
  /// SwiftUI declares the same initializers, and a program's closures must compile. So the location calls them as what they
  /// are once their isolation is ensured, and never those of a foreign actor; `IsolationTests` and `MainActorTests` check it.
  private init(
    _ isolation: Isolation, _ get: @escaping @isolated(any) @Sendable () -> Value,
    _ write: @escaping @Sendable (Value, Transaction) -> Void
  ) {
    self.init(ClosureLocation(isolation, unsafeBitCast(get, to: (@Sendable () -> Value).self), write))
  }

  /// Creates a binding from another to the same value.
  public init(projectedValue: Binding<Value>) { self = projectedValue }

  /// A binding to a value that never changes and drops writes.
  public static func constant(_ value: Value) -> Binding<Value> { Binding(ConstantLocation(value)) }

  /// The value.
  public var wrappedValue: Value {
    get { location.get() }
    nonmutating set {
      let transaction = Transaction.current.merging(transaction)
      Transaction.$current.withValue(transaction) { location.set(newValue, transaction) }
    }
    nonmutating _modify {
      var (value, reading) = location.begin()
      defer {
        let transaction = Transaction.current.merging(transaction)
        Transaction.$current.withValue(transaction) { location.finish(value, reading, transaction) }
      }
      yield &value
    }
  }

  /// Changes the value, and loses no other change of this process: of a state, or a member or element of one, on any thread;
  /// of an object's members, on the main actor alone.
  ///
  /// No lock is held meanwhile. If the value has become another, `change` is called again with that, so it should have no
  /// effect but its argument's. The value of a focused field is changed as in place, see ``FocusedBinding``. Closures of a
  /// `Binding(get:set:)` are called one after the other, on the main actor with nothing in between.
  public func update(_ change: (inout Value) -> Void) {
    let transaction = Transaction.current.merging(transaction)
    Transaction.$current.withValue(transaction) {
      withoutActuallyEscaping(change) { location.modify(.update(.ofValues(Value.self)), transaction, $0) }
    }
  }

  /// The binding itself, so that it can be passed on as `$name`.
  public var projectedValue: Binding<Value> { self }

  /// A binding to a member of the value.
  ///
  /// A member of an `@Observable` object is published again when Observation tells of a change. It is read and written on the
  /// main actor if the binding to it is made there.
  public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
    if Value.self is any Observable.Type, let keyPath = keyPath as? ReferenceWritableKeyPath<Value, Subject> {
      return Binding<Subject>(MemberLocation(location, keyPath), transaction)
    }
    return Binding<Subject>(KeyPathLocation(location, keyPath), transaction)
  }

  /// The same binding, with `transaction` for its changes.
  public func transaction(_ transaction: Transaction) -> Binding<Value> { Binding(location, transaction) }
}

// It contains states, which are locked, and closures, which are Sendable.
extension Binding: @unchecked Sendable where Value: Sendable {}

extension Binding {
  /// Creates a binding to an optional from one to a value; writing nil does nothing.
  public init<Wrapped>(_ base: Binding<Wrapped>) where Value == Wrapped? {
    self.init(PromotedLocation(base.location), base.transaction)
  }

  /// Creates a binding to the value within an optional, or nil if the optional is currently nil.
  ///
  /// When the optional becomes nil, the binding keeps the last value that it saw.
  public init?(_ base: Binding<Value?>) {
    guard let value = base.wrappedValue else { return nil }
    self.init(UnwrappedLocation(base.location, value), base.transaction)
  }
}

extension Binding: Identifiable where Value: Identifiable {
  /// The identity of the value.
  public var id: Value.ID { wrappedValue.id }
}

/// The currently focused value of a key, or nil: SwiftUI's `FocusedValue`.
///
/// Reading it sends no message. Observation sees its changes.
///
/// A command or a binding that is read from it goes to the field that has focus when it is called or written, not to the one
/// that had focus when it was read.
@propertyWrapper
public struct FocusedValue<Value> {
  private let read: () -> Value?

  /// Creates the wrapper for the key at `keyPath`, as `client` knows it.
  public init(_ keyPath: KeyPath<FocusedValues, Value?>, client: FocusClient = .shared) {
    if let name = FocusedValues.name(of: keyPath) {
      read = FocusedContent.reader(Value.self, client.slot(name), client)
    } else {
      client.start()
      read = { FocusedValues(.focused(client))[keyPath: keyPath] }
    }
  }

  init(read: @escaping () -> Value?) { self.read = read }

  /// The value, or nil if no field with focus publishes the key, or until the daemon has replied.
  public var wrappedValue: Value? { read() }
}

// It contains the client and a slot, which are Sendable, and a key path, which is immutable.
extension FocusedValue: @unchecked Sendable where Value: Sendable {}

/// A binding to the currently focused value of a key, read and written in place: SwiftUI's `FocusedBinding`.
///
/// Reading it sends no message. A write is visible at once in this process; those that were not sent yet are sent as one. A
/// write of the value that is visible already is not sent.
/// It never changes a field other than the one that had focus when it was made, and is refused, reported to the client's
/// error handler and undone here if it cannot be made:
///
/// - An assignment, `number = 8`, replaces the value that this process knows when it is made, and is refused if another
///   program has replaced that meanwhile.
/// - An assignment of a member or an element, `$person.name.wrappedValue = …`, is made in the newer value: it replaces that
///   member and leaves the others as they are.
/// - A change in place, `number? += 1`, `isOn?.toggle()`, `text? += "…"`, is made in the newer value: a number changes by
///   the same difference. So is `$person.age.wrappedValue += 1`, and a change of a part, `todos?.append(…)`,
///   `person?.name = …`, but that is refused if another program changed the same part. A plain assignment after `?`,
///   `number? = 8`, is a change in place to Swift: leave out the `?`. For a wrapper that is a local variable of a function Swift
///   makes a plain assignment of any change in place: write `$number.wrappedValue? += 1` there, or declare it in a type.
///
/// For a change that must be computed again from the newer value, such as `number *= 8`, and to learn of its result, there
/// is `FocusClient.update`. While the value is nil, a write does nothing, and neither does writing nil.
///
/// A write just before the program exits may be lost: await a call of the client first, such as `FocusClient.read`, which is
/// sent after all writes.
@propertyWrapper
public struct FocusedBinding<Value: DBusRepresentable>: Sendable {
  private let binding: Binding<Value?>

  /// Creates the wrapper for the key at `keyPath`, as `client` knows it.
  public init(_ keyPath: KeyPath<FocusedValues, Binding<Value>?>, client: FocusClient = .shared) {
    if let name = FocusedValues.name(of: keyPath) {
      binding = Binding(FocusedLocation<Value>(client.slot(name), client))
      return
    }
    client.start()
    // A key path is immutable, and only used for reading.
    nonisolated(unsafe) let keyPath = keyPath
    let current = { @Sendable in FocusedValues(.focused(client))[keyPath: keyPath] }
    binding = Binding(
      get: { current()?.wrappedValue },
      set: { value in
        if let value { current()?.wrappedValue = value }
      })
  }

  /// The value, or nil.
  public var wrappedValue: Value? {
    get { binding.wrappedValue }
    nonmutating set { binding.wrappedValue = newValue }
    nonmutating _modify { yield &binding.wrappedValue }
  }

  /// A binding to the optional value.
  public var projectedValue: Binding<Value?> { binding }
}

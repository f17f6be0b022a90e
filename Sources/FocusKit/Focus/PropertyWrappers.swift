/// The value of a key that is focused now, or nil: SwiftUI's `FocusedValue`.
///
/// Reading it sends nothing. Observation sees its changes.
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

  /// The value, or nil where nothing that has focus publishes the key, or before the daemon has answered.
  public var wrappedValue: Value? { read() }
}

// It holds the client and a slot, which are Sendable, and a key path, which is immutable.
extension FocusedValue: @unchecked Sendable where Value: Sendable {}

/// A binding to the value of a key that is focused now, read and written in place: SwiftUI's `FocusedBinding`.
///
/// Reading it sends nothing. A write is seen at once in this process and carries which state of which field was read last
/// through the same wrapper: where focus or the value is another by then, it is refused, reported to the client's error
/// handler, and undone here; it never lands in another field. A write without a reading since the last is of what is there. While the value is nil, and where nil is written, a write does nothing.
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
    // A key path is immutable, and is only read through.
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
  }

  /// A binding to the optional value.
  public var projectedValue: Binding<Value?> { binding }
}

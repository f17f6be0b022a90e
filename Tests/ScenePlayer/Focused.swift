import FocusKit

/// What has focus, as an order names it: by its key path, and as text.
@MainActor struct Focused {
  /// What the property wrapper says now.
  let get: () -> String
  /// Assigns through the property wrapper.
  let assign: (String) throws -> Void
  /// Writes, and waits for what became of it.
  let write: @MainActor (String) async throws -> String
  /// Each value, in order.
  let changes: () -> AsyncStream<String>

  private init<Value: Codable & DBusRepresentable>(
    _ keyPath: WritableKeyPath<FocusedValues, Binding<Value>?>, _ binding: Binding<Value?>
  ) {
    get = { encoded(binding.wrappedValue) }
    assign = { binding.wrappedValue = $0 == "nil" ? nil : try decoded($0) }
    write = { encoded(try await FocusClient.shared.write(keyPath, try decoded($0) as Value)) }
    changes = { Focused.texts(FocusClient.shared.changes(of: keyPath)) }
  }

  private init(_ title: FocusedValue<String>) {
    get = { encoded(title.wrappedValue) }
    assign = { _ in throw Misunderstood("a value without a binding is not assigned to") }
    write = { encoded(try await FocusClient.shared.write("demo.Form.Title", $0)) }
    changes = { Focused.texts(FocusClient.shared.changes(of: \.title)) }
  }

  private static func texts<Value: Codable & Sendable>(_ changes: AsyncStream<Value?>) -> AsyncStream<String> {
    AsyncStream { continuation in
      let task = Task {
        for await value in changes { continuation.yield(encoded(value)) }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  static func named(_ name: String, _ toolbar: Toolbar) throws -> Focused {
    switch name {
    case "number": Focused(\.number, toolbar.$number)
    case "title": Focused(FocusedValue(\.title))
    case "playing": Focused(\.playing, toolbar.$playing)
    case "person": Focused(\.person, toolbar.$person)
    case "todos": Focused(\.todos, toolbar.$todos)
    case "lamps": Focused(\.lamps, toolbar.$lamps)
    case "position": Focused(\.position, toolbar.$position)
    default: throw Misunderstood("no key '\(name)'")
    }
  }
}

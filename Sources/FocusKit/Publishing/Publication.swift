internal import DBusTypes
internal import Observation

/// A key that a field publishes, as a property of the exported object.
struct PublishedProperty: Sendable {
  let type: DBusType
  let isolation: Isolation
  /// Sets a value that another program wrote; nil if the key is read-only.
  let set: (@Sendable (DBusValue) throws -> Void)?
  let get: @Sendable () throws -> DBusValue
  /// Calls the sink with each new value, in order; nil if only Observation knows of changes.
  let follow: @Sendable (@escaping @Sendable (DBusValue) -> Void) -> (@Sendable () -> Void)?

  /// The same for others to read alone.
  var readOnly: PublishedProperty {
    PublishedProperty(type: type, isolation: isolation, set: nil, get: get, follow: follow)
  }

  /// The value now; `onChange` is called once when it is another.
  func observed(_ onChange: @escaping @Sendable () -> Void) throws -> DBusValue {
    try isolation.run { try withObservationTracking({ Result { try get() } }, onChange: onChange).get() }
  }
}

/// A key that a field publishes, as a method of the exported object.
struct PublishedCommand: Sendable {
  let input: [DBusType]
  let output: [DBusType]
  let run: @Sendable ([DBusValue]) async throws -> [DBusValue]
}

/// A key with what a field publishes for it.
struct Publication: Sendable {
  enum Content: Sendable {
    case property(PublishedProperty)
    case command(PublishedCommand)
    /// The key's type has no form on the bus.
    case unsupported(String)
  }

  let name: String
  let content: Content

  init(_ name: String, _ content: Content) {
    self.name = name
    self.content = content
  }

  init<Value>(_ name: String, _ value: Value) {
    self.name = name
    if let binding = value as? any PublishableBinding {
      content = .property(binding.published(nil))
    } else if let value = value as? any DBusRepresentable {
      content = .property(Self.constant(value))
    } else if let command = Commands.published(value) {
      content = .command(command)
    } else {
      content = .unsupported("\(Value.self)")
    }
  }

  private static func constant<Value: DBusRepresentable>(_ value: Value) -> PublishedProperty {
    PublishedProperty(
      type: Value.dbusType, isolation: .anywhere, set: nil, get: { try value.dbusValue() }, follow: { _ in {} })
  }
}

/// A binding that a field can publish.
protocol PublishableBinding {
  associatedtype Value

  /// The binding as a property, whose writes from elsewhere `validate` may refuse.
  func published(_ validate: (@Sendable (Value) throws -> Void)?) -> PublishedProperty
}

extension Binding: PublishableBinding where Value: DBusRepresentable {
  func published(_ validate: (@Sendable (Value) throws -> Void)?) -> PublishedProperty {
    let set = { @Sendable (value: DBusValue) in
      let value = try Value(dbusValue: value)
      try location.isolation.run {
        try validate?(value)
        wrappedValue = value
      }
    }
    return PublishedProperty(
      type: Value.dbusType, isolation: location.isolation, set: location.isConstant ? nil : set,
      get: { try wrappedValue.dbusValue() },
      follow: { sink in
        location.follow { value in
          if let value = try? value.dbusValue() { sink(value) }
        }
      })
  }
}

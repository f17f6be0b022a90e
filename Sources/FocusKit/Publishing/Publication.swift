internal import DBusTypes
internal import EventLoop

/// A key that a field publishes, as a property of the exported object.
///
/// Its closures run where `isolation` says.
struct PublishedProperty: Sendable {
  let type: DBusType
  let isolation: Isolation
  /// Sets a value that another program wrote; nil if the key is read-only.
  let set: (@Sendable (DBusValue) throws -> Void)?
  let get: @Sendable () throws -> DBusValue
  /// Collects each new value, and calls its argument with what takes them when there is one after there was none; nil if
  /// only Observation knows of changes.
  let follow: @Sendable (@escaping @Sendable (_ take: @escaping PublishedChanges.Take) -> Void) -> PublishedChanges?
}

/// Whether a value is being read in order to publish it.
enum Publishing {
  @TaskLocal static var isUnderWay = false
}

/// The changes of a published value that were not told yet.
struct PublishedChanges: Sendable {
  typealias Take = @Sendable () -> [Result<DBusValue, any Error>]

  /// Takes the new values, in order.
  let take: Take
  /// Ends the collecting.
  let cancel: @Sendable () -> Void
}

/// Values on their way from whoever changes them to who tells of them; if there are too many, only the newest.
final class Outgoing<Value: Sendable>: Sendable {
  private static var most: Int { 256 }

  private let waiting = Locked<[Value]>([])
  /// What was added last; those who add do that one after another.
  private nonisolated(unsafe) var last: Value?

  /// Adds a value, unless it is the first, which is no change, or the same.
  /// - Returns: whether no value was waiting.
  func add(_ value: Value) -> Bool {
    guard let before = last else {
      last = value
      return false
    }
    if areIdentical(before, value) { return false }
    last = value
    // What is dropped is freed outside of the lock.
    let (isFirst, dropped) = waiting.withLock { waiting in
      let isFirst = waiting.isEmpty
      let dropped = waiting.count < Self.most ? [] : waiting
      if !dropped.isEmpty { waiting = [] }
      waiting.append(value)
      return (isFirst, dropped)
    }
    return withExtendedLifetime(dropped) { isFirst }
  }

  func take() -> [Value] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}

/// A key that a field publishes, as a method of the exported object.
struct PublishedCommand: Sendable {
  let input: [DBusType]
  let output: [DBusType]
  let isolation: Isolation
  /// Begins the command; it has returned, or waits for something, when this returns.
  let start:
    @Sendable (_ arguments: [DBusValue], _ completion: @escaping @Sendable (Result<[DBusValue], any Error>) -> Void)
      -> Void
}

extension PublishedCommand {
  /// A command that runs on any thread.
  init(
    input: [DBusType], output: [DBusType], run: @escaping @Sendable ([DBusValue]) async throws -> [DBusValue]
  ) {
    self.init(
      input: input, output: output, isolation: .anywhere,
      start: { arguments, completion in
        _ = Task.immediate {
          do { completion(.success(try await run(arguments))) } catch { completion(.failure(error)) }
        }
      })
  }
}

/// A key with what a field publishes for it.
struct Publication: Sendable {
  enum Content: Sendable {
    case property(PublishedProperty)
    case command(PublishedCommand)
    /// Nothing any more.
    case nothing
    /// The key's type has no form on the bus.
    case unsupported(String)
  }

  let name: String
  let content: Content

  init(_ name: String, _ content: Content) {
    self.name = name
    self.content = content
  }

  /// A key with `value`, as which numbers are published as `type` if that is not nil.
  init<Value>(_ name: String, _ value: Value, as type: DBusType?) {
    self.name = name
    if let binding = value as? any PublishableBinding {
      content = .property(binding.published(as: type, isReadOnly: false, nil))
    } else if let value = value as? any DBusRepresentable {
      content = .property(Self.constant(value, as: type))
    } else if let command = Commands.published(value) {
      content = .command(command)
    } else {
      content = .unsupported("\(Value.self)")
    }
  }

  /// Whether the field has the key.
  var isAnything: Bool { if case .nothing = content { false } else { true } }

  /// The type of the property, if it is one.
  private var type: DBusType? { if case .property(let property) = content { property.type } else { nil } }

  /// The same key, of the same type, with `binding` as its value.
  func replaced<Value: DBusRepresentable>(
    by binding: Binding<Value>, isReadOnly: Bool = false, _ validate: (@Sendable (Value) throws -> Void)? = nil
  ) -> Publication { Publication(name, .property(binding.published(as: type, isReadOnly: isReadOnly, validate))) }

  private static func constant<Value: DBusRepresentable>(_ value: Value, as type: DBusType?) -> PublishedProperty {
    let type = Value.publishedType(type)
    return PublishedProperty(
      type: type, isolation: .anywhere, set: nil, get: { try value.published(as: type) },
      follow: { _ in PublishedChanges(take: { [] }, cancel: {}) })
  }
}

extension DBusRepresentable {
  /// The type with which values are published if their key has `type`, which matters to numbers alone.
  fileprivate static func publishedType(_ type: DBusType?) -> DBusType {
    if let type, type.isNumber, dbusType.isNumber { type } else { dbusType }
  }

  /// The value as `type`, its own or another number's.
  fileprivate func published(as type: DBusType) throws -> DBusValue {
    let value = try dbusValue()
    guard type != Self.dbusType, type != value.type else {
      try value.checkIsShown()
      return value
    }
    guard let number = value.number(of: type) else {
      throw DBusConversionError("a number of type '\(value.type)' does not fit the key's type '\(type)'")
    }
    return number
  }
}

/// A binding that a field can publish.
protocol PublishableBinding {
  associatedtype Value

  /// The binding as a property, of `type` if both are numbers', whose writes from elsewhere `validate` may refuse.
  func published(
    as type: DBusType?, isReadOnly: Bool, _ validate: (@Sendable (Value) throws -> Void)?
  ) -> PublishedProperty
}

extension Binding: PublishableBinding where Value: DBusRepresentable {
  func published(
    as type: DBusType?, isReadOnly: Bool, _ validate: (@Sendable (Value) throws -> Void)?
  ) -> PublishedProperty {
    let type = Value.publishedType(type)
    let set = { @Sendable (value: DBusValue) in
      try location.isolation.check()
      let value = try Value(dbusValue: value)
      try validate?(value)
      wrappedValue = value
    }
    return PublishedProperty(
      type: type, isolation: location.isolation, set: isReadOnly || location.isConstant ? nil : set,
      get: {
        try location.isolation.check()
        return try wrappedValue.published(as: type)
      },
      follow: { onChange in
        guard case .anywhere = location.isolation else { return nil }
        let outgoing = Outgoing<Value>()
        let take: PublishedChanges.Take = { outgoing.take().map { value in Result { try value.published(as: type) } } }
        let cancel = location.follow(withCurrent: true) { value in
          if outgoing.add(value) { onChange(take) }
        }
        return cancel.map { PublishedChanges(take: take, cancel: $0) }
      })
  }
}

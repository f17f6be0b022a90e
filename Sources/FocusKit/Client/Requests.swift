public import DBusTypes
internal import DaemonClient
internal import FocusContract

/// Asking the daemon itself: what a program waits for, or has refused to its face.
extension FocusClient {
  /// Calls the daemon, after the writes of this process have been taken or refused.
  /// - Throws: `FocusError`; `CancellationError`, and then what becomes of the call is unknown.
  nonisolated(nonsending) func call<Reply: Sendable>(_ call: DaemonCall<Reply>) async throws -> Reply {
    let answer = Answer<Reply>()
    postAfterWrites { worker in
      guard !answer.isOver else { return }
      worker.link.ask(call) { answer.resume(with: $0.mapError { $0 as any Error }) }
    }
    return try await answer.value()
  }

  /// The value of the key `name` that is focused now, or nil.
  /// - Throws: `FocusError`: ``FocusError/typeMismatch`` if the key has another type, ``FocusError/timeout`` after 25 seconds,
  ///   ``FocusError/serviceUnknown`` or ``FocusError/disconnected`` without a daemon or bus, ``FocusError/invalidArguments`` if
  ///   `name` is no key; `CancellationError`.
  nonisolated(nonsending) public func read<Value: DBusRepresentable>(_ name: String, as type: Value.Type = Value.self)
    async throws -> Value?
  {
    try await call(.read(name)).map { try $0.value.converted(to: Value.self, of: name) }
  }

  /// The value of the key at `keyPath` that is focused now, or nil.
  /// - Throws: as `read(_:as:)` does.
  nonisolated(nonsending) public func read<Value: DBusRepresentable>(_ keyPath: KeyPath<FocusedValues, Binding<Value>?>)
    async throws -> Value?
  {
    try await read(try Self.name(keyPath))
  }

  /// The value of the key at `keyPath` that is focused now, or nil.
  /// - Throws: as `read(_:as:)` does.
  nonisolated(nonsending) public func read<Value: DBusRepresentable>(_ keyPath: KeyPath<FocusedValues, Value?>)
    async throws -> Value?
  {
    try await read(try Self.name(keyPath))
  }

  /// Writes the key `name`, which may have a JSON Pointer, of the field that has focus when the write arrives.
  /// - Throws: `FocusError`: `NotFocused`, `PropertyReadOnly`, `TypeMismatch`, what the owner refuses with, `Timeout` if it has not
  ///   answered within 5 seconds, and then may still take the value, or the daemon within 25; what `value` cannot be converted
  ///   with, as `DBusConversionError`; `CancellationError`. It begins when the program's earlier writes have been answered.
  /// - Returns: the value after the write, as the owner took it.
  @discardableResult
  nonisolated(nonsending) public func write<Value: DBusRepresentable>(_ name: String, _ value: Value) async throws
    -> Value
  {
    let type = cache.snapshots[name]?.value.type
    let encoded = try value.dbusValue()
    return Self.taken(value, try await call(.write(name, type.map { encoded.adapted(to: $0) } ?? encoded)))
  }

  /// What became of `value`, as the reply to a write tells it; `value` itself if that is not told, or has another type now: the
  /// write was made all the same.
  static func taken<Value: DBusRepresentable>(_ value: Value, _ written: KeyReading) -> Value {
    written.origin.revision == 0 ? value : (try? Value(dbusValue: written.value)) ?? value
  }

  /// Writes the value of the key at `keyPath` of the field that has focus when the write arrives.
  /// - Throws: as `write(_:_:)` of a name does.
  /// - Returns: the value after the write, as the owner took it.
  @discardableResult
  nonisolated(nonsending) public func write<Value: DBusRepresentable>(
    _ keyPath: KeyPath<FocusedValues, Binding<Value>?>, _ value: Value
  ) async throws -> Value {
    try await write(try Self.name(keyPath), value)
  }

  /// Runs the command `name` of the focused field.
  ///
  /// Arguments are not converted: one of type `i` is an `Int32`, one of type `d` a `Double`. A result is converted by the
  /// initializer of its type, `try String(dbusValue: results[0])`.
  /// - Throws: `FocusError`: `NotFocused`, `Disabled`, what the owner throws, or a timeout if it has not ended within
  ///   5 seconds, while it goes on; what an argument cannot be converted with, as `DBusConversionError`; `CancellationError`.
  /// - Returns: the command's results.
  @discardableResult
  nonisolated(nonsending) public func run(_ name: String, _ arguments: any DBusRepresentable...) async throws
    -> [DBusValue]
  {
    let values = try arguments.map { try $0.dbusValue() }
    return try await call(.invoke(name, values))
  }

  /// Runs the command of the key at `keyPath` of the focused field.
  /// - Throws: as `run(_:_:)` of a name does.
  nonisolated(nonsending) public func run<Value>(_ keyPath: KeyPath<FocusedValues, Value?>) async throws {
    try await run(try Self.name(keyPath))
  }

  /// Moves focus to the field with the id `field`.
  /// - Throws: `FocusError`: `AccessDenied` if it belongs to another client and does not take focus on request, what it refuses
  ///   a request with, or `Timeout` if it has not answered within 5 seconds; `UnknownObject` if there is no such field, and an
  ///   error without a name if `field` is no id; `CancellationError`.
  nonisolated(nonsending) public func focus(_ field: String) async throws {
    do {
      try await call(.field(try FieldID(field).path, "Focus"))
    } catch let error as SyntaxError {
      throw FocusError(any: error)
    }
  }

  static func name<Value>(_ keyPath: KeyPath<FocusedValues, Value?>) throws(FocusError) -> String {
    guard let name = FocusedValues.name(of: keyPath) else {
      throw FocusError("the property of 'FocusedValues' must get and set one key: 'self[Key.self]'")
    }
    return name
  }
}

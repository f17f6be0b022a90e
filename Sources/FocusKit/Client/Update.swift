internal import DBusTypes
internal import FocusContract

extension FocusClient {
  /// How often a change meets another's before it is given up.
  private static var mostConflicts: Int { 10_000 }

  /// Reads the value of the key at `keyPath` that is focused now, changes it, and writes it if nobody else has changed it
  /// meanwhile; else again, in the same field, so that no other client's change is lost.
  ///
  /// An owner that changes its own state while it is being written can still overwrite, or be overwritten: its own changes
  /// carry no revision.
  /// - Throws: `FocusError`: `NotFocused`, `Conflict` if focus has moved or 10,000 attempts met another's change,
  ///   `PropertyReadOnly`, `TypeMismatch`, what the owner refuses with, `Timeout` if it has not answered within 5 seconds; what
  ///   a value cannot be converted with, as `DBusConversionError`; `CancellationError`; what `change` throws.
  /// - Returns: the value after the write, as the owner took it.
  @discardableResult
  nonisolated(nonsending) public func update<Value: DBusRepresentable>(
    _ keyPath: KeyPath<FocusedValues, Binding<Value>?>, _ change: (inout Value) throws -> Void
  ) async throws -> Value {
    try await update(try Self.name(keyPath), change)
  }

  /// Changes the value of the key `name`, which may have a JSON Pointer, as `update` of a key path does.
  /// - Throws: as `update` of a key path does.
  /// - Returns: the value after the write, as the owner took it.
  @discardableResult
  nonisolated(nonsending) public func update<Value: DBusRepresentable>(
    _ name: String, _ change: (inout Value) throws -> Void
  ) async throws -> Value {
    var first: KeyReading?
    for _ in 0..<Self.mostConflicts {
      guard let reading = try await call(.read(name)) else {
        throw FocusError("'\(name)' is nil: no field with focus publishes it", name: FocusError.notFocused)
      }
      guard first.map({ $0.origin.field == reading.origin.field }) ?? true else {
        throw FocusError("'\(name)' is no longer of the field that was read", name: FocusError.conflict)
      }
      first = reading
      var value = try reading.value.converted(to: Value.self, of: name)
      let base = try value.dbusValue()
      try change(&value)
      let changed = reading.value.replacing(base, with: try value.dbusValue())
      if changed == reading.value { return value }
      do {
        return Self.taken(value, try await call(.write(name, changed, under: reading.origin)))
      } catch let error as FocusError where error.name == FocusError.conflict {}
    }
    throw FocusError("'\(name)': gave up after \(Self.mostConflicts) conflicts", name: FocusError.conflict)
  }
}

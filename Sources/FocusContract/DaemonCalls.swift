package import DBusTypes

/// `org.focusd.Focus1.Bindings`, of what has focus or of one field.
extension DaemonCall {
  /// What `key` holds, or nil if it resolves to nothing.
  package static func read(_ key: String, at path: ObjectPath = Focus1.focused) -> DaemonCall
  where Reply == KeyReading? {
    DaemonCall(path, Focus1.bindings, "Read", [.string(key)]) { values in
      guard values.count == 3, case .array(let found) = values[0] else { return nil }
      guard let value = found.first else { return .some(nil) }
      return KeyReading([value] + values[1...])
    }
  }

  /// Writes `value` into what `key` names; if `origin` is given, only while that is still so.
  package static func write(
    _ key: String, _ value: DBusValue, under origin: Origin? = nil, at path: ObjectPath = Focus1.focused
  ) -> DaemonCall where Reply == KeyReading {
    let options: [(name: String, value: DBusValue)] =
      origin.map { [("revision", .uint64($0.revision)), ("field", .objectPath($0.field))] } ?? []
    return DaemonCall(path, Focus1.bindings, "Write", [.string(key), .variant(value), .properties(options)]) {
      KeyReading($0)
    }
  }

  /// All values by key.
  package static func readAll(at path: ObjectPath = Focus1.focused) -> DaemonCall where Reply == [String: KeyReading] {
    DaemonCall(path, Focus1.bindings, "ReadAll") { values in
      guard values.count == 1, case .dictionary(let dictionary) = values[0] else { return nil }
      var readings: [String: KeyReading] = [:]
      for entry in dictionary.entries {
        guard case .string(let key) = entry.key, case .structure(let members) = entry.value,
          let reading = KeyReading(members)
        else { return nil }
        readings[key] = reading
      }
      return readings
    }
  }

  /// Runs the command `name`, and brings its results.
  package static func invoke(
    _ name: String, _ arguments: [DBusValue] = [], at path: ObjectPath = Focus1.focused
  ) -> DaemonCall where Reply == [DBusValue] {
    DaemonCall(path, Focus1.bindings, "Invoke", [.string(name), .variants(arguments), .properties([])]) { values in
      guard values.count == 1, case .array(let results) = values[0] else { return nil }
      return results.map { $0.variantContent ?? $0 }
    }
  }

  /// The commands that can be called, and whether each is enabled.
  package static func commands(at path: ObjectPath = Focus1.focused) -> DaemonCall where Reply == [String: Bool] {
    property("Commands", of: Focus1.bindings, at: path) { $0.commandStates }
  }

  /// The keys that resolve.
  package static func keys(at path: ObjectPath = Focus1.focused) -> DaemonCall where Reply == [String] {
    property("Keys", of: Focus1.bindings, at: path) { value in
      guard case .array(let keys) = value else { return nil }
      return keys.compactMap(\.basicText)
    }
  }
}

extension DBusValue {
  /// Whether each command is enabled, if this is the value of the property `Commands`.
  package var commandStates: [String: Bool]? {
    guard case .dictionary(let dictionary) = self else { return nil }
    var commands: [String: Bool] = [:]
    for entry in dictionary.entries {
      guard case .string(let name) = entry.key, case .boolean(let isEnabled) = entry.value else { return nil }
      commands[name] = isEnabled
    }
    return commands
  }
}

extension DBusValue {
  /// The paths, if this is an array.
  fileprivate var paths: [ObjectPath]? {
    guard case .array(let paths) = self else { return nil }
    return paths.compactMap { path in
      guard case .objectPath(let path) = path else { return nil }
      return path
    }
  }
}

/// `org.focusd.Focus1.Manager`.
extension DaemonCall {
  /// Registers a field.
  package static func register(
    _ id: String, _ values: [(name: String, value: DBusValue)], _ options: [(name: String, value: DBusValue)]
  ) -> DaemonCall where Reply == ObjectPath {
    DaemonCall(Focus1.root, Focus1.manager, "Register", [.string(id), .properties(values), .properties(options)]) {
      values in
      guard values.count == 1, case .objectPath(let path) = values[0] else { return nil }
      return path
    }
  }

  /// The field that has focus, or nil.
  package static func focusedField() -> DaemonCall where Reply == ObjectPath? {
    property("FocusedField", of: Focus1.manager, at: Focus1.root) { value in
      guard case .objectPath(let path) = value else { return nil }
      return .some(path == .root ? nil : path)
    }
  }

  /// The fields that held focus before, newest first.
  package static func history() -> DaemonCall where Reply == [ObjectPath] {
    property("History", of: Focus1.manager, at: Focus1.root) { $0.paths }
  }

  /// The session-scoped fields, in the order in which they supply what nothing nearer has.
  package static func sessionFields() -> DaemonCall where Reply == [ObjectPath] {
    property("SessionFields", of: Focus1.manager, at: Focus1.root) { $0.paths }
  }

  /// Every object with its interfaces and their properties.
  package static func managedObjects() -> DaemonCall where Reply == DBusDictionary {
    DaemonCall(Focus1.root, .objectManager, "GetManagedObjects") { values in
      guard values.count == 1, case .dictionary(let objects) = values[0] else { return nil }
      return objects
    }
  }
}

/// `org.focusd.Focus1.Field`.
extension DaemonCall where Reply == Void {
  /// A method of the field at `path`: `Focus`, `Blur`, `Unregister`, or one with arguments.
  package static func field(_ path: ObjectPath, _ member: String, _ arguments: [DBusValue] = []) -> DaemonCall {
    DaemonCall(path, Focus1.field, member, arguments) { _ in }
  }

  /// Turns commands of the field at `path` on and off.
  package static func setEnabled(_ commands: [String: Bool], at path: ObjectPath) -> DaemonCall {
    let entries = commands.sorted { $0.key < $1.key }.map {
      DBusDictionary.Entry(key: .string($0.key), value: .boolean($0.value))
    }
    return field(path, "SetEnabled", [.dictionary(DBusDictionary(known: .string, .boolean, entries))])
  }
}

/// The standard interfaces.
extension DaemonCall {
  /// A property, as `read` understands its value.
  private static func property(
    _ name: String, of interface: InterfaceName, at path: ObjectPath, _ read: @escaping @Sendable (DBusValue) -> Reply?
  ) -> DaemonCall {
    DaemonCall(path, .properties, "Get", [.string(interface.text), .string(name)]) { values in
      guard values.count == 1 else { return nil }
      return values[0].variantContent.flatMap(read)
    }
  }

  /// Whose connection registered the field at `path`; empty if that is gone.
  package static func owner(of path: ObjectPath) -> DaemonCall where Reply == String {
    property("Owner", of: Focus1.field, at: path) { value in
      guard case .string(let owner) = value else { return nil }
      return owner
    }
  }

  /// The command `key`, called as the method that it is.
  package static func command(
    _ key: Key, _ arguments: [DBusValue], at path: ObjectPath
  ) -> DaemonCall where Reply == [DBusValue] {
    DaemonCall(path, key.interface, key.member.text, arguments) { $0 }
  }

  /// Says when the daemon's turn is over.
  package static func ping() -> DaemonCall where Reply == Void { DaemonCall(Focus1.root, .peer, "Ping") { _ in } }
}

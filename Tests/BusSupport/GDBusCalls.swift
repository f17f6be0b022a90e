package import TestSupport

/// The daemon's methods, as a client on GDBus calls them; values are in GVariant's text form.
///
/// All throw `RemoteError` and `DeadlinePassed`.
extension GDBusPeer {
  /// Calls a method of the daemon and returns its results, a tuple.
  @discardableResult
  package func call(_ path: String, _ interface: String, _ member: String, _ arguments: String = "()") async throws
    -> String
  {
    try await call(Focus1.name, path, interface, member, arguments)
  }

  /// The error that a call is answered with, or one named "no error" with what it returned.
  package func refusal(_ path: String, _ interface: String, _ member: String, _ arguments: String = "()") async throws
    -> RemoteError
  {
    do {
      let result = try await call(path, interface, member, arguments)
      return RemoteError(name: "no error", message: result)
    } catch let error as RemoteError {
      return error
    }
  }

  /// - Returns: the field's path.
  @discardableResult
  package func register(_ id: String, _ values: String = "{}", _ options: String = "{}") async throws -> String {
    let answer = try await call(
      Focus1.manager, Focus1.managerInterface, "Register", "('\(id)', @a{sv} \(values), @a{sv} \(options))")
    return answer.split(separator: "'").dropFirst().first.map(String.init) ?? answer
  }

  /// Calls `org.focusd.Focus1.Field.MEMBER` of the field `id`.
  package func field(_ id: String, _ member: String, _ arguments: String = "()") async throws {
    try await call(Focus1.field(id), Focus1.fieldInterface, member, arguments)
  }

  package func focus(_ id: String) async throws { try await field(id, "Focus") }
  package func blur(_ id: String) async throws { try await field(id, "Blur") }

  package func get(_ key: String, at path: String = Focus1.focused) async throws -> String {
    let (interface, member) = Focus1.split(key)
    let answer = try await call(path, Focus1.properties, "Get", "('\(interface)', '\(member)')")
    // `(<VALUE>,)`
    return String(answer.dropFirst(2).dropLast(3))
  }

  package func set(_ key: String, _ value: String, at path: String = Focus1.focused) async throws {
    let (interface, member) = Focus1.split(key)
    try await call(path, Focus1.properties, "Set", "('\(interface)', '\(member)', <\(value)>)")
  }

  /// What `get` returns, or the error's short name.
  package func value(_ key: String, at path: String = Focus1.focused) async throws -> String {
    do { return try await get(key, at: path) } catch let error as RemoteError { return error.shortName }
  }

  /// What a `Set` is answered with: the error's short name, or "done".
  package func writing(_ key: String, _ value: String, at path: String = Focus1.focused) async throws -> String {
    do {
      try await set(key, value, at: path)
      return "done"
    } catch let error as RemoteError {
      return error.shortName
    }
  }

  package func read(_ key: String, at path: String = Focus1.focused) async throws -> String {
    try await call(path, Focus1.bindings, "Read", "('\(key)',)")
  }

  package func write(
    _ key: String, _ value: String, _ options: String = "{}", at path: String = Focus1.focused
  ) async throws -> String {
    try await call(path, Focus1.bindings, "Write", "('\(key)', <\(value)>, @a{sv} \(options))")
  }

  package func manager(_ property: String) async throws -> String {
    try await get("\(Focus1.managerInterface).\(property)", at: Focus1.manager)
  }

  /// The elements of a property of the manager that is an array of paths, as field ids.
  package func fields(_ property: String) async throws -> [String] {
    try await manager(property).split(separator: "'").filter { $0.hasPrefix("/") }
      .map { $0.split(separator: "/").last.map(String.init) ?? "" }
  }

  /// All that the daemon shows of everything.
  package func snapshot() async throws -> String {
    try await call(Focus1.manager, Focus1.objectManager, "GetManagedObjects")
      + manager("FocusedField") + manager("FocusPath") + manager("History")
      + call(Focus1.focused, Focus1.bindings, "ReadAll")
  }
}

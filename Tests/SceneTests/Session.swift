import TestSupport
import Testing

/// The names of the contract.
enum Names {
  static let service = "org.focusd.Focus1"
  static let manager = "/org/focusd/Focus1"
  static let focused = "/org/focusd/Focus1/focused"
  static let properties = "org.freedesktop.DBus.Properties"

  static func field(_ id: String) -> String { "/org/focusd/Focus1/field/\(id)" }
}

/// A bus with the built daemon on it, as a process.
struct Session {
  let bus: PrivateBus
  let daemon: ManagedProcess

  static func with<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (Session) async throws -> Result
  ) async throws -> Result {
    try await PrivateBus.with { bus in
      let daemon = try await start(on: bus)
      let result = try await body(Session(bus: bus, daemon: daemon))
      #expect(daemon.progress.now.exit == nil, "the daemon ended during the test: \(daemon.progress.now)")
      try await daemon.stop()
      return result
    }
  }

  /// Starts the daemon and waits until it has its name.
  static func start(on bus: PrivateBus) async throws -> ManagedProcess {
    let daemon = try await bus.start([Products.focusd, "--verbose", "--address", bus.address])
    let waited = try await bus.gdbus("wait", "--timeout", "50", Names.service)
    #expect(waited.succeeded, "the daemon took no name: \(daemon.progress.now)")
    return daemon
  }

  /// A new client in a process of its own.
  func client() async throws -> Client { Client(peer: try await GDBusPeer(on: bus)) }
}

/// A GDBus client that calls the daemon; values are in GVariant's text form.
struct Client {
  let peer: GDBusPeer

  /// Calls a method of the daemon and returns its results, a tuple.
  @discardableResult
  func call(_ path: String, _ interface: String, _ member: String, _ arguments: String = "()") async throws -> String {
    try await peer.call(Names.service, path, interface, member, arguments)
  }

  /// The name of the error that a call is answered with, or what it returned.
  func refusal(_ path: String, _ interface: String, _ member: String, _ arguments: String = "()") async throws
    -> RemoteError
  {
    do {
      let result = try await call(path, interface, member, arguments)
      return RemoteError(name: "no error", message: result)
    } catch let error as RemoteError {
      return error
    }
  }

  @discardableResult
  func register(_ id: String, _ values: String = "{}", _ options: String = "{}") async throws -> String {
    let answer = try await call(
      Names.manager, "org.focusd.Focus1.Manager", "Register", "('\(id)', @a{sv} \(values), @a{sv} \(options))")
    return answer.split(separator: "'").dropFirst().first.map(String.init) ?? answer
  }

  /// Calls `org.focusd.Focus1.Field.MEMBER` of the field `id`.
  func field(_ id: String, _ member: String, _ arguments: String = "()") async throws {
    try await call(Names.field(id), "org.focusd.Focus1.Field", member, arguments)
  }

  func focus(_ id: String) async throws { try await field(id, "Focus") }
  func blur(_ id: String) async throws { try await field(id, "Blur") }

  /// Gets a property: of `focused` where no path is given.
  func get(_ key: String, at path: String = Names.focused) async throws -> String {
    let (interface, member) = Self.split(key)
    let answer = try await call(path, Names.properties, "Get", "('\(interface)', '\(member)')")
    // `(<VALUE>,)`
    return String(answer.dropFirst(2).dropLast(3))
  }

  func set(_ key: String, _ value: String, at path: String = Names.focused) async throws {
    let (interface, member) = Self.split(key)
    try await call(path, Names.properties, "Set", "('\(interface)', '\(member)', <\(value)>)")
  }

  /// What `get` returns, or the error's last name.
  func value(_ key: String, at path: String = Names.focused) async throws -> String {
    do { return try await get(key, at: path) } catch let error as RemoteError { return error.shortName }
  }

  /// What a `Set` is answered with: the error's last name, or "done".
  func writing(_ key: String, _ value: String, at path: String = Names.focused) async throws -> String {
    do {
      try await set(key, value, at: path)
      return "done"
    } catch let error as RemoteError {
      return error.shortName
    }
  }

  func read(_ key: String, at path: String = Names.focused) async throws -> String {
    try await call(path, "org.focusd.Focus1.Bindings", "Read", "('\(key)',)")
  }

  func write(_ key: String, _ value: String, _ options: String = "{}", at path: String = Names.focused) async throws
    -> String
  {
    try await call(path, "org.focusd.Focus1.Bindings", "Write", "('\(key)', <\(value)>, @a{sv} \(options))")
  }

  func manager(_ property: String) async throws -> String {
    try await get("org.focusd.Focus1.Manager." + property, at: Names.manager)
  }

  /// The elements of a property of the manager that is an array of paths, as field ids.
  func fields(_ property: String) async throws -> [String] {
    try await manager(property).split(separator: "'").filter { $0.hasPrefix("/") }
      .map { $0.split(separator: "/").last.map(String.init) ?? "" }
  }

  /// All that the daemon shows of everything.
  func snapshot() async throws -> String {
    try await call(Names.manager, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
      + manager("FocusedField") + manager("FocusPath") + manager("History")
      + call(Names.focused, "org.focusd.Focus1.Bindings", "ReadAll")
  }

  private static func split(_ key: String) -> (interface: String, member: String) {
    guard let dot = key.lastIndex(of: ".") else { return ("", key) }
    return (String(key[..<dot]), String(key[key.index(after: dot)...]))
  }
}

extension RemoteError {
  /// The last part of the name.
  var shortName: String { name.split(separator: ".").last.map(String.init) ?? name }
}

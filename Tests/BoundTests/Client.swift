import DBus
import DBusTypes
import TestSupport

/// The contract's paths and interfaces.
enum Names {
  static let manager = "/org/focusd/Focus1"
  static let focused = "/org/focusd/Focus1/focused"
  static let properties = "org.freedesktop.DBus.Properties"
  static let bindings = "org.focusd.Focus1.Bindings"

  static func field(_ id: String) -> String { "/org/focusd/Focus1/field/\(id)" }

  static func split(_ key: String) -> (interface: String, member: String) {
    let parts = key.split(separator: ".")
    return (parts.dropLast().joined(separator: "."), String(parts.last ?? ""))
  }
}

/// What `Read` and `Write` reply.
struct Reading: Equatable, Sendable {
  var value: DBusValue?
  var field: String
  var revision: UInt64
}

/// A reply of other types than the contract's.
struct UnexpectedReply: Error {
  let reply: [DBusValue]
}

typealias Named = [(name: String, value: DBusValue)]

/// The daemon's methods, as a client calls them.
extension Peer {
  func beginRegister(_ id: String, object: String?, _ options: Named = [], stored: Named = []) -> Pending {
    let path = object.flatMap { try? ObjectPath($0) }.map { [("object", DBusValue.objectPath($0))] } ?? []
    return begin(
      Names.manager, "org.focusd.Focus1.Manager", "Register",
      [.string(id), .properties(stored), .properties(path.map { (name: $0.0, value: $0.1) } + options)])
  }

  /// Registers a field and returns its id.
  @discardableResult
  func register(_ id: String, object: String? = nil, _ options: Named = [], stored: Named = []) async throws -> String {
    let reply = try await beginRegister(id, object: object, options, stored: stored).values()
    guard case .objectPath(let path)? = reply.first else { throw UnexpectedReply(reply: reply) }
    return String(path.text.split(separator: "/").last ?? "")
  }

  func field(_ id: String, _ member: String, _ arguments: [DBusValue] = []) async throws {
    try await call(Names.field(id), "org.focusd.Focus1.Field", member, arguments)
  }

  func focus(_ id: String) async throws { try await field(id, "Focus") }

  func setEnabled(_ id: String, _ commands: [String: Bool]) async throws {
    let entries = commands.map { DBusDictionary.Entry(key: .string($0.key), value: .boolean($0.value)) }
    try await field(id, "SetEnabled", [.dictionary(DBusDictionary(key: .string, value: .boolean, entries))])
  }

  func beginGet(_ key: String, at path: String = Names.focused) -> Pending {
    let (interface, member) = Names.split(key)
    return begin(path, Names.properties, "Get", [.string(interface), .string(member)])
  }

  func get(_ key: String, at path: String = Names.focused) async throws -> DBusValue? {
    try await beginGet(key, at: path).values().first?.variantContent
  }

  func beginSet(_ key: String, _ value: DBusValue, at path: String = Names.focused) -> Pending {
    let (interface, member) = Names.split(key)
    return begin(path, Names.properties, "Set", [.string(interface), .string(member), .variant(value)])
  }

  func set(_ key: String, _ value: DBusValue, at path: String = Names.focused) async throws {
    _ = try await beginSet(key, value, at: path).values()
  }

  /// The names and values that `GetAll` shows of an interface.
  func getAll(_ interface: String = "", at path: String = Names.focused) async throws -> [String: DBusValue] {
    try await Self.entries(call(path, Names.properties, "GetAll", [.string(interface)]).first)
  }

  func beginRead(_ key: String, at path: String = Names.focused) -> Pending {
    begin(path, Names.bindings, "Read", [.string(key)])
  }

  func read(_ key: String, at path: String = Names.focused) async throws -> Reading {
    try await Self.reading(beginRead(key, at: path).values())
  }

  func beginWrite(
    _ key: String, _ value: DBusValue, _ options: Named = [], at path: String = Names.focused
  ) -> Pending {
    begin(path, Names.bindings, "Write", [.string(key), .variant(value), .properties(options)])
  }

  @discardableResult
  func write(
    _ key: String, _ value: DBusValue, _ options: Named = [], at path: String = Names.focused
  ) async throws -> Reading {
    try await Self.reading(beginWrite(key, value, options, at: path).values())
  }

  /// What `ReadAll` shows, by key.
  func readAll(at path: String = Names.focused) async throws -> [String: DBusValue] {
    try await Self.entries(call(path, Names.bindings, "ReadAll").first).compactMapValues { entry in
      guard case .structure(let members) = entry else { return nil }
      return members.first?.variantContent
    }
  }

  func invoke(_ command: String, _ arguments: [DBusValue] = [], at path: String = Names.focused) async throws
    -> [DBusValue]
  {
    let reply = try await call(
      path, Names.bindings, "Invoke", [.string(command), .variants(arguments), .properties([])])
    guard case .array(let results)? = reply.first else { throw UnexpectedReply(reply: reply) }
    return results.compactMap(\.variantContent)
  }

  /// The commands at `path`, each with whether it is enabled.
  func commands(at path: String = Names.focused) async throws -> [String: Bool] {
    guard case .dictionary(let commands)? = try await get("org.focusd.Focus1.Bindings.Commands", at: path) else {
      return [:]
    }
    return Dictionary(
      uniqueKeysWithValues: commands.entries.map { ($0.key.basicText ?? "", $0.value == .boolean(true)) })
  }

  func keys(at path: String = Names.focused) async throws -> [String] {
    guard case .array(let keys)? = try await get("org.focusd.Focus1.Bindings.Keys", at: path) else { return [] }
    return keys.compactMap(\.basicText)
  }

  /// The ids of all fields.
  func fields() async throws -> [String] {
    let objects = try await Self.entries(
      call(Names.manager, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects").first)
    return objects.keys.filter { $0.hasPrefix(Names.field("")) }.map { String($0.split(separator: "/").last ?? "") }
      .sorted()
  }

  func introspect(_ path: String = Names.focused) async throws -> String {
    try await call(path, "org.freedesktop.DBus.Introspectable", "Introspect").first?.basicText ?? ""
  }

  private static func entries(_ value: DBusValue?) -> [String: DBusValue] {
    guard case .dictionary(let dictionary)? = value else { return [:] }
    var entries: [String: DBusValue] = [:]
    for entry in dictionary.entries { entries[entry.key.basicText ?? ""] = entry.value.variantContent ?? entry.value }
    return entries
  }

  private static func reading(_ reply: [DBusValue]) throws -> Reading {
    guard reply.count == 3, case .objectPath(let field) = reply[1], case .uint64(let revision) = reply[2] else {
      throw UnexpectedReply(reply: reply)
    }
    let value: DBusValue? =
      switch reply[0] {
      case .variant(let value): value
      case .array(let values): values.first?.variantContent
      default: throw UnexpectedReply(reply: reply)
      }
    return Reading(value: value, field: String(field.text.split(separator: "/").last ?? ""), revision: revision)
  }
}

/// What a `PropertiesChanged` of the daemon says of one property: its value, or nil if it was invalidated.
extension Peer.Signal {
  /// The keys that the signal tells of, with their values.
  var told: [String: DBusValue?] {
    guard member == "PropertiesChanged", arguments.count == 3, let interface = arguments[0].basicText,
      case .dictionary(let changed) = arguments[1], case .array(let invalidated) = arguments[2]
    else { return [:] }
    var told: [String: DBusValue?] = [:]
    for entry in changed.entries {
      told.updateValue(entry.value.variantContent, forKey: "\(interface).\(entry.key.basicText ?? "")")
    }
    for name in invalidated { told.updateValue(nil, forKey: "\(interface).\(name.basicText ?? "")") }
    return told
  }
}

extension [Peer.Signal] {
  /// The values that signals from `path` told of `key`, in their order.
  func values(of key: String, at path: String = Names.focused) -> [DBusValue?] {
    filter { $0.path == path }.compactMap { $0.told[key] }
  }
}

internal import DBus
package import DBusTypes
internal import TestSupport

/// What `Read` and `Write` reply.
package struct Reading: Equatable, Sendable {
  package var value: DBusValue?
  /// The field's id; empty for none.
  package var field: String
  package var revision: UInt64

  package init(value: DBusValue?, field: String, revision: UInt64) {
    (self.value, self.field, self.revision) = (value, field, revision)
  }
}

/// A reply of other types than the contract's.
package struct UnexpectedReply: Error {
  package let reply: [DBusValue]

  package init(reply: [DBusValue]) { self.reply = reply }
}

/// The daemon's methods, as a client calls them; all throw `RemoteError`, `UnexpectedReply` and `DeadlinePassed`.
extension Peer {
  /// - Returns: the field's id.
  @discardableResult
  package func register(_ id: String, _ values: Named = [], _ options: Named = []) async throws -> String {
    try await registered(.register(id, values, options))
  }

  /// With an object of the peer's own behind the field, unless `object` is nil.
  /// - Returns: the field's id.
  @discardableResult
  package func register(
    _ id: String, object: String?, _ options: Named = [], stored: Named = []
  ) async throws -> String {
    try await registered(.register(id, object: object, options, stored: stored))
  }

  private func registered(_ registration: DaemonCall) async throws -> String {
    let reply = try await call(registration)
    guard reply.count == 1, case .objectPath(let path)? = reply.first, let id = Focus1.id(path.text) else {
      throw UnexpectedReply(reply: reply)
    }
    return id
  }

  package func field(_ id: String, _ member: String, _ arguments: [DBusValue] = []) async throws {
    try await call(.field(id, member, arguments))
  }

  package func focus(_ id: String) async throws { try await field(id, "Focus") }

  package func publish(_ id: String, _ values: Named, _ options: Named = []) async throws {
    try await call(.publish(id, values, options))
  }

  package func setEnabled(_ id: String, _ commands: [String: Bool]) async throws {
    let entries = commands.map { DBusDictionary.Entry(key: .string($0.key), value: .boolean($0.value)) }
    try await field(id, "SetEnabled", [.dictionary(DBusDictionary(key: .string, value: .boolean, entries))])
  }

  package func get(_ key: String, at path: String = Focus1.focused) async throws -> DBusValue? {
    try await call(.get(key, at: path)).first?.variantContent
  }

  package func set(_ key: String, _ value: DBusValue, at path: String = Focus1.focused) async throws {
    try await call(.set(key, value, at: path))
  }

  /// The names and values that `GetAll` shows of an interface.
  package func getAll(_ interface: String = "", at path: String = Focus1.focused) async throws -> [String: DBusValue] {
    try await Self.entries(call(.getAll(interface, at: path)))
  }

  package func read(_ key: String, at path: String = Focus1.focused) async throws -> Reading {
    try await Self.reading(call(.read(key, at: path)))
  }

  @discardableResult
  package func write(
    _ key: String, _ value: DBusValue, _ options: Named = [], at path: String = Focus1.focused
  ) async throws -> Reading {
    try await Self.reading(call(.write(key, value, options, at: path)))
  }

  /// What `ReadAll` shows, by key.
  package func readAll(at path: String = Focus1.focused) async throws -> [String: DBusValue] {
    try await Self.entries(call(.readAll(at: path))).compactMapValues { entry in
      guard case .structure(let members) = entry else { return nil }
      return members.first?.variantContent
    }
  }

  /// Waits for a key of an object: a restored field is back before it if the object takes a while.
  package func restored(_ key: String, at path: String = Focus1.focused) async throws {
    try await eventually("\(key) at \(path)") { try await readAll(at: path)[key] != nil }
  }

  package func invoke(
    _ command: String, _ arguments: [DBusValue] = [], at path: String = Focus1.focused
  ) async throws -> [DBusValue] {
    let reply = try await call(.invoke(command, arguments, at: path))
    guard case .array(let results)? = reply.first else { throw UnexpectedReply(reply: reply) }
    return results.compactMap(\.variantContent)
  }

  /// The commands at `path`, each with whether it is enabled.
  package func commands(at path: String = Focus1.focused) async throws -> [String: Bool] {
    guard case .dictionary(let commands)? = try await get(Focus1.bindings + ".Commands", at: path) else { return [:] }
    return Dictionary(
      uniqueKeysWithValues: commands.entries.map { ($0.key.basicText ?? "", $0.value == .boolean(true)) })
  }

  package func keys(at path: String = Focus1.focused) async throws -> [String] {
    guard case .array(let keys)? = try await get(Focus1.bindings + ".Keys", at: path) else { return [] }
    return keys.compactMap(\.basicText)
  }

  /// A property of the manager.
  package func manager(_ property: String) async throws -> DBusValue? {
    try await get("\(Focus1.managerInterface).\(property)", at: Focus1.manager)
  }

  /// The fields of a property of the manager, by id.
  package func fields(_ property: String) async throws -> [String] {
    guard case .array(let paths)? = try await manager(property) else { return [] }
    return paths.compactMap { $0.basicText.flatMap(Focus1.id) }
  }

  /// The connections with scenes in a window.
  package func adopted(by window: String) async throws -> Set<String> {
    let adopted = try await get("\(Focus1.fieldInterface).Adopted", at: Focus1.field(window))
    guard case .array(let names)? = adopted else { return [] }
    return Set(names.compactMap(\.basicText))
  }

  /// The ids of all fields.
  package func fields() async throws -> [String] { try await owners().keys.sorted() }

  /// The owner of each field, by the fields' ids.
  package func owners() async throws -> [String: String] {
    var owners: [String: String] = [:]
    for (path, interfaces) in try await managedObjects() {
      guard let id = Focus1.id(path) else { continue }
      owners[id] = interfaces[Focus1.fieldInterface]?["Owner"]?.basicText ?? "no owner"
    }
    return owners
  }

  /// The properties of all objects, by path, interface and name.
  package func managedObjects() async throws -> [String: [String: [String: DBusValue]]] {
    try await Self.entries(call(.managedObjects)).mapValues { interfaces in
      Self.entries([interfaces]).mapValues { Self.entries([$0]) }
    }
  }

  package func introspect(_ path: String = Focus1.focused) async throws -> String {
    try await call(.introspect(path)).first?.basicText ?? ""
  }

  /// The entries of a reply that is a dictionary; variants are what they hold.
  private static func entries(_ reply: [DBusValue]) -> [String: DBusValue] {
    guard case .dictionary(let dictionary)? = reply.first else { return [:] }
    var entries: [String: DBusValue] = [:]
    for entry in dictionary.entries { entries[entry.key.basicText ?? ""] = entry.value.variantContent ?? entry.value }
    return entries
  }

  private static func reading(_ reply: [DBusValue]) throws -> Reading {
    guard reply.count == 3, case .objectPath(let path) = reply[1], case .uint64(let revision) = reply[2],
      let field = path.text == "/" ? "" : Focus1.id(path.text)
    else { throw UnexpectedReply(reply: reply) }
    let value: DBusValue? =
      switch reply[0] {
      case .variant(let value): value
      case .array(let values): values.first?.variantContent
      default: throw UnexpectedReply(reply: reply)
      }
    return Reading(value: value, field: field, revision: revision)
  }
}

extension Peer.Signal {
  /// The keys that the signal tells of, with their values, or nil for those that are invalidated.
  package var told: [String: DBusValue?] {
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
  package func values(of key: String, at path: String = Focus1.focused) -> [DBusValue?] {
    filter { $0.path == path }.compactMap { $0.told[key] }
  }
}

extension Peer.Signal {
  /// Whether it tells the process of a field, which the daemon finds out in its own time.
  package var tellsProcess: Bool {
    guard member == "PropertiesChanged", arguments.count == 3, case .dictionary(let changed) = arguments[1] else {
      return false
    }
    return changed.entries.map(\.key) == [.string("Process")]
  }
}

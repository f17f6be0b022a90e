import DBus
import DBusTypes

/// A value that was read, and where it came from.
struct Reading {
  let value: DBusValue
  /// The field that the key resolved to.
  let field: ObjectPath
  /// The state of the binding that the value belongs to.
  let revision: UInt64
}

/// The interface `org.focusd.Focus1.Bindings` of the focused object or of a field.
struct Bindings {
  let client: Client
  let path: ObjectPath

  init(_ client: Client, _ path: ObjectPath) {
    self.client = client
    self.path = path
  }

  /// Those that `options` name: of a field, of the one before, or of whatever is focused.
  /// - Throws: `CommandError`; status 1 where no field held focus before.
  init(_ client: Client, _ options: Options) throws(CommandError) {
    self.client = client
    if let field = options.field {
      guard !options.previous else { throw .usage("'--field' and '--previous' exclude each other") }
      path = try FieldID.path(field)
    } else if options.previous {
      guard let previous = try Bindings.previousField(client) else {
        throw CommandError(.nothing, "no field held focus before")
      }
      path = previous
    } else {
      path = Focus1.focused
    }
  }

  /// Who could publish a key that is nil here.
  var described: String {
    path == Focus1.focused
      ? "no field on the focus path publishes it" : "the field '\(FieldID.id(path))' has no such key"
  }

  private static func previousField(_ client: Client) throws(CommandError) -> ObjectPath? {
    do {
      guard case .array(let fields) = try client.property("History", of: Focus1.manager, at: Focus1.root),
        case .objectPath(let field)? = fields.first
      else { return nil }
      return field
    } catch {
      throw CommandError(error)
    }
  }

  /// What `key` holds, or nil: nothing on the focus path, or not this field, publishes it.
  func read(_ key: String) throws(DBusError) -> Reading? {
    let reply: [DBusValue]
    do {
      reply = try client.call(path, Focus1.bindings, "Read", [.string(key)])
    } catch  where error.name == .unknownProperty {
      return nil
    }
    guard reply.count == 3, case .array(let values) = reply[0], case .objectPath(let field) = reply[1],
      case .uint64(let revision) = reply[2]
    else { throw client.unexpected(reply, to: "Read") }
    guard let value = values.first?.variantContent else { return nil }
    return Reading(value: value, field: field, revision: revision)
  }

  /// Writes `value` into what `key` names.
  func write(_ key: String, _ value: DBusValue, _ options: [(name: String, value: DBusValue)] = []) throws(DBusError) {
    try client.call(path, Focus1.bindings, "Write", [.string(key), .variant(value), .properties(options)])
  }

  /// The values by key in a reply to `ReadAll`.
  static func values(of reply: [DBusValue]) -> [String: DBusValue]? {
    guard reply.count == 1, case .dictionary(let dictionary) = reply[0] else { return nil }
    var values: [String: DBusValue] = [:]
    for entry in dictionary.entries {
      guard case .string(let key) = entry.key, case .structure(let members) = entry.value,
        let value = members.first?.variantContent
      else { return nil }
      values[key] = value
    }
    return values
  }

  /// All values by key.
  func readAll() throws(DBusError) -> [String: DBusValue] {
    let reply = try client.call(path, Focus1.bindings, "ReadAll")
    guard let values = Bindings.values(of: reply) else { throw client.unexpected(reply, to: "ReadAll") }
    return values
  }

  /// The keys that there are here.
  func keys() throws(DBusError) -> [String] {
    guard case .array(let keys) = try client.property("Keys", of: Focus1.bindings, at: path) else { return [] }
    return keys.compactMap(\.basicText)
  }

  /// Reads what `key` stands for, with the whole key that it was read by; nil where it resolves to nothing.
  ///
  /// A whole key takes one message; only one that resolves to nothing is looked up among those that do.
  /// - Throws: `ReadFailure`.
  func read(_ key: KeyArgument) throws(ReadFailure) -> (key: KeyArgument, reading: Reading)? {
    var refusal: DBusError?
    if key.mayBeWhole {
      do {
        if let reading = try read(key.text) { return (key, reading) }
      } catch  where error.name == .invalidArgs {
        refusal = error
      } catch {
        throw ReadFailure(key: key, error: error)
      }
    }
    let all: [String]
    do { all = try keys() } catch { throw ReadFailure(key: key, error: error) }
    let whole: KeyArgument?
    do { whole = try key.resolved(among: all) } catch { throw ReadFailure(key: key, command: error) }
    guard let whole, whole != key else {
      if let refusal { throw ReadFailure(key: key, command: .usage(refusal.message)) }
      return nil
    }
    do {
      guard let reading = try read(whole.text) else { return nil }
      return (whole, reading)
    } catch {
      throw ReadFailure(key: whole, error: error)
    }
  }
}

/// Why a key could not be read.
struct ReadFailure: Error {
  /// The key as far as it was resolved.
  let key: KeyArgument
  /// The daemon's error, where it was that.
  let error: DBusError?
  /// How the command ends because of it.
  let command: CommandError

  init(key: KeyArgument, error: DBusError) {
    self.key = key
    self.error = error
    command = CommandError(error)
  }

  init(key: KeyArgument, command: CommandError) {
    self.key = key
    error = nil
    self.command = command
  }
}

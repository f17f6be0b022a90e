import DBus
import DBusTypes
import DaemonClient
import EventLoop
import FocusContract

/// The interface `org.focusd.Focus1.Bindings` of the focused object or of a field.
struct Bindings {
  let daemon: DaemonConnection
  let path: ObjectPath

  init(_ daemon: DaemonConnection, _ path: ObjectPath) {
    self.daemon = daemon
    self.path = path
  }

  /// The bindings that `options` select: of a field, of the previously focused field, or of the focused object.
  /// - Throws: `CommandError`; status 1 if no field had focus before.
  init(_ daemon: DaemonConnection, _ options: Options) throws(CommandError) {
    self.daemon = daemon
    if let field = options.field {
      guard !options.previous else { throw .usage("'--field' and '--previous' cannot be combined") }
      path = try FieldID.path(field)
    } else if options.previous {
      guard let previous = try Bindings.previousField(daemon) else {
        throw CommandError(.nothing, "no field had focus before")
      }
      path = previous
    } else {
      path = Focus1.focused
    }
  }

  /// The reason why a key is nil here.
  var described: String {
    path == Focus1.focused
      ? "neither the focused field, its ancestors, its scene nor a session field publishes it"
      : "the field '\(FieldID.id(path))' has no such key"
  }

  /// The field that had focus before, but for the one of the shell that runs this, which was left when that was run.
  private static func previousField(_ daemon: DaemonConnection) throws(CommandError) -> ObjectPath? {
    let own = Environment.value("FOCUSD_FIELD")
    return try daemon.ask(.history()).first { FieldID.id($0) != own }
  }

  /// The value of `key`, or nil if nothing on the focus path, or not this field, publishes it.
  func read(_ key: String) throws(DBusError) -> KeyReading? {
    do {
      return try daemon.call(.read(key, at: path))
    } catch  where error.name == .unknownProperty {
      return nil
    }
  }

  /// Writes `value` to `key`; if `origin` is given, only if the key still has that origin.
  func write(_ key: String, _ value: DBusValue, under origin: Origin? = nil) throws(DBusError) {
    try daemon.call(.write(key, value, under: origin, at: path))
  }

  /// The introspection of this object.
  func interfaces() throws(CommandError) -> [InterfaceDescription] { try daemon.ask(.introspection(of: path)) }

  /// The property that the introspection of this object shows for `key`; nil if it does not show it.
  func property(_ key: String) throws(CommandError) -> InterfaceDescription.Property? {
    guard let key = try? Key(key) else { return nil }
    return try interfaces().first { $0.name == key.interface }?.properties.first { $0.name == key.member }
  }

  /// The keys that introspection shows, those of a sensitive field included.
  private func shownKeys() throws(DBusError) -> [String] {
    try daemon.call(.introspection(of: path)).names { $0.properties.map(\.name) }
  }

  /// All keys of these bindings.
  func keys() throws(DBusError) -> [String] { try daemon.call(.keys(at: path)) }

  /// Reads the value that `key` stands for, and returns it with the whole key; nil if the key resolves to nothing.
  ///
  /// A whole key takes one message; only a key that resolves to nothing is looked up among those that resolve.
  /// - Throws: `ReadFailure`.
  func read(_ key: KeyArgument) throws(ReadFailure) -> (key: KeyArgument, reading: KeyReading)? {
    var refusal: DBusError?
    if key.mayBeWhole {
      do {
        if let reading = try read(key.text) { return (key, reading) }
      } catch  where error.name == .invalidArgs && (try? Key(key.name)) == nil {
        refusal = error
      } catch {
        throw ReadFailure(key: key, error: error)
      }
    }
    var whole = try resolve(key, keys)
    // What only its owner may read is not among the keys, but shown, since others may write it.
    if whole == nil, !key.mayBeWhole { whole = try resolve(key, shownKeys) }
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

  private func resolve(
    _ key: KeyArgument, _ names: () throws(DBusError) -> [String]
  ) throws(ReadFailure) -> KeyArgument? {
    let all: [String]
    do { all = try names() } catch { throw ReadFailure(key: key, error: error) }
    do { return try key.resolved(among: all) } catch { throw ReadFailure(key: key, command: error) }
  }
}

extension [InterfaceDescription] {
  /// The whole names of the `members` of each interface that may hold keys.
  func names(_ members: (InterfaceDescription) -> [MemberName]) -> [String] {
    filter { !Key.isReserved($0.name.text) }.flatMap { interface in
      members(interface).map { "\(interface.name).\($0)" }
    }
  }
}

/// Why a key could not be read.
struct ReadFailure: Error {
  /// The key, as far as it is resolved.
  let key: KeyArgument
  /// The daemon's error, if it replied with one.
  let error: DBusError?
  /// The error that ends the command.
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

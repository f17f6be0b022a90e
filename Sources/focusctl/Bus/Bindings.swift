import DBus
import DBusTypes
import FocusClient
import FocusContract

/// The interface `org.focusd.Focus1.Bindings` of the focused object or of a field.
struct Bindings {
  let daemon: DaemonConnection
  let path: ObjectPath

  init(_ daemon: DaemonConnection, _ path: ObjectPath) {
    self.daemon = daemon
    self.path = path
  }

  /// Those that `options` name: of a field, of the one before, or of whatever is focused.
  /// - Throws: `CommandError`; status 1 where no field held focus before.
  init(_ daemon: DaemonConnection, _ options: Options) throws(CommandError) {
    self.daemon = daemon
    if let field = options.field {
      guard !options.previous else { throw .usage("'--field' and '--previous' exclude each other") }
      path = try FieldID.path(field)
    } else if options.previous {
      guard let previous = try Bindings.previousField(daemon) else {
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

  private static func previousField(_ daemon: DaemonConnection) throws(CommandError) -> ObjectPath? {
    do {
      return try daemon.call(.history()).first
    } catch {
      throw CommandError(error)
    }
  }

  /// What `key` holds, or nil: nothing on the focus path, or not this field, publishes it.
  func read(_ key: String) throws(DBusError) -> KeyReading? {
    do {
      return try daemon.call(.read(key, at: path))
    } catch  where error.name == .unknownProperty {
      return nil
    }
  }

  /// Writes `value` into what `key` names; where `origin` is given, only while that is still so.
  func write(_ key: String, _ value: DBusValue, under origin: Origin? = nil) throws(DBusError) {
    try daemon.call(.write(key, value, under: origin, at: path))
  }

  /// The keys that there are here.
  func keys() throws(DBusError) -> [String] { try daemon.call(.keys(at: path)) }

  /// Reads what `key` stands for, with the whole key that it was read by; nil where it resolves to nothing.
  ///
  /// A whole key takes one message; only one that resolves to nothing is looked up among those that do.
  /// - Throws: `ReadFailure`.
  func read(_ key: KeyArgument) throws(ReadFailure) -> (key: KeyArgument, reading: KeyReading)? {
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

import DBus
import DBusTypes
import DaemonClient
import FocusContract

extension DaemonConnection {
  /// Connects to `bus`, on `host` if one is given.
  /// - Throws: `CommandError`, status 3, without such a bus.
  static func connect(
    _ bus: Connection.Bus, of host: String? = nil, timeout: Duration? = nil
  ) throws(CommandError) -> DaemonConnection {
    let place = try located(bus)
    do {
      return try DaemonConnection(to: place, timeout: timeout)
    } catch {
      // ssh has already printed the reason.
      let why =
        host == nil || ![.disconnected, .noReply].contains(error.name)
        ? error.message : "ssh or systemd-stdio-bridge exited; check 'ssh HOST systemd-stdio-bridge --help'"
      throw CommandError(.noDaemon, "no \(host.map { "bus through ssh at '\($0)'" } ?? described(bus)): \(why)")
    }
  }

  private static func described(_ bus: Connection.Bus) -> String {
    switch bus {
    case .session: "session bus"
    case .system: "system bus"
    case .address(let address): "bus at '\(address)'"
    }
  }

  private static func located(_ bus: Connection.Bus) throws(CommandError) -> Connection.Bus {
    guard bus == .session else { return bus }
    guard let session = Connection.Bus.ofUser else {
      throw CommandError(
        .noDaemon,
        "no session bus: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set; set one, or use '--address'")
    }
    return session
  }

  /// Makes a call of the daemon and waits for its reply.
  /// - Throws: `CommandError`, the error that ends the command.
  @discardableResult
  func ask<Reply>(_ call: DaemonCall<Reply>) throws(CommandError) -> Reply {
    do { return try self.call(call) } catch { throw explained(CommandError(error), error, call.path) }
  }

  /// The error that ends the command because of `error`; if `path` has no field, it suggests an id.
  func explained(_ ending: CommandError, _ error: DBusError?, _ path: ObjectPath) -> CommandError {
    let ids = path.text.hasPrefix(Focus1.fields.text + "/")
    guard error?.name == .unknownObject, ids, let fields = try? FieldInfo.all(self),
      !fields.contains(where: { $0.path == path })
    else { return ending }
    return CommandError(ending.status, Suggestion.noField(at: path, among: fields))
  }
}

extension Suggestion {
  /// That none of `fields` is at `path`, and which one may have been meant.
  static func noField(at path: ObjectPath, among fields: [FieldInfo]) -> String {
    let id = FieldID.id(path)
    let near = nearest(to: id, among: fields.map(\.id)).map { "did you mean '\($0)'?" }
    return "there is no field '\(id)'; \(near ?? "'\(Program.name) list' shows all fields")"
  }
}

extension CommandError {
  /// The error that ends a command whose call failed with `error`.
  init(_ error: DBusError) {
    let message = error.explained
    switch error.name {
    case Focus1.notFocused: self.init(.nothing, message)
    case Focus1.conflict: self.init(.conflict, message)
    // The program behind a field may answer with any name.
    case _ where error.origin == .peer: self.init(.refused, message)
    case .disconnected: self.init(.noDaemon, "lost the connection to the bus: \(message)")
    case .noReply where error.origin != .bus: self.init(.noDaemon, "\(message); '--timeout' sets the time limit")
    case _ where error.meansNoDaemon: self.init(.noDaemon, message)
    default: self.init(.refused, message)
    }
  }
}

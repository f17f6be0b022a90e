import DBus
import DBusTypes
import Glibc

/// The daemon, as reached over one connection.
struct Client {
  let connection: Connection
  /// How long the daemon may take to answer.
  let timeout: Duration

  /// Connects to `bus`, which is that of `host` where one is named.
  /// - Throws: `CommandError`, status 3, where there is none.
  init(
    _ bus: Connection.Bus, of host: String? = nil, timeout: Duration = Timeout.standard
  ) throws(CommandError) {
    self.timeout = timeout
    func described() -> String { host.map { "bus through ssh at '\($0)'" } ?? Client.described(bus) }
    do {
      connection = try Connection(to: try Client.located(bus))
    } catch let error as DBusError {
      // There libdbus speaks of a bus that does not answer, and ssh has said why.
      let why =
        host == nil || error.name != .noReply
        ? error.message : "ssh or systemd-stdio-bridge there ended; 'ssh HOST systemd-stdio-bridge --help' is to work"
      throw CommandError(.noDaemon, "no \(described()): \(why)")
    } catch let error as CommandError {
      throw error
    } catch {
      throw CommandError(.noDaemon, "no \(described()): \(error)")
    }
  }

  private static func described(_ bus: Connection.Bus) -> String {
    switch bus {
    case .session: "session bus"
    case .system: "system bus"
    case .address(let address): "bus at '\(address)'"
    }
  }

  /// Where the environment names no session bus, the user manager's, so that libdbus never starts one of its own.
  private static func located(_ bus: Connection.Bus) throws(CommandError) -> Connection.Bus {
    guard bus == .session, getenv("DBUS_SESSION_BUS_ADDRESS") == nil else { return bus }
    guard let directory = getenv("XDG_RUNTIME_DIR") else {
      throw CommandError(
        .noDaemon, "no session bus: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set; '--address' names one")
    }
    return .address("unix:path=\(String(cString: directory))/bus")
  }

  /// Makes a call of the daemon.
  /// - Throws: `DBusError` for values that no message carries.
  func message(
    _ path: ObjectPath, _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue] = []
  ) throws(DBusError) -> Message {
    try Message.methodCall(
      to: Focus1.busName, path: path, interface: interface, member: MemberName(known: member), arguments)
  }

  /// Calls the daemon and waits for its reply.
  /// - Throws: the daemon's error, or what prevented a reply.
  @discardableResult
  func call(
    _ path: ObjectPath, _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue] = []
  ) throws(DBusError) -> [DBusValue] {
    let message = try message(path, interface, member, arguments)
    do {
      return try connection.call(message, timeout: timeout).arguments()
    } catch  where error.name == .noReply && connection.isConnected {
      throw DBusError(.noReply, "no answer to '\(member)' within \(Timeout.text(timeout)); '--timeout' changes that")
    }
  }

  /// A property of one of the daemon's objects.
  func property(_ name: String, of interface: InterfaceName, at path: ObjectPath) throws(DBusError) -> DBusValue {
    let reply = try call(path, .properties, "Get", [.string(interface.text), .string(name)])
    guard let value = reply.first?.variantContent, reply.count == 1 else { throw unexpected(reply, to: "Get") }
    return value
  }

  /// How the command ends because of `error`, with the id that was probably meant where there is no field at `path`.
  func explained(_ ending: CommandError, _ error: DBusError?, _ path: ObjectPath) -> CommandError {
    let ids = path.text.hasPrefix(Focus1.fields.text + "/")
    guard error?.name == .unknownObject, ids, let fields = try? FieldInfo.all(self) else { return ending }
    let id = FieldID.id(path)
    guard !fields.contains(where: { $0.path == path }) else { return ending }
    let near = Suggestion.nearest(to: id, among: fields.map(\.id)).map { "did you mean '\($0)'?" }
    return CommandError(ending.status, "there is no field '\(id)'; \(near ?? "'\(Program.name) list' shows them")")
  }

  /// A reply that is not what the contract says.
  func unexpected(_ reply: [DBusValue], to member: String) -> DBusError {
    let types = reply.map(\.type.description).joined()
    return DBusError(.failed, "focusd answers '\(member)' with '\(types)', which is not version 1 of its interface")
  }
}

extension CommandError {
  /// How a call that failed with `error` ends.
  init(_ error: DBusError) {
    let message = error.message.isEmpty ? error.name.text : error.message
    switch error.name {
    case Focus1.notFocused: self.init(.nothing, message)
    case Focus1.conflict: self.init(.conflict, message)
    case .serviceUnknown, .nameHasNoOwner:
      self.init(
        .noDaemon,
        "focusd is not on this bus; where it is installed, 'systemctl --user start focusd' starts it: \(message)")
    case .disconnected: self.init(.noDaemon, "the bus is gone: \(message)")
    case .noReply: self.init(.noDaemon, "focusd does not answer: \(message)")
    case _ where error.isFailedStart: self.init(.noDaemon, "focusd does not start: \(message)")
    default: self.init(.refused, message)
    }
  }
}

extension DBusError {
  /// Whether the bus, or systemd on its behalf, tried to start the daemon in vain.
  fileprivate var isFailedStart: Bool {
    name.text == "org.freedesktop.DBus.Error.TimedOut" || name.text.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
      || name.text.hasPrefix("org.freedesktop.systemd1.")
  }

  /// Whether there is no daemon to ask, but may be one later.
  var meansNoDaemon: Bool {
    [.serviceUnknown, .nameHasNoOwner, .noReply].contains(name) || isFailedStart
  }
}

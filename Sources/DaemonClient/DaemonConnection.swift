package import DBus
package import DBusTypes
internal import EventLoop
package import FocusContract

/// A connection to the bus that the daemon is on.
package struct DaemonConnection {
  package let connection: Connection
  /// How long the daemon may take to answer a call.
  package let timeout: Duration

  /// Connects to `bus`, which may take `patience` or else `timeout` to answer, or any time if both are nil; each call may
  /// take `timeout`, or 25 s.
  ///
  /// Whether the daemon is on the bus shows with the first call.
  /// - Throws: `DBusError` if there is no such bus.
  package init(
    to bus: Connection.Bus, patience: Duration? = nil, timeout: Duration? = nil
  ) throws(DBusError) {
    connection = try Connection(to: bus, timeout: patience ?? timeout)
    self.timeout = timeout ?? .seconds(25)
  }

  /// Makes a call and waits for its reply.
  /// - Throws: `DBusError`: the daemon's error, what prevented a reply, `timeout` if the daemon waits for a field's owner, or
  ///   `failed` for a reply that is not the contract's.
  @discardableResult
  package func call<Reply>(_ call: DaemonCall<Reply>) throws(DBusError) -> Reply {
    let message = try call.message()
    let reply: Message
    do {
      reply = try connection.call(message, timeout: timeout)
    } catch  where error.name == .noReply && error.origin == .process && connection.isConnected {
      let missing = "no reply to '\(call.described)' within \(timeout)"
      let ping = try DaemonCall.ping().message()
      guard (try? connection.call(ping, timeout: min(timeout, .seconds(1)))) != nil else {
        throw DBusError(
          .noReply, missing + (isAbsent ? ": it has not started, see 'systemctl --user status focusd'" : ""))
      }
      throw DBusError(.timeout, "\(missing): focusd waits for the field's owner, who may still do it")
    }
    return try call.reply(in: reply)
  }

  /// Whether the daemon has no name on the bus, which keeps calls until it has.
  private var isAbsent: Bool {
    let owner = Result { () throws(DBusError) in
      try connection.owner(of: Focus1.busName, timeout: .milliseconds(250))
    }
    if case .success(nil) = owner { return true }
    return false
  }

  /// Makes a call, and hands its reply, or what prevented one, to `handler`; `patiently` for as long as the daemon is
  /// there.
  ///
  /// `handler` may be called at once, and as late as when the connection closes.
  package func call<Reply>(
    _ call: DaemonCall<Reply>, patiently: Bool = false, _ handler: @escaping (Result<Reply, DBusError>) -> Void
  ) {
    do throws(DBusError) {
      try connection.call(try call.message(), timeout: patiently ? nil : timeout) { result in
        handler(Result { () throws(DBusError) in try call.reply(in: try result.get()) })
      }
    } catch {
      handler(.failure(error))
    }
  }
}

extension DBusError {
  /// Whether the bus, or systemd on its behalf, failed to start the daemon.
  package var isFailedStart: Bool {
    origin != .peer
      && (name.text == "org.freedesktop.DBus.Error.TimedOut" || name.text.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
        || name.text.hasPrefix("org.freedesktop.systemd1.")
        // dbus-broker's name for a unit that failed is the one for a service that there is not: only its text tells.
        || (name == .serviceUnknown && message.hasSuffix(": startup job failed")))
  }

  /// Whether there is no daemon now, but may be one later.
  package var meansNoDaemon: Bool {
    isFailedStart || (origin != .peer && [.serviceUnknown, .nameHasNoOwner, .noReply].contains(name))
  }

  /// What the error of a call to the daemon says: that of the bus with what it means and what helps, any other as it is.
  package var explained: String {
    let message = message.isEmpty ? name.text : message
    switch name {
    // The program behind a field may answer with any name.
    case _ where origin == .peer: return message
    case _ where isFailedStart:
      return "focusd does not start: \(message); 'journalctl --user --unit focusd' tells why"
    case .serviceUnknown, .nameHasNoOwner:
      return "focusd is not on this bus; if it is installed, 'systemctl --user start focusd' starts it: \(message)"
    case .noReply where origin == .bus: return "focusd left without a reply: \(message)"
    case .noReply: return "focusd does not reply: \(message)"
    default: return message
    }
  }
}

extension DaemonCall {
  /// The command, or the daemon's method with the key or whatever else is its first argument.
  fileprivate var described: String {
    guard Key.isReserved(interface.text) else { return "\(interface).\(member)" }
    return arguments.first?.basicText.map { "\(member) \($0.excerpt)" } ?? "\(member)"
  }

  fileprivate func message() throws(DBusError) -> OutgoingMessage {
    try OutgoingMessage.methodCall(to: Focus1.busName, path: path, interface: interface, member: member, arguments)
  }

  fileprivate func reply(in message: Message) throws(DBusError) -> Reply {
    let values = try message.success().arguments()
    guard let reply = read(values) else {
      let types = values.map(\.type.description).joined()
      throw DBusError(
        .failed, "focusd replies to '\(member)' with '\(types)', which does not match version 1 of its interface")
    }
    return reply
  }

  /// What the object at `path` shows of itself.
  package static func introspection(of path: ObjectPath) -> DaemonCall where Reply == [InterfaceDescription] {
    DaemonCall(path, .introspectable, "Introspect") { values in
      guard values.count == 1, case .string(let xml) = values[0] else { return nil }
      return try? IntrospectionDocument.interfaces(in: xml, isLimited: false)
    }
  }
}

extension DaemonSignal {
  /// Reads `message`; nil if it is not a signal of `daemon`, the connection that holds the daemon's name, or of the bus
  /// about it.
  ///
  /// Anyone may send a signal to a connection that it names, regardless of the connection's match rules.
  package init?(_ message: Message, from daemon: BusName?) {
    if let change = message.nameOwnerChange, change.name == Focus1.busName {
      self = .daemon(before: change.before, now: change.now)
      return
    }
    guard message.kind == .signal, let sender = message.sender, sender == daemon,
      let arguments = try? message.arguments()
    else { return nil }
    self.init(message.interface, message.member, message.path, arguments)
  }
}

extension MatchRule {
  /// The daemon comes and goes.
  package static let daemon = nameOwnerChanges(of: Focus1.busName)

  /// Fields come and go.
  package static let fields = MatchRule(sender: Focus1.busName, path: Focus1.root, interface: .objectManager)

  /// The properties of fields change: not their values, but whose they are and what becomes of them.
  package static let fieldProperties = MatchRule(
    sender: Focus1.busName, pathNamespace: Focus1.fields, interface: .properties,
    member: .propertiesChanged, arguments: [0: Focus1.field.text])

  /// The properties of the object at `path` change.
  package static func properties(of path: ObjectPath) -> MatchRule {
    MatchRule(
      sender: Focus1.busName, path: path, interface: .properties, member: .propertiesChanged)
  }
}

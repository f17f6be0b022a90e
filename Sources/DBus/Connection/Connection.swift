internal import CDBus
public import DBusTypes
public import EventLoop
internal import Glibc

/// A private connection to a message bus.
///
/// It belongs to one thread. Attached to an event loop it receives messages; without one it can send, and call and wait.
public final class Connection {
  /// Which bus to connect to.
  public enum Bus: Hashable, Sendable {
    /// The user's session bus.
    case session
    /// The machine's system bus.
    case system
    /// The bus at an address, such as `unix:path=/run/user/1000/bus`.
    case address(String)
  }

  /// What a peer's reply, or the lack of one, is handed to.
  public typealias ReplyHandler = (Result<Message, DBusError>) -> Void

  let raw: OpaquePointer
  private(set) var loop: EventLoop?
  private var watches: ConnectionWatches?
  var calls = PendingCalls()
  var inbox = Inbox()
  var output: OutputQueue
  /// Whether what is sent is written later, with what follows.
  var isCollecting = false
  /// The numbers that libdbus gives to what it sends itself are below it.
  var lastSerial: UInt32 = 1 << 31

  /// Whether the transport is a unix(7) socket that passes file descriptors.
  var canSendUnixFDs: Bool { dbus_connection_can_send_type(raw, CDBUS_TYPE_UNIX_FD) != 0 }

  /// Called with each message that arrives and is no reply to a call of this connection.
  public var onMessage: ((Message) -> Void)?

  /// Called once when the bus has closed the connection.
  public var onDisconnect: (() -> Void)?

  /// Connects to `bus` and says hello to it; a bus given by its address may take `timeout` to answer, or any time if
  /// that is nil.
  /// - Throws: `DBusError` if there is no such bus or the bus refuses; `Timeout`.
  public convenience init(to bus: Bus, timeout: Duration? = nil) throws(DBusError) {
    try self.init(opening: bus)
    // From here on `deinit` closes the connection, even if this throws.
    guard case .address = bus else { return }
    if let timeout { try sayHello(timeout) } else { _ = try withDBusError { dbus_bus_register(raw, $0) } }
  }

  /// Connects to the bus at `address` without waiting for it, receives on `loop`, and calls `handler` once, later.
  ///
  /// It fails if there is no such bus, or if that does not answer within `timeout`.
  package static func open(
    _ address: String, on loop: EventLoop, timeout: Duration,
    _ handler: @escaping (Result<Connection, DBusError>) -> Void
  ) {
    // Not from within the connection's own dispatching: who is given a failure may be the last to hold it.
    func finish(_ result: Result<Connection, DBusError>) { loop.schedule(after: .zero) { handler(result) } }
    do throws(DBusError) {
      let connection = try Connection(opening: .address(address))
      connection.attach(to: loop)
      try connection.call(try connection.question("Hello"), timeout: timeout) { answer in
        finish(
          Result { () throws(DBusError) in
            try connection.takeName(answer.get())
            return connection
          })
      }
    } catch {
      finish(.failure(error))
    }
  }

  /// Connects to a program that listens at `address` itself, without a bus, and receives on `loop`: there is no name to be had, and
  /// calls have no destination.
  ///
  /// It waits only as connect(2) does, if too many others wait to be heard.
  /// - Throws: `DBusError` if nobody listens there.
  package convenience init(toPeer address: String, on loop: EventLoop) throws(DBusError) {
    try self.init(opening: .address(address))
    attach(to: loop)
  }

  private init(opening bus: Bus) throws(DBusError) {
    let opened = try withDBusError { error in
      switch bus {
      case .session: dbus_bus_get_private(DBUS_BUS_SESSION, error)
      case .system: dbus_bus_get_private(DBUS_BUS_SYSTEM, error)
      case .address(let address): address.contains("\0") ? nil : dbus_connection_open_private(address, error)
      }
    }
    guard let opened else { throw DBusError(.disconnected, "no connection to the bus") }
    raw = opened
    output = OutputQueue(opened)
    dbus_connection_set_exit_on_disconnect(raw, 0)
    dbus_connection_add_filter(raw, Connection.filter, Unmanaged.passUnretained(self).toOpaque(), nil)
  }

  private func takeName(_ answer: Message) throws(DBusError) {
    guard case .string(let name)? = try answer.success().arguments().first else {
      throw DBusError(.failed, "the bus did not assign a name to this connection")
    }
    _ = dbus_bus_set_unique_name(raw, name)
  }

  /// Does what `dbus_bus_register` does, which is faster but waits forever if the bus accepts and never answers.
  private func sayHello(_ timeout: Duration) throws(DBusError) {
    let hello = try question("Hello")
    let loop = EventLoop()
    attach(to: loop)
    defer { detach() }
    var answer: Result<Message, DBusError>?
    try call(hello, timeout: timeout) { answer = $0 }
    while answer == nil { loop.turn() }
    if let answer { try takeName(answer.get()) }
  }

  deinit {
    failPendingCalls()
    detach()
    dbus_connection_remove_filter(raw, Connection.filter, Unmanaged.passUnretained(self).toOpaque())
    dbus_connection_close(raw)
    // A connection that is freed with undispatched messages aborts the process.
    while dbus_connection_dispatch(raw) == DBUS_DISPATCH_DATA_REMAINS {}
    dbus_connection_unref(raw)
  }

  /// The name that the bus gave to this connection.
  public var uniqueName: BusName? {
    String(optionalCString: dbus_bus_get_unique_name(raw)).map(BusName.init(known:))
  }

  /// What tells the bus from each other one, `dbus_connection_get_server_id`; nil if it has not said it.
  package var serverID: String? {
    guard let id = dbus_connection_get_server_id(raw) else { return nil }
    defer { dbus_free(id) }
    return String(cString: id)
  }

  /// Whether the bus is still there, as far as is known.
  public var isConnected: Bool { dbus_connection_get_is_connected(raw) != 0 }

  /// The descriptor of its socket, which stays libdbus's; nil once it is closed.
  package var socket: Int32? {
    var socket: Int32 = -1
    return dbus_connection_get_socket(raw, &socket) != 0 ? socket : nil
  }

  /// Closes the connection, as one that breaks the protocol, when a message of more than `bytes` arrives: the memory that
  /// it takes is a multiple of that.
  package func limitMessages(to bytes: Int) { dbus_connection_set_max_message_size(raw, bytes) }

  /// Has `loop` receive and dispatch this connection's messages.
  public func attach(to loop: EventLoop) {
    detach()
    self.loop = loop
    watches = ConnectionWatches(self, loop)
  }

  /// Undoes `attach`.
  public func detach() {
    watches?.detach()
    watches = nil
    loop = nil
  }
}

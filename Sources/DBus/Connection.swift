internal import CDBus
public import DBusTypes

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
  private var pending: [UInt32: (handler: ReplyHandler, timer: TimerID?)] = [:]
  /// The number of the last message that was sent in a batch.
  var lastSerial: UInt32 = 0

  /// Whether the transport is a unix(7) socket that passes file descriptors.
  var canSendUnixFDs: Bool { dbus_connection_can_send_type(raw, CDBUS_TYPE_UNIX_FD) != 0 }

  /// Called with each message that arrives and is no reply to a call of this connection.
  public var onMessage: ((Message) -> Void)?

  /// Called once when the bus has closed the connection.
  public var onDisconnect: (() -> Void)?

  /// Connects to `bus` and says hello to it; one that is named by its address may take `timeout` to answer, and without
  /// that as long as it likes.
  /// - Throws: `DBusError` where there is no such bus, or it refuses; `Timeout`.
  public init(to bus: Bus, timeout: Duration? = nil) throws(DBusError) {
    let opened = try withDBusError { error in
      switch bus {
      case .session: dbus_bus_get_private(DBUS_BUS_SESSION, error)
      case .system: dbus_bus_get_private(DBUS_BUS_SYSTEM, error)
      case .address(let address): address.contains("\0") ? nil : dbus_connection_open_private(address, error)
      }
    }
    guard let opened else { throw DBusError(.disconnected, "no connection to the bus") }
    raw = opened
    dbus_connection_set_exit_on_disconnect(raw, 0)
    dbus_connection_add_filter(raw, Connection.filter, Unmanaged.passUnretained(self).toOpaque(), nil)
    // From here on `deinit` takes the connection away, also where this throws.
    guard case .address = bus else { return }
    if let timeout { try sayHello(timeout) } else { _ = try withDBusError { dbus_bus_register(opened, $0) } }
  }

  /// What `dbus_bus_register` does, which is faster, and waits for ever where a bus takes the connection and says nothing.
  private func sayHello(_ timeout: Duration) throws(DBusError) {
    let hello = try Message.methodCall(
      to: .bus, path: ObjectPath(known: "/org/freedesktop/DBus"), interface: .bus, member: MemberName(known: "Hello"))
    let loop = EventLoop()
    attach(to: loop)
    defer { detach() }
    var answer: Result<Message, DBusError>?
    try call(hello, timeout: timeout) { answer = $0 }
    while answer == nil { loop.turn() }
    guard case .string(let name)? = try answer?.get().success().arguments().first else {
      throw DBusError(.failed, "the bus gives this connection no name")
    }
    _ = dbus_bus_set_unique_name(raw, name)
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

  /// Whether the bus is still there, as far as is known.
  public var isConnected: Bool { dbus_connection_get_is_connected(raw) != 0 }

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

  /// Sends `message`; it is written at once where the socket takes it, else when it does.
  /// - Throws: `DBusError`: `Disconnected`; `NotSupported` for file descriptors on a transport that passes none.
  /// - Returns: the message's serial number.
  @discardableResult
  public func send(_ message: Message) throws(DBusError) -> UInt32 {
    guard isConnected else { throw .disconnected }
    if dbus_message_contains_unix_fds(message.raw) != 0, !canSendUnixFDs {
      throw DBusError(.notSupported, "this connection passes no file descriptors")
    }
    var serial: dbus_uint32_t = 0
    guard dbus_connection_send(raw, message.raw, &serial) != 0 else { throw .noMemory }
    return serial
  }

  /// Waits until all that was sent has been written.
  public func flush() { dbus_connection_flush(raw) }

  /// Calls a method and waits for its reply; messages that arrive meanwhile are kept for the loop.
  /// - Throws: `DBusError`: the peer's error, `NoReply` after `timeout`, or `Disconnected`.
  public func call(_ message: Message, timeout: Duration = .seconds(25)) throws(DBusError) -> Message {
    guard isConnected else { throw .disconnected }
    let reply = try withDBusError {
      dbus_connection_send_with_reply_and_block(raw, message.raw, timeout.milliseconds, $0)
    }
    guard let reply else { throw .noMemory }
    return Message(adopting: reply)
  }

  /// Calls methods, all at once, and waits for their replies; errors are among them.
  /// - Throws: `DBusError`: `Disconnected`.
  func call(_ messages: [Message], timeout: Duration = .seconds(25)) throws(DBusError) -> [Message] {
    var calls: [OpaquePointer] = []
    defer { for call in calls { dbus_pending_call_unref(call) } }
    for message in messages {
      var call: OpaquePointer?
      guard dbus_connection_send_with_reply(raw, message.raw, &call, timeout.milliseconds) != 0 else { throw .noMemory }
      guard let call else { throw .disconnected }
      calls.append(call)
    }
    var replies: [Message] = []
    for call in calls {
      dbus_pending_call_block(call)
      guard let reply = dbus_pending_call_steal_reply(call) else { throw .disconnected }
      replies.append(Message(adopting: reply))
    }
    return replies
  }

  /// Calls a method and has `handler` called with the reply, which may be an error message, or with what prevented one:
  /// `Timeout`, `Disconnected`.
  /// - Throws: `DBusError` as `send` does; then `handler` is not called.
  public func call(
    _ message: Message, timeout: Duration = .seconds(25), _ handler: @escaping ReplyHandler
  ) throws(DBusError) {
    let serial = try send(message)
    let timer = loop?.schedule(after: timeout) { [weak self] in
      self?.pending.removeValue(forKey: serial)?.handler(
        .failure(DBusError(.timeout, "no reply within \(timeout)")))
    }
    pending[serial] = (handler, timer)
  }

  private static let filter: DBusHandleMessageFunction = { _, message, data in
    guard let message, let data else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
    let connection = Unmanaged<Connection>.fromOpaque(data).takeUnretainedValue()
    // libdbus itself answers a call that nobody here would.
    if connection.onMessage == nil, dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_METHOD_CALL {
      return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
    }
    connection.received(Message(sharing: message))
    return DBUS_HANDLER_RESULT_HANDLED
  }

  private func failPendingCalls() {
    let calls = pending.sorted { $0.key < $1.key }.map(\.value)
    pending = [:]
    for call in calls {
      if let timer = call.timer { loop?.cancel(timer) }
      call.handler(.failure(.disconnected))
    }
  }

  private func received(_ message: Message) {
    switch message.kind {
    case .methodReturn, .error:
      guard let call = pending.removeValue(forKey: message.replySerial) else { return }
      if let timer = call.timer { loop?.cancel(timer) }
      call.handler(.success(message))
    case .signal where dbus_message_is_signal(message.raw, "org.freedesktop.DBus.Local", "Disconnected") != 0:
      failPendingCalls()
      onDisconnect?()
    case .methodCall, .signal, .other:
      onMessage?(message)
    }
  }
}

extension DBusError {
  static let disconnected = DBusError(.disconnected, "the connection to the bus is closed")
}

extension Message {
  /// The message itself where it is no error.
  /// - Throws: the error that the message carries.
  public func success() throws(DBusError) -> Message {
    if let error { throw error }
    return self
  }
}

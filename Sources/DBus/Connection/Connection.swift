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
  private var calls = PendingCalls()
  private var inbox = Inbox()
  private var output: OutputQueue
  /// The numbers that libdbus gives to what it sends itself are below it.
  private var lastSerial: UInt32 = 1 << 31

  /// Whether the transport is a unix(7) socket that passes file descriptors.
  private var canSendUnixFDs: Bool { dbus_connection_can_send_type(raw, CDBUS_TYPE_UNIX_FD) != 0 }

  /// Called with each message that arrives and is no reply to a call of this connection.
  public var onMessage: ((Message) -> Void)?

  /// Called once when the bus has closed the connection.
  public var onDisconnect: (() -> Void)?

  /// Connects to `bus` and says hello to it; a bus given by its address may take `timeout` to answer, or any time if
  /// that is nil.
  /// - Throws: `DBusError` if there is no such bus or the bus refuses; `Timeout`.
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
    output = OutputQueue(opened)
    dbus_connection_set_exit_on_disconnect(raw, 0)
    dbus_connection_add_filter(raw, Connection.filter, Unmanaged.passUnretained(self).toOpaque(), nil)
    // From here on `deinit` closes the connection, even if this throws.
    guard case .address = bus else { return }
    if let timeout { try sayHello(timeout) } else { _ = try withDBusError { dbus_bus_register(opened, $0) } }
  }

  /// Does what `dbus_bus_register` does, which is faster but waits forever if the bus accepts and never answers.
  private func sayHello(_ timeout: Duration) throws(DBusError) {
    let hello = try OutgoingMessage.methodCall(
      to: .bus, path: ObjectPath(known: "/org/freedesktop/DBus"), interface: .bus, member: MemberName(known: "Hello"))
    let loop = EventLoop()
    attach(to: loop)
    defer { detach() }
    var answer: Result<Message, DBusError>?
    try call(hello, timeout: timeout) { answer = $0 }
    while answer == nil { loop.turn() }
    guard case .string(let name)? = try answer?.get().success().arguments().first else {
      throw DBusError(.failed, "the bus did not assign a name to this connection")
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

  /// Sends `message`; it is written at once if the socket takes it, else when it does.
  /// - Throws: `DBusError`: `Disconnected`; `NotSupported` for file descriptors on a transport that passes none.
  /// - Returns: the message's serial number.
  @discardableResult
  public func send(_ message: OutgoingMessage) throws(DBusError) -> UInt32 {
    let serial = try enqueue(message)
    try writeOutput()
    return serial
  }

  /// Sends messages in their order, in as few writes as there can be.
  /// - Throws: `DBusError` as `send(_:)` does.
  public func send(_ messages: [OutgoingMessage]) throws(DBusError) {
    for message in messages { try enqueue(message) }
    try writeOutput()
  }

  @discardableResult
  private func enqueue(_ message: OutgoingMessage) throws(DBusError) -> UInt32 {
    guard isConnected else { throw .disconnected }
    lastSerial = lastSerial == .max ? 1 << 31 : lastSerial + 1
    switch message.content {
    case .library(let message):
      guard dbus_message_contains_unix_fds(message.raw) == 0 || canSendUnixFDs else { throw .noDescriptors }
      dbus_message_set_serial(message.raw, lastSerial)
      output.add(message)
    case .marshalled(let header, let body):
      if canSendUnixFDs {
        output.add(header, serial: lastSerial, body)
      } else {
        // Only of a socket is it known that nothing but messages goes over it.
        guard body.descriptors.isEmpty else { throw .noDescriptors }
        let copy = try message.received()
        dbus_message_set_serial(copy.raw, lastSerial)
        output.add(LibraryMessage(adopting: dbus_message_ref(copy.raw), bodySize: body.bytes.count))
      }
    }
    return lastSerial
  }

  /// Whether something that was sent is not written yet, but for what libdbus has.
  var hasOutput: Bool { !output.isEmpty }

  /// Whether the rest of the output waits for libdbus's own.
  var outputWaitsForLibrary: Bool { output.waitsForLibrary }

  /// Writes what the bus takes now.
  /// - Throws: `DBusError.disconnected` if it takes nothing any more; the connection is closed then.
  func writeOutput() throws(DBusError) {
    do throws(DBusError) {
      try output.write()
    } catch {
      output.removeAll()
      // What came next could begin in the middle of a message.
      dbus_connection_close(raw)
      throw error
    }
  }

  /// Waits until all that was sent has been written.
  public func flush() {
    _ = try? writeAll(until: nil)
    dbus_connection_flush(raw)
  }

  /// Waits until all that was sent has been written, but for what libdbus has, or until `deadline`.
  /// - Throws: `DBusError.disconnected`.
  /// - Returns: false if the deadline has passed.
  private func writeAll(until deadline: SuspendingClock.Instant?) throws(DBusError) -> Bool {
    while hasOutput {
      guard isConnected else { throw .disconnected }
      let left = deadline.map { $0 - SuspendingClock.now }
      guard left.map({ $0 > .zero }) ?? true else { return false }
      if output.waitsForLibrary { dbus_connection_read_write(raw, left?.milliseconds ?? -1) }
      try writeOutput()
      var socket: Int32 = -1
      guard hasOutput, !output.waitsForLibrary, dbus_connection_get_socket(raw, &socket) != 0 else { continue }
      var room = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
      poll(&room, 1, left?.milliseconds ?? -1)
    }
    return true
  }

  /// Calls a method and waits for its reply; messages that arrive meanwhile are kept for the loop.
  ///
  /// Only the peer that is called replies to it, or the bus; what others send that claims to be a reply is dropped.
  /// - Throws: `DBusError`: the peer's error, `NoReply` after `timeout`, or `Disconnected`; as `send` does.
  public func call(_ message: OutgoingMessage, timeout: Duration = .seconds(25)) throws(DBusError) -> Message {
    guard let reply = try call([message], timeout: timeout).first else { throw .disconnected }
    return try reply.success()
  }

  /// Calls methods, all at once, and waits for their replies; errors are among them.
  /// - Throws: `DBusError`: `NoReply` after `timeout`, or `Disconnected`; as `send` does.
  func call(_ messages: [OutgoingMessage], timeout: Duration = .seconds(25)) throws(DBusError) -> [Message] {
    let deadline = SuspendingClock.now + timeout
    var replies = [Message?](repeating: nil, count: messages.count)
    var left = messages.count
    var serials: [UInt32] = []
    defer { for serial in serials { _ = calls.take(serial) } }
    for (index, message) in messages.enumerated() {
      serials.append(
        try begin(message, isImmediate: true) { result in
          replies[index] = try? result.get()
          left -= 1
        })
    }
    try writeOutput()
    guard try wait(until: deadline, for: { left == 0 }) else { throw DBusError(.noReply, "no reply within \(timeout)") }
    return replies.compactMap(\.self)
  }

  /// Calls a method and passes `handler` the reply, which may be an error message, or the error that prevented one:
  /// `Timeout`, `Disconnected`.
  ///
  /// Only the peer that is called replies to it, or the bus; what others send that claims to be a reply is dropped.
  /// - Throws: `DBusError` as `send` does; then `handler` is not called.
  public func call(
    _ message: OutgoingMessage, timeout: Duration = .seconds(25), _ handler: @escaping ReplyHandler
  ) throws(DBusError) {
    let serial = try begin(message, timeout: timeout, handler)
    do throws(DBusError) {
      try writeOutput()
    } catch {
      if let timer = calls.take(serial)?.timer { loop?.cancel(timer) }
      throw error
    }
  }

  /// Queues a call for the next write, after a query for its destination's owner if the owner must be known.
  /// - Throws: `DBusError` as `send` does.
  /// - Returns: the call's serial number.
  @discardableResult
  private func begin(
    _ message: OutgoingMessage, isImmediate: Bool = false, timeout: Duration? = nil, _ handler: @escaping ReplyHandler
  ) throws(DBusError) -> UInt32 {
    let destination = message.destination?.text
    let holder = try destination.flatMap(follow)
    let serial = try enqueue(message)
    let timer = timeout.flatMap { timeout in
      loop?.schedule(after: timeout) { [weak self] in
        self?.calls.take(serial)?.handler(.failure(DBusError(.timeout, "no reply within \(timeout)")))
      }
    }
    calls.add(PendingCall(serial, to: destination, holder, isImmediate: isImmediate, timer: timer, handler))
    return serial
  }

  /// Has the bus tell who holds `name`, now and whenever that changes, the first time that it is called; no answer is
  /// waited for, since it comes before what the owner sends.
  /// - Returns: who holds it, or nil for a name that is its holder's own.
  private func follow(_ name: String) throws(DBusError) -> NameHolder? {
    guard PendingCalls.isWellKnown(name) else { return nil }
    if let holder = calls.holder(of: name) { return holder }
    // A name holds no quote, and to write the rule out takes a tenth of the time that `MatchRule` does.
    let rule = "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',"
    try begin(try question("AddMatch", [.string(rule + "arg0='" + name + "'")]), isImmediate: true) {
      [weak self] result in
      // Without the rule the bus does not tell of a new owner: the next call asks again.
      if (try? result.get())?.error != nil { self?.calls.forget(name) }
    }
    try begin(try question("GetNameOwner", [.string(name)]), isImmediate: true) { [weak self] result in
      guard case .string(let owner)? = try? result.get().success().arguments().first else { return }
      self?.calls.setOwner(of: name, owner)
    }
    let holder = NameHolder(of: name)
    calls.follow(holder)
    return holder
  }

  /// Receives until `isOver`; what arrives meanwhile is kept.
  ///
  /// What has arrived by the deadline counts even if this process was held up and reads it late.
  /// - Throws: `DBusError.disconnected`.
  /// - Returns: false if the deadline has passed.
  private func wait(until deadline: SuspendingClock.Instant, for isOver: () -> Bool) throws(DBusError) -> Bool {
    var isLate = false
    while true {
      guard try writeAll(until: deadline) else { return false }
      let status = dbus_connection_dispatch(raw)
      if isOver() { return true }
      let left = deadline - SuspendingClock.now
      guard status != DBUS_DISPATCH_DATA_REMAINS else {
        guard left > .zero - EventLoop.mostDelay else { return false }
        continue
      }
      guard isConnected else { throw .disconnected }
      guard !isLate else { return false }
      isLate = left <= .zero
      dbus_connection_read_write(raw, max(.zero, left).milliseconds)
    }
  }

  private static let filter: DBusHandleMessageFunction = { _, message, data in
    guard let message, let data else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
    let connection = Unmanaged<Connection>.fromOpaque(data).takeUnretainedValue()
    // libdbus itself answers a call that nobody here would.
    if connection.onMessage == nil, dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_METHOD_CALL {
      return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
    }
    connection.arrived(message)
    return DBUS_HANDLER_RESULT_HANDLED
  }

  private static let nameOwnerChanged = MemberName(known: "NameOwnerChanged")

  /// Queues a message that libdbus has read, to handle it after libdbus has dispatched it: a handler may call and wait.
  private func arrived(_ raw: OpaquePointer) {
    switch dbus_message_get_type(raw) {
    case DBUS_MESSAGE_TYPE_METHOD_RETURN, DBUS_MESSAGE_TYPE_ERROR:
      guard let call = calls.call(answeredBy: raw) else { return }
      guard call.isImmediate else { break }
      _ = calls.take(dbus_message_get_reply_serial(raw))
      return call.handler(.success(Message(sharing: raw)))
    case DBUS_MESSAGE_TYPE_SIGNAL: if calls.followsNames { ownerMayHaveChanged(Message(sharing: raw)) }
    default: break
    }
    inbox.append(Message(sharing: raw))
  }

  /// Who holds a name is taken in when it arrives: it says which answers count that arrive after it.
  private func ownerMayHaveChanged(_ signal: Message) {
    guard signal.isSignal(.bus, Connection.nameOwnerChanged), signal.sender == .bus,
      let arguments = try? signal.arguments(), arguments.count == 3,
      case .string(let name) = arguments[0], case .string(let owner) = arguments[2]
    else { return }
    calls.setOwner(of: name, owner)
  }

  /// Whether messages have arrived that are not handled yet.
  var hasArrivals: Bool { !inbox.isEmpty }

  /// Handles the oldest message that has arrived, if there is one.
  func handleNext() {
    if let message = inbox.popFirst() { received(message) }
  }

  private func failPendingCalls() {
    for call in calls.takeAll() {
      if let timer = call.timer { loop?.cancel(timer) }
      call.handler(.failure(.disconnected))
    }
  }

  private func received(_ message: Message) {
    switch message.kind {
    case .methodReturn, .error:
      guard let call = calls.take(message.replySerial) else { return }
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
  static let noDescriptors = DBusError(.notSupported, "this connection does not support file descriptors")
}

extension Message {
  /// The message itself if it is not an error.
  /// - Throws: the error that the message carries.
  public func success() throws(DBusError) -> Message {
    if let error { throw error }
    return self
  }
}

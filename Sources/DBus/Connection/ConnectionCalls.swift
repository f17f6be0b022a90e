internal import CDBus
internal import DBusTypes
internal import EventLoop
internal import Glibc

/// Method calls, and their replies by serial number and sender.
extension Connection {
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

  /// Calls a method and passes `handler` the reply, which may be an error message, or the error that prevented one.
  ///
  /// That is `Timeout` or `Disconnected`. Without a `timeout`, it waits as long as the peer is there.
  /// Only the peer that is called replies to it, or the bus; what others send that claims to be a reply is dropped.
  /// - Throws: `DBusError` as `send` does; then `handler` is not called.
  public func call(
    _ message: OutgoingMessage, timeout: Duration? = .seconds(25), _ handler: @escaping ReplyHandler
  ) throws(DBusError) {
    let serial = try begin(message, timeout: timeout, handler)
    guard !isCollecting else { return }
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
  func begin(
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
    var isTold = true
    try begin(try question("AddMatch", [.string(rule + "arg0='" + name + "'")]), isImmediate: true) { result in
      isTold = (try? result.get())?.error == nil
    }
    try begin(try question("GetNameOwner", [.string(name)]), isImmediate: true) { [weak self] result in
      if case .string(let owner)? = try? result.get().success().arguments().first {
        self?.calls.setOwner(of: name, owner)
      }
      // Without the rule the bus does not tell of a new owner: the next call asks again.
      if !isTold { self?.calls.forget(name) }
    }
    let holder = NameHolder(of: name)
    calls.follow(holder)
    return holder
  }

  /// Receives until `isOver`; what arrives meanwhile is kept.
  ///
  /// What has arrived by the deadline counts even if this process was held up and reads it late: that takes 250 ms at most.
  /// - Throws: `DBusError.disconnected`.
  /// - Returns: false if the deadline has passed.
  private func wait(until deadline: SuspendingClock.Instant, for isOver: () -> Bool) throws(DBusError) -> Bool {
    var lateSince: SuspendingClock.Instant?
    while true {
      guard try writeAll(until: deadline) else { return false }
      let status = dbus_connection_dispatch(raw)
      if isOver() { return true }
      let now = SuspendingClock.now
      if now >= deadline {
        let since = lateSince ?? now
        lateSince = since
        guard now - since < EventLoop.mostDelay else { return false }
      }
      if status == DBUS_DISPATCH_DATA_REMAINS { continue }
      guard isConnected else { throw .disconnected }
      guard lateSince == nil || hasInput else { return false }
      dbus_connection_read_write(raw, max(.zero, deadline - now).milliseconds)
    }
  }

  /// Whether the bus has sent something that was not read yet.
  private var hasInput: Bool {
    guard let socket else { return false }
    var input = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&input, 1, 0) > 0
  }
}

extension Message {
  /// The message itself if it is not an error.
  /// - Throws: the error that the message carries.
  public func success() throws(DBusError) -> Message {
    if let error { throw error }
    return self
  }
}

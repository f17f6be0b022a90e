internal import CDBus
internal import DBusTypes
internal import EventLoop
internal import Glibc

/// Messages go out in their order; what the socket does not take at once waits.
extension Connection {
  /// Sends `message`; it is written at once if the socket takes it, else when it does.
  /// - Throws: `DBusError`: `Disconnected`; `NotSupported` for file descriptors on a transport that passes none.
  /// - Returns: the message's serial number.
  @discardableResult
  public func send(_ message: OutgoingMessage) throws(DBusError) -> UInt32 {
    let serial = try enqueue(message)
    if !isCollecting { try writeOutput() }
    return serial
  }

  /// Sends messages in their order, in as few writes as there can be.
  /// - Throws: `DBusError` as `send(_:)` does.
  public func send(_ messages: [OutgoingMessage]) throws(DBusError) {
    for message in messages { try enqueue(message) }
    if !isCollecting { try writeOutput() }
  }

  /// Writes all that `body` sends, and calls without waiting, together when `body` ends.
  package func writeTogether(_ body: () -> Void) {
    guard !isCollecting else { return body() }
    isCollecting = true
    body()
    isCollecting = false
    if hasOutput { try? writeOutput() }
  }

  @discardableResult
  func enqueue(_ message: OutgoingMessage) throws(DBusError) -> UInt32 {
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
  func writeAll(until deadline: SuspendingClock.Instant?) throws(DBusError) -> Bool {
    while hasOutput {
      guard isConnected else { throw .disconnected }
      let left = deadline.map { $0 - SuspendingClock.now }
      guard left.map({ $0 > .zero }) ?? true else { return false }
      if output.waitsForLibrary { dbus_connection_read_write(raw, left?.milliseconds ?? -1) }
      try writeOutput()
      guard hasOutput, !output.waitsForLibrary, let socket else { continue }
      var room = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
      poll(&room, 1, left?.milliseconds ?? -1)
    }
    return true
  }
}

extension DBusError {
  static let disconnected = DBusError(.disconnected, "the connection to the bus is closed")
  static let noDescriptors = DBusError(.notSupported, "this connection does not support file descriptors")
}

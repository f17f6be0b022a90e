internal import CDBus
package import DBusTypes
internal import EventLoop

/// Messages that arrive, on their way to the handlers.
extension Connection {
  static let filter: DBusHandleMessageFunction = { _, message, data in
    guard let message, let data else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
    let connection = Unmanaged<Connection>.fromOpaque(data).takeUnretainedValue()
    // libdbus itself answers a call without a handler here.
    if connection.onMessage == nil, dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_METHOD_CALL {
      return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
    }
    connection.arrived(message)
    return DBUS_HANDLER_RESULT_HANDLED
  }

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
    guard let change = signal.nameOwnerChange else { return }
    calls.setOwner(of: change.name.text, change.now?.text ?? "")
  }

  /// Whether messages have arrived that are not handled yet.
  var hasArrivals: Bool { !inbox.isEmpty }

  /// Handles the oldest message that has arrived, if there is one.
  func handleNext() {
    if let message = inbox.popFirst() { received(message) }
  }

  /// Handles what has arrived on the socket, ahead of the loop's turn.
  package func receive() {
    dbus_connection_read_write(raw, 0)
    repeat {
      let status = dbus_connection_dispatch(raw)
      while hasArrivals { handleNext() }
      guard status == DBUS_DISPATCH_DATA_REMAINS else { return }
    } while true
  }

  func failPendingCalls() { end(calls.takeAll(), .disconnected) }

  /// Ends the calls to `peer` that wait for a handler, each with `error`: it has left the bus.
  package func endCalls(to peer: BusName, _ error: DBusError) { end(calls.takeAll(to: peer.text), error) }

  private func end(_ ended: [PendingCall], _ error: DBusError) {
    for call in ended {
      if let timer = call.timer { loop?.cancel(timer) }
      call.handler(.failure(error))
    }
  }

  func received(_ message: Message) {
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

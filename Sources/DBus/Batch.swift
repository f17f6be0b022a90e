internal import CDBus
internal import Glibc

/// Messages that leave together: each write wakes the bus, which costs more than most of what is written.
extension Connection {
  /// Replies and signals are not replied to, so their numbers need only differ from those that libdbus gives to calls.
  private static let firstSerial: UInt32 = 1 << 31

  /// Sends replies and signals in their order, in as few writes as there can be; calls are sent one by one.
  /// - Throws: `DBusError` as `send(_:)` does.
  public func send(_ messages: [Message]) throws(DBusError) {
    guard messages.count > 1, isConnected, canSendUnixFDs else {
      for message in messages { try send(message) }
      return
    }
    var batch = Batch()
    for message in messages {
      guard message.kind != .methodCall, dbus_message_contains_unix_fds(message.raw) == 0 else {
        try send(&batch)
        try send(message)
        continue
      }
      if message.serial == 0 { dbus_message_set_serial(message.raw, nextSerial()) }
      while try !batch.add(message) { try send(&batch) }
    }
    try send(&batch)
  }

  private func nextSerial() -> UInt32 {
    lastSerial = lastSerial < .max ? max(lastSerial + 1, Connection.firstSerial) : Connection.firstSerial
    return lastSerial
  }

  /// Sends what is in the batch, which is empty then; what cannot be written at once is left to libdbus.
  private func send(_ batch: inout Batch) throws(DBusError) {
    defer { batch = Batch() }
    var socket: Int32 = -1
    if batch.messages.count < 2 || dbus_connection_has_messages_to_send(raw) != 0
      || dbus_connection_get_socket(raw, &socket) == 0 || !batch.write(to: socket)
    {
      for message in batch.messages { try send(message) }
    }
  }
}

/// Messages for one write to a unix(7) socket.
private struct Batch: ~Copyable {
  /// The most bytes of several messages: as many the kernel takes whole or not at all.
  private static let sizeLimit = 32 << 10
  /// The most messages, a quarter of what `sendmsg(2)` takes: IOV_MAX.
  private static let countLimit = 256

  private(set) var messages: [Message] = []
  private var starts: [UnsafeMutablePointer<CChar>] = []
  private var unwritten: [iovec] = []
  private var size = 0

  deinit { for start in starts { dbus_free(start) } }

  /// Adds `message`, unless it does not fit beside the others.
  /// - Throws: `DBusError` where libdbus finds no memory.
  /// - Returns: whether it was added.
  mutating func add(_ message: Message) throws(DBusError) -> Bool {
    var start: UnsafeMutablePointer<CChar>?
    var count: Int32 = 0
    guard dbus_message_marshal(message.raw, &start, &count) != 0, let start else { throw .noMemory }
    guard messages.isEmpty || (size + Int(count) <= Batch.sizeLimit && messages.count < Batch.countLimit) else {
      dbus_free(start)
      return false
    }
    messages.append(message)
    starts.append(start)
    unwritten.append(iovec(iov_base: start, iov_len: Int(count)))
    size += Int(count)
    return true
  }

  /// Writes all messages.
  /// - Returns: false where nothing was written.
  mutating func write(to socket: Int32) -> Bool {
    var hasBegun = false
    while !unwritten.isEmpty {
      let written = unwritten.withUnsafeMutableBufferPointer { parts in
        var header = msghdr()
        header.msg_iov = parts.baseAddress
        header.msg_iovlen = parts.count
        return sendmsg(socket, &header, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
      }
      if written >= 0 {
        hasBegun = true
        drop(written)
      } else if hasBegun, errno == EAGAIN || errno == EINTR {
        // Nothing may come between the parts of a message.
        var room = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, -1)
      } else {
        return hasBegun
      }
    }
    return true
  }

  private mutating func drop(_ count: Int) {
    var left = count
    while let first = unwritten.first, left >= first.iov_len {
      left -= first.iov_len
      unwritten.removeFirst()
    }
    guard left > 0 else { return }
    unwritten[0].iov_base += left
    unwritten[0].iov_len -= left
  }
}

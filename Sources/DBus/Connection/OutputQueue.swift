internal import CDBus
internal import DBusTypes
internal import EventLoop
internal import Glibc

/// What a connection has sent and the bus has not taken yet, in order.
///
/// Messages that leave together are written together: each write wakes the bus, which costs more than most of what is
/// written. libdbus has written all of its own before any of this is, and it sends nothing while a message is half written.
struct OutputQueue {
  private enum Item {
    /// Messages, and the descriptors that go with their first byte.
    case bytes([UInt8], [UnixFD])
    case library(LibraryMessage)
  }

  /// The most bytes of several messages in one write: about what a socket's buffer takes.
  private static let joinedSize = 64 << 10

  private let connection: OpaquePointer
  private var items: [Item] = []
  /// How much of the first item is written.
  private var written = 0

  init(_ connection: OpaquePointer) { self.connection = connection }

  var isEmpty: Bool { items.isEmpty }

  /// Whether libdbus has to write what it has before this can.
  var waitsForLibrary: Bool { dbus_connection_has_messages_to_send(connection) != 0 }

  /// Adds a message in its marshalled form.
  mutating func add(_ header: [UInt8], serial: UInt32, _ body: MessageBody) {
    // A bus takes descriptors for those of the last message that was written with them.
    if case .bytes(var bytes, let descriptors)? = items.last, descriptors.isEmpty, body.descriptors.isEmpty,
      bytes.count + header.count + body.bytes.count <= OutputQueue.joinedSize
    {
      // Taken out, so that adding to it copies nothing.
      items.removeLast()
      OutputQueue.append(header, serial, body, to: &bytes)
      items.append(.bytes(bytes, descriptors))
      return
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(header.count + body.bytes.count)
    OutputQueue.append(header, serial, body, to: &bytes)
    items.append(.bytes(bytes, body.descriptors))
  }

  private static func append(_ header: [UInt8], _ serial: UInt32, _ body: MessageBody, to bytes: inout [UInt8]) {
    let place = bytes.count + MessageHeader.serialOffset
    bytes.append(contentsOf: header)
    withUnsafeBytes(of: serial) { number in
      for (index, byte) in number.enumerated() { bytes[place + index] = byte }
    }
    bytes.append(contentsOf: body.bytes)
  }

  /// Adds a message that libdbus sends in its turn.
  mutating func add(_ message: LibraryMessage) {
    items.append(.library(message))
  }

  mutating func removeAll() {
    items = []
    written = 0
  }

  /// Writes what the bus takes now.
  /// - Throws: `DBusError.noMemory` if libdbus finds no memory; `disconnected` if the bus has closed the connection, or
  ///   takes the rest of a message no more.
  mutating func write() throws(DBusError) {
    guard items.isEmpty || dbus_connection_get_is_connected(connection) != 0 else { throw .disconnected }
    while let first = items.first, !waitsForLibrary {
      switch first {
      case .library(let message):
        guard dbus_connection_send(connection, message.raw, nil) != 0 else { throw .noMemory }
        items.removeFirst()
      case .bytes(let bytes, let descriptors):
        var socket: Int32 = -1
        guard dbus_connection_get_socket(connection, &socket) != 0 else { throw .disconnected }
        // The descriptors go with the first byte.
        let numbers = written == 0 ? descriptors.map(\.number) : []
        let count = SocketMessage.send(bytes[written...], numbers, to: socket, Int32(MSG_DONTWAIT))
        guard count >= 0 else {
          if errno == EINTR { continue }
          if errno == EAGAIN || errno == ENOBUFS { return }
          guard errno == ETOOMANYREFS, written == 0 else { throw .disconnected }
          // Too many descriptors of this user are under way to others: this message is lost, as libdbus's would be.
          items.removeFirst()
          continue
        }
        written += count
        guard written == bytes.count else { continue }
        written = 0
        items.removeFirst()
      }
    }
  }
}

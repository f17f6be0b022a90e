internal import CDBus
internal import DBusTypes

/// Messages as bytes, outside of any connection.
extension Message {
  /// The length of the message at the start of `bytes`; nil if they hold no whole message.
  package static func size(of bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    guard let start = bytes.baseAddress, let count = Int32(exactly: bytes.count) else { return nil }
    let size = start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
      Int(dbus_message_demarshal_bytes_needed($0, count))
    }
    return size > 0 && size <= bytes.count ? size : nil
  }

  /// Reads the message that `bytes` consist of, as libdbus does when it arrives.
  /// - Throws: `DBusError` if they are not a valid message.
  package convenience init(demarshalling bytes: UnsafeBufferPointer<UInt8>) throws(DBusError) {
    guard let start = bytes.baseAddress, let count = Int32(exactly: bytes.count) else {
      throw DBusError(.invalidArgs, "\(bytes.count) bytes are not a message: too few (at least 16) or too many")
    }
    let raw = try withDBusError { error in
      start.withMemoryRebound(to: CChar.self, capacity: bytes.count) { dbus_message_demarshal($0, count, error) }
    }
    guard let raw else { throw .noMemory }
    self.init(adopting: raw)
  }

  /// The message's bytes, as they would be sent.
  /// - Throws: `DBusError` if libdbus cannot allocate memory.
  package func marshalled() throws(DBusError) -> [UInt8] {
    // Only a message that was sent has a serial, and none without is valid.
    if serial == 0 { dbus_message_set_serial(raw, 1) }
    var start: UnsafeMutablePointer<CChar>?
    var count: Int32 = 0
    guard dbus_message_marshal(raw, &start, &count) != 0, let start else { throw .noMemory }
    defer { dbus_free(start) }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(count)))
  }
}

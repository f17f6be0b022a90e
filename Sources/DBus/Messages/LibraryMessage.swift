internal import CDBus
internal import DBusTypes

/// A message that libdbus holds and sends: one with descriptors that came with another message, or a large body, neither of
/// which is copied out of libdbus.
final class LibraryMessage {
  let raw: OpaquePointer
  let bodySize: Int

  /// Takes over one reference to `raw`.
  init(adopting raw: OpaquePointer, bodySize: Int) {
    self.raw = raw
    self.bodySize = bodySize
  }

  deinit { dbus_message_unref(raw) }

  func set(_ flag: UInt8) {
    switch flag {
    case MessageHeader.noReplyFlag: dbus_message_set_no_reply(raw, 1)
    default: dbus_message_set_auto_start(raw, 0)
    }
  }

  /// The message's bytes.
  /// - Throws: `DBusError` if libdbus cannot allocate memory.
  func marshalled(serial: UInt32) throws(DBusError) -> [UInt8] {
    if dbus_message_get_serial(raw) == 0 { dbus_message_set_serial(raw, serial) }
    return try Message(sharing: raw).marshalled()
  }
}

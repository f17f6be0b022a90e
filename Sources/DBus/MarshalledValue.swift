internal import CDBus
public import DBusTypes

/// Values as bytes, in the form that they have in messages: the D-Bus specification, section "Marshaling".
extension Message {
  private static let carrier = InterfaceName(known: "org.freedesktop.DBus.Value")

  /// `value` as the bytes of a message that carries it.
  /// - Throws: `DBusError` as `append` does.
  public static func marshalled(_ value: DBusValue) throws(DBusError) -> [UInt8] {
    let message = try signal(
      path: .root, interface: carrier, member: MemberName(known: "Value"), [.variant(value)])
    // A message that is read must have a number.
    dbus_message_set_serial(message.raw, 1)
    var bytes: UnsafeMutablePointer<CChar>?
    var count: Int32 = 0
    guard dbus_message_marshal(message.raw, &bytes, &count) != 0, let bytes else { throw .noMemory }
    defer { dbus_free(bytes) }
    return Array(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
  }

  /// The value that `bytes` from `marshalled` carry.
  /// - Throws: `DBusError` where they are no such message.
  public static func demarshalledValue(_ bytes: [UInt8]) throws(DBusError) -> DBusValue {
    let raw = try withDBusError { error in
      bytes.withUnsafeBytes { dbus_message_demarshal($0.baseAddress, Int32($0.count), error) }
    }
    guard let raw else { throw .noMemory }
    guard case .variant(let value)? = try Message(adopting: raw).arguments().first else {
      throw DBusError(.invalidArgs, "the bytes hold no value")
    }
    return value
  }
}

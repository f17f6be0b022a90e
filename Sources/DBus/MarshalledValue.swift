internal import CDBus
public import DBusTypes

/// Values as bytes, in the form that they have in messages: the D-Bus specification, section "Marshaling".
extension Message {
  /// `value` as the bytes of a message that carries it.
  /// - Throws: `DBusError` as `append` does.
  public static func marshalled(_ value: DBusValue) throws(DBusError) -> [UInt8] {
    // A reply has the shortest header of all messages; what it replies to does not matter.
    guard let raw = dbus_message_new(DBUS_MESSAGE_TYPE_METHOD_RETURN) else { throw .noMemory }
    let message = Message(adopting: raw)
    guard dbus_message_set_reply_serial(raw, 1) != 0 else { throw .noMemory }
    try message.append([.variant(value)])
    return try message.marshalled()
  }

  /// The value that `bytes` from `marshalled` carry.
  /// - Throws: `DBusError` where they are no such message.
  public static func demarshalledValue(_ bytes: [UInt8]) throws(DBusError) -> DBusValue {
    let message = try bytes.withUnsafeBufferPointer { bytes throws(DBusError) in
      try Message(demarshalling: bytes)
    }
    guard case .variant(let value)? = try message.arguments().first else {
      throw DBusError(.invalidArgs, "the bytes hold no value")
    }
    return value
  }
}

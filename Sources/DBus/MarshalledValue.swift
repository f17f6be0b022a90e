public import DBusTypes

/// Values as bytes, in the form that they have in messages: the D-Bus specification, section "Marshaling".
extension Message {
  private static let carrier = InterfaceName(known: "org.freedesktop.DBus.Value")

  /// `value` as the bytes of a message that carries it.
  /// - Throws: `DBusError` as `append` does.
  public static func marshalled(_ value: DBusValue) throws(DBusError) -> [UInt8] {
    let message = try signal(
      path: .root, interface: carrier, member: MemberName(known: "Value"), [.variant(value)])
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

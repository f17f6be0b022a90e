public import DBusTypes

/// The signals of the standard interfaces: the D-Bus specification, section "Standard Interfaces".
extension OutgoingMessage {
  /// `PropertiesChanged` of one interface: what has a new value, and what has none any more.
  /// - Throws: `DBusError` as `MessageBody.init` does.
  public static func propertiesChanged(
    path: ObjectPath, interface: InterfaceName, changed: [(name: String, value: DBusValue)],
    invalidated: [String] = []
  ) throws(DBusError) -> OutgoingMessage {
    try signal(
      path: path, interface: .properties, member: MemberName(known: "PropertiesChanged"),
      [.string(interface.text), .properties(changed), .strings(invalidated)])
  }
}

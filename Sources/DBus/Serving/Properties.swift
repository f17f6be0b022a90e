public import DBusTypes

extension InterfaceName {
  /// The interface `org.freedesktop.DBus.Properties`.
  public static let properties = InterfaceName(known: "org.freedesktop.DBus.Properties")
  /// The interface `org.freedesktop.DBus.Introspectable`.
  public static let introspectable = InterfaceName(known: "org.freedesktop.DBus.Introspectable")
  /// The interface `org.freedesktop.DBus.ObjectManager`.
  public static let objectManager = InterfaceName(known: "org.freedesktop.DBus.ObjectManager")
  /// The interface `org.freedesktop.DBus.Peer`.
  public static let peer = InterfaceName(known: "org.freedesktop.DBus.Peer")
}

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

/// The interfaces that any object may have: the D-Bus specification, section "Standard Interfaces".
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

extension MemberName {
  /// The signal `PropertiesChanged` of `org.freedesktop.DBus.Properties`.
  public static let propertiesChanged = MemberName(known: "PropertiesChanged")
}

/// The bus itself: the D-Bus specification, section "Message Bus Messages".
extension BusName {
  /// The bus's own name.
  public static let bus = BusName(known: "org.freedesktop.DBus")
}

/// The bus itself.
extension InterfaceName {
  /// The bus's own interface.
  public static let bus = InterfaceName(known: "org.freedesktop.DBus")
}

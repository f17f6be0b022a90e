public import DBusTypes

/// The signals of the standard interfaces: the D-Bus specification, section "Standard Interfaces".
extension OutgoingMessage {
  /// `PropertiesChanged` of one interface: what has a new value, and what has none any more.
  /// - Throws: `DBusError` as `MessageBody.init` does.
  public static func propertiesChanged(
    to destination: BusName? = nil, path: ObjectPath, interface: InterfaceName,
    changed: [(name: String, value: DBusValue)],
    invalidated: [String] = []
  ) throws(DBusError) -> OutgoingMessage {
    try signal(
      to: destination, path: path, interface: .properties, member: .propertiesChanged,
      [.string(interface.text), .properties(changed), .strings(invalidated)])
  }
}

/// The members of the standard interfaces that every object serves: the D-Bus specification, section "Standard
/// Interfaces".
extension InterfaceDescription.Method {
  private static let names: [InterfaceDescription.Argument] = [
    .init("interface_name", .string), .init("property_name", .string),
  ]

  /// `Properties.Get`.
  public static let get = InterfaceDescription.Method(
    MemberName(known: "Get"), in: names, out: [.init("value", .variant)])
  /// `Properties.Set`.
  public static let set = InterfaceDescription.Method(
    MemberName(known: "Set"), in: names + [.init("value", .variant)])
  /// `Properties.GetAll`.
  public static let getAll = InterfaceDescription.Method(
    MemberName(known: "GetAll"), in: [.init("interface_name", .string)],
    out: [.init("properties", .properties)])
  /// `Introspectable.Introspect`.
  public static let introspect = InterfaceDescription.Method(
    MemberName(known: "Introspect"), out: [.init("xml_data", .string)])
}

extension InterfaceDescription.Signal {
  /// `Properties.PropertiesChanged`.
  public static let propertiesChanged = InterfaceDescription.Signal(
    .propertiesChanged,
    [
      .init("interface_name", .string), .init("changed_properties", .properties),
      .init("invalidated_properties", .array(.string)),
    ])
}

internal import DBusTypes
internal import FocusContract

/// The commands of a window's field that are about its menus as a whole.
enum MenuKeys {
  private static let interface = InterfaceName(known: "org.focusd.Menu")

  static let items = Key(interface, MemberName(known: "Items"))
  static let activate = Key(interface, MemberName(known: "Activate"))
  static let check = Key(interface, MemberName(known: "Check"))

  /// One item of what `Items` returns.
  static let itemType = DBusType.structure([.string, .array(.string), .string, .string, .boolean, .int32])
}

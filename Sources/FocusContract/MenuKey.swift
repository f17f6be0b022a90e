package import DBusTypes

/// The commands that show and run the items of menus.
package enum MenuKey {
  package static let items = Key(shared: "Menu", "Items")
  package static let activate = Key(shared: "Menu", "Activate")
  package static let check = Key(shared: "Menu", "Check")

  /// The type of an item that `Items` returns: its id, the labels of its menus and its own, its accelerator, whether it is
  /// enabled and whether it is checked.
  package static let itemType = DBusType.structure([.string, .array(.string), .string, .string, .boolean, .int32])
  /// What separates the labels of an item's path.
  package static let separator = " › "
}

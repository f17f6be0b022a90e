public import DBusTypes
internal import FocusContract

/// The menus of the window in front: ``FocusedValues/menu``.
public struct MenuKeys: Sendable {
  /// What the menus offer: the command `org.focusd.Menu.Items`, with a result of type `a(sasssbi)`.
  public let items = SharedKey<@Sendable () async throws -> [MenuItem]>("org.focusd.Menu.Items")
  /// Runs the item with this id, and toggles one that can be checked: the command `org.focusd.Menu.Activate`, with an argument
  /// of type `s`.
  public let activate = SharedKey<@Sendable (String) async throws -> Void>("org.focusd.Menu.Activate")
  /// Checks or unchecks the item with this id, and does nothing if it is so already: the command `org.focusd.Menu.Check`, with
  /// arguments of types `s` and `b`.
  public let check = SharedKey<@Sendable (String, Bool) async throws -> Void>("org.focusd.Menu.Check")
}

/// An item of a window's menus.
public struct MenuItem: Hashable, Sendable, Identifiable, DBusRepresentable {
  /// The name of the item's action, or else the path of labels; it is the same as long as the item is there.
  public var id: String
  /// The labels of the menus that the item is in, the outermost first, without mnemonics.
  public var menus: [String]
  /// The item's label, without a mnemonic.
  public var label: String
  /// The keys that run the item, such as `Ctrl+S`; empty for none.
  public var accelerator: String
  /// Whether the item can be run now.
  public var isEnabled: Bool
  /// Whether the item is checked; nil if it cannot be checked.
  public var isChecked: Bool?

  /// Creates an item.
  public init(
    id: String, menus: [String], label: String, accelerator: String = "", isEnabled: Bool = true, isChecked: Bool? = nil
  ) {
    self.id = id
    self.menus = menus
    self.label = label
    self.accelerator = accelerator
    self.isEnabled = isEnabled
    self.isChecked = isChecked
  }

  /// The type `(sasssbi)`.
  public static var dbusType: DBusType { MenuKey.itemType }

  /// Creates the item from its six parts.
  /// - Throws: `DBusConversionError` if it does not have their types.
  public init(dbusValue: DBusValue) throws {
    guard case .structure(let parts) = dbusValue.lookedThrough, parts.count == 6 else {
      throw DBusConversionError(dbusValue, to: Self.self)
    }
    let checked = try Int(dbusValue: parts[5])
    self.init(
      id: try String(dbusValue: parts[0]), menus: try [String](dbusValue: parts[1]),
      label: try String(dbusValue: parts[2]),
      accelerator: try String(dbusValue: parts[3]), isEnabled: try Bool(dbusValue: parts[4]),
      isChecked: checked < 0 ? nil : checked > 0)
  }

  /// The six parts, with -1 for an item that cannot be checked.
  /// - Throws: `DBusConversionError` if a text contains NUL.
  public func dbusValue() throws -> DBusValue {
    .structure([
      try id.dbusValue(), try menus.dbusValue(), try label.dbusValue(), try accelerator.dbusValue(),
      .boolean(isEnabled),
      .int32(isChecked.map { $0 ? 1 : 0 } ?? -1),
    ])
  }
}

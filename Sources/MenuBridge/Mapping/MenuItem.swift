package import DBusTypes

/// What a program offers in a menu: one item that can be run.
package struct MenuItem: Equatable, Sendable {
  /// The action's name if the program has a stable one, else the path of labels.
  package var id: String
  /// The labels of the menus that it is in, the outermost first, without mnemonics.
  package var menus: [String]
  /// What the menu shows, without a mnemonic.
  package var label: String
  /// The keys that run it, such as `Ctrl+Z`; empty without any.
  package var accelerator: String
  package var isEnabled: Bool
  /// Whether the menu does not show it now: then it is disabled, and not listed.
  var isHidden = false
  /// Whether it is checked; nil for one that cannot be.
  package var isChecked: Bool?
  /// The id of an item before it with the same action, or with the same label in its menu, if there is one.
  package var twin: String?
  /// The untranslated name of its action, such as `win.undo` or `edit_undo`, if the program tells it.
  package var action: String?

  package init(
    id: String, menus: [String] = [], label: String, accelerator: String = "", isEnabled: Bool = true,
    isChecked: Bool? = nil, action: String? = nil
  ) {
    (self.id, self.menus, self.label, self.accelerator) = (id, menus, label, accelerator)
    (self.isEnabled, self.isChecked, self.action) = (isEnabled, isChecked, action)
  }

  /// Whether it is what `before` was: programs change labels, such as that of Undo, and keep the keys.
  func isSame(as before: MenuItem) -> Bool {
    label == before.label || (!accelerator.isEmpty && accelerator == before.accelerator)
  }

  /// The item as `Menu.Items` returns it: `(sasssbi)`, the last -1 for one that cannot be checked.
  package var value: DBusValue {
    let checked: Int32 =
      switch isChecked {
      case nil: -1
      case false: 0
      case true: 1
      }
    return .structure([
      .string(id), .array(DBusArray(known: .string, menus.map { .string($0) })), .string(label), .string(accelerator),
      .boolean(isEnabled), .int32(checked),
    ])
  }
}

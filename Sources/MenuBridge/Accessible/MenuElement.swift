internal import BridgeSupport

/// What a window or an element of a menu bar is, by its role: `AtspiRole`.
enum MenuRole {
  case dialog
  case bar, menu, item
  /// Something that holds items, and that nobody sees: Qt has one within each menu.
  case container
  /// What scrolls, as a window's own menu bar in CherryTree.
  case scroll
  case other

  init(_ number: UInt32) {
    self =
      switch number {
      // Alerts, and dialogs for colors, files and fonts are dialogs, too.
      case 2, 9, 16, 19, 22: .dialog
      case 34: .bar
      case 33: .menu
      // Items, those that can be checked, and those of which one is; Java has check boxes and radio buttons for them.
      case 35, 8, 45, 7, 44: .item
      // Fillers, panels, what holds a menu's items, and the panes of Java's windows.
      case 20, 38, 39, 41, 30, 46: .container
      // A scroll pane, and what it shows.
      case 49, 68: .scroll
      default: .other
      }
  }

  /// Whether elements of that number can be checked.
  static func isCheckable(_ number: UInt32) -> Bool { [8, 45, 7, 44].contains(number) }
}

/// An element of a menu, as its program told it when it was read.
final class MenuElement {
  let reference: ElementReference
  var number: UInt32 = 0
  var label = ""
  var states = ElementStates()
  /// Whether it tells none of the states of an element that can be seen.
  var isHidden = false
  var accelerator = ""
  var hasChildren = false
  var children: [MenuElement] = []
  /// How many elements contain it, up to the menu bar.
  let level: Int

  init(_ reference: ElementReference, level: Int = 0) { (self.reference, self.level) = (reference, level) }

  var role: MenuRole { MenuRole(number) }

  func item(in menus: [String]) -> MenuItem {
    var isChecked: Bool?
    if states.contains(.checked) { isChecked = true }
    if isChecked == nil, states.contains(.checkable) || MenuRole.isCheckable(number) { isChecked = false }
    return MenuItem(
      id: MenuText.id(menus: menus, label: label), menus: menus, label: label, accelerator: accelerator,
      // Toolkits tell either, or both.
      isEnabled: !states.isDisjoint(with: [.enabled, .sensitive]), isChecked: isChecked)
  }

  /// Whether `now`, the same element read later, is the item that this was: with another label, its keys must be the same.
  func isSame(as now: MenuElement) -> Bool {
    number == now.number && (label == now.label || (!accelerator.isEmpty && accelerator == now.accelerator))
  }

  /// The items in it and below, in order, with ids of which no two are alike.
  func items() -> [(item: MenuItem, element: MenuElement)] {
    var found: [(item: MenuItem, element: MenuElement)] = []
    var list = ItemList()
    append([], &found, &list)
    return found
  }

  private func append(
    _ menus: [String], _ found: inout [(item: MenuItem, element: MenuElement)], _ list: inout ItemList
  ) {
    for child in children {
      if child.role == .container {
        child.append(menus, &found, &list)
      } else if !child.children.isEmpty || child.hasChildren || child.role == .menu {
        child.append(menus + [child.label], &found, &list)
      } else if child.role == .item, !child.label.isEmpty {
        let item = child.item(in: menus)
        guard var added = list.addNumbered(item) else { continue }
        // Lazarus has each item twice in the menus that it makes with Qt.
        if added.id != item.id { added.twin = item.id }
        found.append((added, child))
      }
    }
  }
}

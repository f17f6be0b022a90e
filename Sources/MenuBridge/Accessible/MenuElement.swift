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
  /// nil while they are not known.
  var states: ElementStates?
  var accelerator = ""
  var hasChildren = false
  var children: [MenuElement] = []
  /// How many elements contain it, up to the menu bar.
  let level: Int
  /// What contains it.
  let parent: ElementReference?

  init(_ reference: ElementReference, level: Int = 0, in parent: ElementReference? = nil) {
    (self.reference, self.level, self.parent) = (reference, level, parent)
  }

  var role: MenuRole { MenuRole(number) }

  /// Whether it tells none of the states of an element that can be seen.
  var isHidden: Bool { lacks([.enabled, .sensitive, .showing, .visible]) }

  /// Whether it tells neither that it is visible nor shown: it is hidden, or a toolkit tells neither in a closed menu.
  var isUnseen: Bool { lacks([.showing, .visible]) }

  /// Whether it tells that it is visible in a closed menu: GTK and Java do, not Qt, Firefox and LibreOffice's own.
  var isVisibleUnshown: Bool { states.map { $0.contains(.visible) && !$0.contains(.showing) } == true }

  private func lacks(_ wanted: ElementStates) -> Bool { states?.isDisjoint(with: wanted) == true }

  func item(in menus: [String]) -> MenuItem {
    let states = states ?? []
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

  /// The items in it and below, in order, with ids of which no two are alike; if the toolkit `tellsVisible`, unseen items are
  /// hidden, and what unseen menus contain is left out.
  func items(tellsVisible: Bool = false) -> [(item: MenuItem, element: MenuElement)] {
    var found: [(item: MenuItem, element: MenuElement)] = []
    var list = ItemList()
    append([], tellsVisible, &found, &list)
    return found
  }

  private func append(
    _ menus: [String], _ tellsVisible: Bool, _ found: inout [(item: MenuItem, element: MenuElement)],
    _ list: inout ItemList
  ) {
    for child in children {
      let isHidden = tellsVisible && child.isUnseen
      if child.role == .container {
        child.append(menus, tellsVisible, &found, &list)
      } else if !child.children.isEmpty || child.hasChildren || child.role == .menu {
        if !isHidden { child.append(menus + [child.label], tellsVisible, &found, &list) }
      } else if child.role == .item, !child.label.isEmpty {
        var item = child.item(in: menus)
        if isHidden { (item.isHidden, item.isEnabled) = (true, false) }
        guard var added = list.addNumbered(item) else { continue }
        // Lazarus has each item twice in the menus that it makes with Qt.
        if added.id != item.id { added.twin = item.id }
        found.append((added, child))
      }
    }
  }
}

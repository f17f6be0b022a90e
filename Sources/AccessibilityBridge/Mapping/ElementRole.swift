/// What an accessible object is: `AtspiRole`, whose numbers are the same in all toolkits.
package struct ElementRole: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  private init(_ rawValue: UInt32) { self.rawValue = rawValue }

  package static let alert = ElementRole(2)
  package static let cell = ElementRole(56)
  package static let checkBox = ElementRole(7)
  package static let checkMenuItem = ElementRole(8)
  package static let colorChooser = ElementRole(9)
  package static let comboBox = ElementRole(11)
  package static let dial = ElementRole(15)
  package static let dialog = ElementRole(16)
  package static let fileChooser = ElementRole(19)
  package static let filler = ElementRole(20)
  package static let fontChooser = ElementRole(22)
  package static let frame = ElementRole(23)
  package static let icon = ElementRole(26)
  package static let levelBar = ElementRole(103)
  package static let listItem = ElementRole(32)
  package static let menu = ElementRole(33)
  package static let menuItem = ElementRole(35)
  package static let pageTab = ElementRole(37)
  package static let panel = ElementRole(39)
  package static let passwordText = ElementRole(40)
  package static let popupMenu = ElementRole(41)
  package static let progressBar = ElementRole(42)
  package static let radioButton = ElementRole(44)
  package static let radioMenuItem = ElementRole(45)
  package static let rootPane = ElementRole(46)
  package static let scrollBar = ElementRole(48)
  package static let slider = ElementRole(51)
  package static let spinButton = ElementRole(52)
  package static let terminal = ElementRole(60)
  package static let text = ElementRole(61)
  package static let toggleButton = ElementRole(62)
  package static let treeItem = ElementRole(91)
  package static let documentSpreadsheet = ElementRole(92)
  package static let window = ElementRole(69)
  package static let entry = ElementRole(79)
  package static let switchButton = ElementRole(130)

  /// In ARIA's words if ARIA has one.
  package var name: String { Self.names[rawValue] ?? "generic" }

  /// Whether it is a top-level window.
  package var isWindow: Bool { Self.windows.contains(self) }

  /// Whether it is one of many in a list, a table or a tree.
  package var isItem: Bool { Self.items.contains(self) }

  /// Whether it is a menu, or an item of one.
  package var isMenu: Bool { Self.menus.contains(self) }

  /// Whether it arranges what is in it: LibreOffice's say that they have focus as that does.
  package var isPane: Bool { self == .panel || self == .rootPane }

  /// Whether Qt says that such an element has focus while what is in it has, or something else in its window.
  package var mayPassFocus: Bool { isPane || self == .comboBox || self == .pageTab }

  /// Whether it is a part of a document, with a text of its own: a paragraph or a heading.
  package var isParagraph: Bool { rawValue == 73 || rawValue == 83 }

  /// Whether it is on or off.
  package var isToggle: Bool { Self.toggles.contains(self) }

  /// Whether its value is shown as a range, and whether others may set it.
  package var range: Access? {
    switch self {
    case .slider, .spinButton, .dial, .scrollBar: .readWrite
    case .progressBar, .levelBar: .readOnly
    default: nil
    }
  }

  /// What others may do with a value.
  package enum Access: Hashable, Sendable {
    case readOnly, readWrite
  }

  private static let windows: Set<ElementRole> = [
    .alert, .colorChooser, .dialog, .fileChooser, .fontChooser, .frame, .window,
  ]
  private static let menus: Set<ElementRole> = [.menu, .menuItem, .checkMenuItem, .radioMenuItem]
  private static let items: Set<ElementRole> = [.cell, .listItem, .treeItem]
  private static let toggles: Set<ElementRole> = [
    .checkBox, .checkMenuItem, .radioButton, .radioMenuItem, .toggleButton, .switchButton,
  ]

  private static let names: [UInt32: String] = [
    2: "alertdialog", 7: "checkbox", 8: "menuitemcheckbox", 9: "dialog", 10: "columnheader", 11: "combobox",
    15: "slider", 16: "dialog", 19: "dialog", 22: "dialog", 23: "window", 26: "img", 27: "img", 31: "list",
    32: "listitem", 33: "menu", 34: "menubar", 35: "menuitem", 37: "tab", 38: "tablist", 39: "group", 40: "password",
    41: "menu", 42: "progressbar", 43: "button", 44: "radio", 45: "menuitemradio", 47: "rowheader", 48: "scrollbar",
    50: "separator", 51: "slider", 52: "spinbutton", 54: "status", 55: "table", 56: "cell", 57: "columnheader",
    58: "rowheader", 60: "terminal", 61: "textbox", 62: "button", 63: "toolbar", 64: "tooltip", 65: "tree",
    66: "treegrid", 69: "window", 73: "paragraph", 75: "application", 76: "combobox", 77: "textbox", 79: "textbox",
    82: "document", 83: "heading", 87: "form", 88: "link", 90: "row", 91: "treeitem", 92: "document", 93: "document",
    94: "document", 95: "document", 96: "document", 98: "listbox", 99: "group", 103: "meter", 109: "article",
    129: "button", 130: "switch",
  ]
}

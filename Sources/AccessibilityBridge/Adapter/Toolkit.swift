internal import BridgeSupport

/// What draws a program's elements.
struct Toolkit: Equatable {
  let name: String
  let version: String

  /// Whether it tells what a text displays beside what it stores.
  ///
  /// One that does not tell its name may be GTK.
  var tellsDisplay: Bool { isGTK || name.isEmpty }

  private var isGTK: Bool { name.lowercased() == "gtk" }
  var isQt: Bool { name.lowercased() == "qt" }
  var isGTK4: Bool { isGTK && version.hasPrefix("4") }
  /// GTK 3, or 2.
  private var isGTK3: Bool { isGTK && !isGTK4 }

  /// Whether `name` is what GTK 4 tells of an element without a name: that of its class.
  func isClassName(_ name: String) -> Bool {
    isGTK4 && name.utf8.allSatisfy { $0 >= UInt8(ascii: "A") }
      && ["Gtk", "Adw"].contains { prefix in
        name.hasPrefix(prefix) && name.dropFirst(prefix.count).first?.isUppercase == true
      }
  }

  /// Whether it may tell an attribute that makes an entry a password's: GTK and Qt have roles alone.
  var tellsInputType: Bool { !isGTK && !isQt }

  /// Whether an entry that hides its text no more, or again, is another element: web pages' are.
  var replacesElements: Bool { tellsInputType }

  /// Whether its programs may have connections of their own beside the accessibility bus: ATK's bridge offers them, and GTK 4 never
  /// says that it does not.
  var offersConnections: Bool { !isQt && !isGTK4 }

  /// Whether what only passes focus on says that it has it.
  var hasFocusProxies: Bool { isQt }

  /// Whether an element is a widget that may only pass focus on, as the one does in which Qt Quick draws within Qt's widgets.
  func isFiller(_ element: ElementSnapshot) -> Bool { hasFocusProxies && element.role == .filler }

  /// Whether an element that has focus may be a list whose item has it; GTK 3 may tell focus before the state.
  func mayHaveItem(_ element: ElementSnapshot) -> Bool {
    element.states.contains(.managesDescendants) && (!isQt || element.states.contains(.focused))
  }

  /// Whether an item may have been told to have focus though it is only the current one of a view that has none.
  ///
  /// In Qt its states say that it has, too; GTK 3 tells it of rows that have been looked at, of icons, and of the tab of a page
  /// that is turned.
  func mayLackFocus(_ item: ElementSnapshot) -> Bool {
    if isQt { return item.role.isItem }
    return isGTK3 && (item.role.isItem ? !item.states.contains(.focused) : [.icon, .pageTab].contains(item.role))
  }

  /// Whether what contains an item says that it has focus if one of its items has it.
  func viewTellsFocus(_ item: ElementSnapshot) -> Bool { isQt || (isGTK3 && item.role == .pageTab) }

  /// Whether an element may be a cell of GTK 3 that has a part for each of what it shows, such as an icon and a name.
  func mayHaveParts(_ element: ElementSnapshot) -> Bool {
    isGTK3 && element.role == .cell && element.name.isEmpty
  }

  /// Whether an element may be the button in a combo box of GTK 3, which has focus in its place and no name.
  func isComboBoxButton(_ element: ElementSnapshot) -> Bool {
    isGTK3 && element.role == .toggleButton && element.name.isEmpty
  }

  /// Whether a menu that is closed says that it has focus when one of its items is run.
  var tellsClosedMenus: Bool { isGTK3 }

  /// Whether an element is in a menu that is not open, and says that it has focus: GTK 3's say so once one was run, and Qt's
  /// if their action opens another menu.
  func isInClosedMenu(_ element: ElementSnapshot) -> Bool {
    tellsClosedMenus
      ? element.isClosedMenu(in: element.states)
      : isQt && element.role.isMenu && element.states.isDisjoint(with: [.showing, .visible])
  }

  /// Whether it is LibreOffice's: GTK 3 itself has no documents.
  func isLibreOffice(_ role: ElementRole) -> Bool { isGTK3 && role.isParagraph }

  /// How it counts the text of an element.
  func units(of role: ElementRole) -> TextUnits { TextUnits(toolkit: isLibreOffice(role) ? "vcl" : name) }

  /// Whether a text is inserted with the length -1, which means all of it.
  ///
  /// Flutter says that it is GTK, and reads past the end of the text if it gets its bytes for a length: it counts characters. Only
  /// its texts have neither one line nor several; those of Scintilla insert nothing with -1.
  func insertsAll(into element: ElementSnapshot) -> Bool {
    isGTK3 && element.states.isDisjoint(with: [.singleLine, .multiLine])
  }

  /// Whether the caret is at -1 at the end of a text: Clutter, in GNOME Shell and Cinnamon.
  var endIsNegative: Bool { isClutter }

  /// Whether a caret that is moved leaves the other end of the selection where it is.
  var caretSelects: Bool { isClutter }

  private var isClutter: Bool { name.lowercased() == "clutter" }

  /// Whether it cuts a text that has characters beyond U+FFFF when one is written, and tells an empty one instead: Java's bridge
  /// hands on texts in a form of UTF-8 that is not that of others.
  var isLimitedToBasicPlane: Bool { name.lowercased() == "j2se-access-bridge" }

  /// Whether it tells no changes of a range that the keyboard makes, or not that a menu was closed: GTK 3 forgets what had
  /// focus before when an item is run.
  func mustBePolled(_ field: ElementField) -> Bool {
    isGTK4 ? field.shape.range != nil : tellsClosedMenus && field.snapshot.role.isMenu
  }
}

import BridgeSupport
import DBusTypes
import Testing

@testable import MenuBridge

/// What the elements of a menu bar are taken to mean.
@Suite struct MenuElementTests {
  private static func element(
    _ number: UInt32, _ label: String = "", _ accelerator: String = "", _ states: ElementStates = [.enabled],
    _ children: [MenuElement] = []
  ) -> MenuElement {
    let element = MenuElement(ElementReference(BusName(known: ":1.1"), ObjectPath(known: "/a")))
    (element.number, element.label, element.accelerator) = (number, label, accelerator)
    (element.states, element.children) = (states, children)
    return element
  }

  /// The bus would be asked about other names for good.
  @Test(arguments: [
    (":1.1", "/a", true), ("org.example.Program", "/a", false), ("org.a11y.atspi.Registry", "/a", false),
    (":1.1", "/org/a11y/atspi/null", false), ("", "/a", false),
  ]) func connectionsHaveUniqueNames(name: String, path: String, isReference: Bool) {
    let value = DBusValue.structure([.string(name), .objectPath(ObjectPath(known: path))])
    #expect((ElementReference(value) != nil) == isReference)
  }

  /// Role and states, whether it is enabled, and checked.
  private static let states: [(UInt32, ElementStates, Bool, Bool?)] = [
    (35, [.enabled], true, nil), (35, [.sensitive], true, nil), (35, [.enabled, .sensitive], true, nil),
    (35, [], false, nil), (35, [.enabled, .checkable], true, false), (35, [.enabled, .checked], true, true),
    (35, [.enabled, .checkable, .checked], true, true), (8, [.enabled], true, false),
    (8, [.enabled, .checked], true, true), (45, [.sensitive], true, false), (45, [.checked], false, true),
    (8, [.focusable, .focused, .active], false, false),
  ]

  @Test(arguments: states.indices) func whetherAnItemIsEnabledAndChecked(index: Int) {
    let (number, states, isEnabled, isChecked) = Self.states[index]
    let item = Self.element(number, "Undo", "Ctrl+Z", states).item(in: ["Edit", "More"])
    #expect(
      item
        == MenuItem(
          id: "Edit › More › Undo", menus: ["Edit", "More"], label: "Undo", accelerator: "Ctrl+Z",
          isEnabled: isEnabled, isChecked: isChecked))
  }

  /// Role, label and keys of the element later, and whether it is the item `Undo` with Ctrl+Z still.
  private static let later: [(UInt32, String, String, Bool)] = [
    (35, "Undo", "Ctrl+Z", true), (35, "Undo", "", true), (35, "Undo", "F1", true),
    (35, "Undo typing", "Ctrl+Z", true), (35, "Undo typing", "", false), (35, "Undo typing", "F1", false),
    (8, "Undo", "Ctrl+Z", false), (33, "Undo", "Ctrl+Z", false),
  ]

  @Test(arguments: later.indices) func whetherItIsTheSame(index: Int) {
    let (number, label, keys, isSame) = Self.later[index]
    #expect(Self.element(35, "Undo", "Ctrl+Z").isSame(as: Self.element(number, label, keys)) == isSame)
    // Two items without keys differ by their labels alone.
    #expect(!Self.element(35, "Undo").isSame(as: Self.element(35, "Redo")))
  }

  @Test func itemsAreInOrderWithPathsAndIdsOfTheirOwn() {
    let empty = Self.element(33, "Empty")
    let unread = Self.element(35, "Unread")
    unread.hasChildren = true
    let container = Self.element(
      41, "", "", [], [Self.element(35, "Cut"), Self.element(35), Self.element(35, "Cut")])
    let edit = Self.element(
      33, "Edit", "", [],
      [
        container, Self.element(50, "Separator"), empty, unread,
        Self.element(35, "Find", "", [], [Self.element(8, "Again", "", [.checked])]),
      ])
    let items = Self.element(34, "", "", [], [edit, Self.element(35, "Help")]).items().map(\.item)
    #expect(items.map(\.id) == ["Edit › Cut", "Edit › Cut (2)", "Edit › Find › Again", "Help"])
    #expect(items.map(\.menus) == [["Edit"], ["Edit"], ["Edit", "Find"], []])
    #expect(items.map(\.isChecked) == [nil, nil, true, nil])
    #expect(items.map(\.twin) == [nil, "Edit › Cut", nil, nil])
  }

  @Test func rolesAreThoseOfMenus() {
    let roles = (0..<100).map { MenuRole(UInt32($0)) }
    #expect(roles.indices.filter { roles[$0] == .bar } == [34])
    #expect(roles.indices.filter { roles[$0] == .menu } == [33])
    #expect(roles.indices.filter { roles[$0] == .item } == [7, 8, 35, 44, 45])
    #expect(roles.indices.filter { roles[$0] == .container } == [20, 30, 38, 39, 41, 46])
  }
}

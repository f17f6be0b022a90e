import Testing

@testable import MenuBridge

/// The items of several sources of one window as one list.
@Suite struct MenuMergeTests {
  struct Case: Sendable {
    let name: String
    let sources: [[MenuItem]]
    /// Ids and keys.
    let merged: [String]
  }

  private static func item(_ id: String, _ menus: [String], _ label: String, _ keys: String = "") -> MenuItem {
    MenuItem(id: id, menus: menus, label: label, accelerator: keys)
  }

  private static let cases = [
    Case(name: "nothing", sources: [[], []], merged: []),
    Case(
      name: "one source, as it is",
      sources: [[item("b", ["Edit"], "B"), item("a", [], "A", "F1"), item("c", ["Edit"], "B")]],
      merged: ["b ", "a F1", "c "]),
    Case(
      name: "the keys of a source after",
      sources: [[item("win.undo", ["Edit"], "Undo")], [item("Edit › Undo", ["Edit"], "Undo", "Ctrl+Z")]],
      merged: ["win.undo Ctrl+Z"]),
    Case(
      name: "its own keys come first",
      sources: [[item("win.undo", ["Edit"], "Undo", "F9")], [item("Edit › Undo", ["Edit"], "Undo", "Ctrl+Z")]],
      merged: ["win.undo F9"]),
    Case(
      name: "the same label in another menu is another item",
      sources: [[item("a", ["Edit"], "Undo")], [item("b", ["Tools"], "Undo", "F1")]], merged: ["a ", "b F1"]),
    Case(
      name: "what a menu shows needs no line without one",
      sources: [[item("edit_undo", [], "Undo", "Ctrl+Z")], [item("Edit › Undo", ["Edit"], "Undo…")]],
      merged: ["Edit › Undo "]),
    Case(
      name: "what no menu shows is kept",
      sources: [[item("edit_undo", [], "Undo")], [item("Edit › Redo", ["Edit"], "Redo")]],
      merged: ["edit_undo ", "Edit › Redo "]),
    Case(
      name: "an id once", sources: [[item("a", ["One"], "A")], [item("a", ["Two"], "A")]], merged: ["a "]),
  ]

  /// Of a source whose items cannot be run.
  @Test func keysAloneAreNoItems() {
    let keys = [Self.item("Edit › Undo", ["Edit"], "Undo", "Ctrl+Z"), Self.item("Edit › Redo", ["Edit"], "Redo", "F1")]
    let items = MenuMerge.items([[Self.item("win.undo", ["Edit"], "Undo")]], keys: keys)
    #expect(items.map { "\($0.id) \($0.accelerator)" } == ["win.undo Ctrl+Z"])
  }

  @Test(arguments: cases) func theList(_ it: Case) {
    #expect(MenuMerge.items(it.sources).map { "\($0.id) \($0.accelerator)" } == it.merged, "\(it.name)")
  }
}

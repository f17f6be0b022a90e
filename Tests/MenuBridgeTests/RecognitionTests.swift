import MenuBridge
import Testing

/// Rules of recognition, each on the items that need it.
@Suite struct RecognitionTests {
  private func commands(_ items: [MenuItem]) -> [String: String] {
    let found = Recognition(catalogue: .empty).commands(in: items)
    return Dictionary(uniqueKeysWithValues: found.map { (String($0.key.dropFirst("org.focusd.".count)), $0.value) })
  }

  private static func edit(_ label: String, _ accelerator: String = "", id: String? = nil) -> MenuItem {
    MenuItem(id: id ?? label, menus: ["Edit"], label: label, accelerator: accelerator)
  }

  private static let clipboard = [edit("a", "Ctrl+X"), edit("b", "Ctrl+C"), edit("c", "Ctrl+V")]

  @Test(arguments: [
    ("win.undo", "Edit.Undo"), ("app.edit.undo", "Edit.Undo"), ("edit_undo", "Edit.Undo"),
    ("win.edit.undo", "Edit.Undo"),
    ("file_quit", "Application.Quit"), ("win.view.fullscreen", "View.Fullscreen"),
  ])
  func anActionsNameTells(action: String, command: String) {
    #expect(commands([MenuItem(id: "x", label: "?", action: action)]) == [command: "x"])
  }

  @Test(arguments: [
    "win.delete", "app.trash", "edit_delete", "win.edit.delete", "go-back", "win.go-back", "win.go-next", "file_new",
    "win.close", "win.Undo", "undo.", "win.", "", "page.undo", "app.kill", "app.quit-immediate",
  ])
  func otherNamesTellNothing(action: String) {
    #expect(commands([MenuItem(id: "x", label: "?", action: action)]).isEmpty)
  }

  @Test func aLabelOfAnotherCommandOverrulesTheName() {
    let window = MenuItem(id: "x", menus: ["File"], label: "New Window", action: "win.find")
    #expect(commands([window]) == ["Application.NewWindow": "x"])
  }

  @Test func theNamePrecedesTheLabel() {
    let items = [Self.edit("Undo"), MenuItem(id: "x", menus: ["Edit"], label: "Undo typing", action: "win.undo")]
    #expect(commands(items) == ["Edit.Undo": "x"])
  }

  @Test(arguments: ["Undo", "UNDO", " Undo … ", "Undo...", "Undo(U)"])
  func theExactLabelTells(label: String) {
    #expect(commands([Self.edit(label, id: "x")]) == ["Edit.Undo": "x"])
  }

  @Test(arguments: ["Undo Typing", "Undone", "Delete", "Move to Trash", "Trash", "", "Paste Special...", "Copy Path"])
  func otherLabelsTellNothing(label: String) {
    #expect(commands([Self.edit(label)]).isEmpty)
  }

  @Test func ofTwoThatLookAlikeTheOneThatCanBeRunIsTheCommand() {
    var (first, second) = (Self.edit("Undo", id: "a"), Self.edit("Undo", id: "b"))
    #expect(commands([first, second]).isEmpty)
    second.twin = "a"
    #expect(commands([first, second]) == ["Edit.Undo": "a"])
    first.isEnabled = false
    #expect(commands([first, second]) == ["Edit.Undo": "b"])
  }

  /// Remmina copies a connection so.
  @Test func aLabelOfTheClipboardTellsInAMenuThatHasMoreForTexts() {
    let copy = Self.edit("Copy", id: "x")
    #expect(commands([copy, Self.edit("Delete"), Self.edit("Connect")]).isEmpty)
    #expect(commands([copy, MenuItem(id: "y", menus: ["Text"], label: "Cut")]).isEmpty)
    #expect(commands([copy, Self.edit("Select All", id: "y")]) == ["Edit.Copy": "x", "Edit.SelectAll": "y"])
    #expect(commands([Self.edit("Copy", "Ctrl+C", id: "x")]) == ["Edit.Copy": "x"])
  }

  @Test func acceleratorsAloneTellNothing() {
    #expect(commands([Self.edit("Open Capture Device...", "Ctrl+C"), Self.edit("Wrap Lines", "Ctrl+W")]).isEmpty)
    #expect(commands([Self.edit("a", "Ctrl+X"), Self.edit("b", "Ctrl+C"), Self.edit("Undo it", "Ctrl+Z")]).isEmpty)
  }

  @Test func acceleratorsTellBesideTheClipboards() {
    let items = Self.clipboard + [Self.edit("Undo: Typing", "Ctrl+Z"), Self.edit("Redo it", "Ctrl+Y")]
    #expect(
      commands(items) == [
        "Edit.Cut": "a", "Edit.Copy": "b", "Edit.Paste": "c", "Edit.Undo": "Undo: Typing", "Edit.Redo": "Redo it",
      ])
    #expect(commands(Self.clipboard + [Self.edit("Close It", "Ctrl+W"), Self.edit("Save It", "Ctrl+S")]).count == 3)
  }

  @Test func anEnglishLabelPrecedesTheKeysOfAnotherItem() {
    let items = Self.clipboard + [Self.edit("Redo", "Ctrl+R"), Self.edit("Delete Line", "Ctrl+Y")]
    #expect(commands(items)["Edit.Redo"] == "Redo")
  }

  @Test func anAcceleratorInAnotherMenuTellsNothing() {
    let other = MenuItem(id: "x", menus: ["Tools"], label: "Undo it", accelerator: "Ctrl+Z")
    #expect(commands(Self.clipboard + [other])["Edit.Undo"] == nil)
  }

  @Test func theAcceleratorDecidesBetweenLabels() {
    #expect(commands([Self.edit("Redo", "Ctrl+Y", id: "x"), Self.edit("Redo", "F4", id: "y")]) == ["Edit.Redo": "x"])
  }

  @Test func inDoubtAnItemIsNone() {
    #expect(commands([Self.edit("Copy", id: "x"), Self.edit("Copy", id: "y")]).isEmpty)
    #expect(commands(Self.clipboard + [Self.edit("d", "Ctrl+Z"), Self.edit("e", "Ctrl+Z")])["Edit.Undo"] == nil)
  }

  @Test func aDocumentsCommandsAreInOneMenu() {
    func list(_ menus: [String], _ label: String) -> MenuItem {
      MenuItem(id: menus.joined() + label, menus: menus, label: label)
    }
    #expect(commands([list(["Playlist"], "Open")]).isEmpty)
    #expect(commands([list(["Tools", "Macros"], "Open"), list(["Tools", "Macros"], "Save")]).isEmpty)
    #expect(commands([list(["File"], "Open"), list(["File"], "Save")]).count == 2)
    #expect(commands([list(["File"], "Open"), list(["File"], "Quit")]).count == 2)
  }

  @Test func forwardAloneIsAMessages() {
    let forward = MenuItem(id: "f", menus: ["Message"], label: "Forward")
    let reload = MenuItem(id: "r", menus: ["File"], label: "Reload", action: "win.reload")
    let back = MenuItem(id: "b", menus: ["Go"], label: "Back")
    #expect(commands([forward, reload]).isEmpty)
    #expect(commands([forward, back, reload]).count == 3)
  }

  @Test func onlySomeMayBeChecked() {
    #expect(commands([MenuItem(id: "x", menus: ["Edit"], label: "Copy", isChecked: false)]).isEmpty)
    #expect(commands([MenuItem(id: "x", menus: ["View"], label: "Fullscreen", isChecked: true)]).count == 1)
  }

  @Test func bareActionsAreOfferedByName() {
    #expect(Recognition.standardActions.contains("zoom-in"))
    #expect(!Recognition.standardActions.contains("kill"))
    #expect(Recognition.name(ofAction: "win.zoom-in") == "zoom-in")
  }
}

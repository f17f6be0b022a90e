import BusSupport
import DBusTypes
import TestSupport
import Testing

@testable import FocusKit

@Suite struct VocabularyTests {
  /// The contract's shared keys, spelled out, with the group that has them.
  @Test(
    "Each shared key has a member, in the group with the interface's name",
    arguments: [
      ("org.focusd.Window", "Title Application ProcessId Workspace Close Fullscreen Float Minimize", WindowKeys()),
      ("org.focusd.Element", "Role Name Description", ElementKeys()),
      ("org.focusd.Text", "Content Length Caret Selection SelectedText Insert", TextKeys()),
      ("org.focusd.Range", "Value Minimum Maximum Step Increment Decrement", RangeKeys()),
      ("org.focusd.Toggle", "Checked", ToggleKeys()),
      ("org.focusd.Edit", "Undo Redo Cut Copy Paste SelectAll Find", EditKeys()),
      ("org.focusd.View", "ZoomIn ZoomOut ZoomReset Fullscreen", ViewKeys()),
      ("org.focusd.Tab", "New Close Next Previous", TabKeys()),
      ("org.focusd.Navigation", "Back Forward Reload", NavigationKeys()),
      ("org.focusd.Application", "Preferences NewWindow Quit", ApplicationKeys()),
      ("org.focusd.Menu", "Items Activate Check", MenuKeys()),
      ("org.focusd.Document", "Path Url Title New Open Save SaveAs Print Close", DocumentKeys()),
      ("org.focusd.Shell", "Buffer Directory Accept", ShellKeys()),
    ] as [(String, String, any Sendable)])
  func eachKeyIsThere(interface: String, members: String, group: any Sendable) {
    let names = Mirror(reflecting: group).children.compactMap {
      Mirror(reflecting: $0.value).descendant("name") as? String
    }
    #expect(Set(names) == Set(members.split(separator: " ").map { "\(interface).\($0)" }))
    #expect(names.count == Set(names).count)
  }

  /// A text, and an editor's commands on it.
  private struct Editor {
    let text = State(wrappedValue: "grüße")
    let caret = State(wrappedValue: 0)
    let selection = State(wrappedValue: TextSelection(1, 3))
    let typed = State(wrappedValue: "")
    let done = State(wrappedValue: [String]())

    func field(_ client: FocusClient) -> FocusField {
      FocusField("editor", client: client)
        .focusedValue(\.element.role, .textBox)
        .focusedValue(\.text.content, text.projectedValue)
        .focusedValue(\.text.length, 5)
        .focusedValue(\.text.caret, caret.projectedValue)
        .focusedValue(\.text.selection, selection.projectedValue)
        .focusedValue(\.text.insert) { [typed] text in typed.wrappedValue += text }
        .focusedValue(\.edit.undo) { [done] in done.wrappedValue.append("undo") }
        .focusedValue(\.action["Click"]) { [done] in done.wrappedValue.append("click") }
        .focusedSceneValue(\.document.path, "/tmp/a")
        .focusedSceneValue(\.window.processID, 42)
        .register()
    }
  }

  @Test func eachKeyHasItsTypeOnTheBus() async throws {
    try await TestDesktop.with { desktop in
      let editor = Editor()
      let field = editor.field(desktop.client())
      try await field.focus()
      // The scene's keys are a field of their own, which may be registered later.
      try await eventually("the scene's keys") { try await desktop.client().read(\.document.path) == "/tmp/a" }
      for (key, value) in [
        ("Element.Role", #"s "textbox""#), ("Text.Content", #"s "gr\303\274\303\237e""#), ("Text.Length", "i 5"),
        ("Text.Caret", "i 0"), ("Text.Selection", "(ii) 1 3"), ("Document.Path", #"s "/tmp/a""#),
        ("Window.ProcessId", "u 42"),
      ] { #expect(try await desktop.busctl(get: "org.focusd.\(key)") == value) }
      #expect(try await desktop.busctl(set: "org.focusd.Text.Selection", "(ii)", "2", "2") == "")
      #expect(editor.selection.wrappedValue == TextSelection(2))
      let result = try await desktop.busctl("call", "org.focusd.Text", "Insert", "s", "abc")
      #expect(result.succeeded && editor.typed.wrappedValue == "abc", "\(result)")
      #expect(try await desktop.busctl("call", "org.focusd.Action", "Click").succeeded)
      #expect(editor.done.wrappedValue == ["click"])
    }
  }

  private struct Palette {
    @FocusedValue var role: ElementRole?
    @FocusedBinding var caret: Int?
    @FocusedValue var insert: (@Sendable (String) async throws -> Void)?
    @FocusedValue var undo: FocusedCommand?
    @FocusedValue var click: FocusedCommand?
    @FocusedValue var press: FocusedCommand?

    init(_ client: FocusClient) {
      _role = FocusedValue(\.element.role, client: client)
      _caret = FocusedBinding(\.text.caret, client: client)
      _insert = FocusedValue(\.text.insert, client: client)
      _undo = FocusedValue(\.edit.undo, client: client)
      _click = FocusedValue(\.action["Click"], client: client)
      _press = FocusedValue(\.action["Press"], client: client)
    }
  }

  @Test func readersUseThemWithoutDeclarations() async throws {
    try await TestDesktop.with { desktop in
      let editor = Editor()
      let field = editor.field(desktop.client())
      try await field.focus()
      let client = desktop.client()
      let (palette, carets) = (Palette(client), Changes(client.changes(of: \.text.caret)))
      try await carets.wait(for: 0)
      try await until("the role") { palette.role == .textBox }
      try await until("the commands") { palette.insert != nil && palette.undo != nil && palette.click != nil }
      palette.caret = 4
      #expect(try await client.write(\.text.selection, TextSelection(0, 2)) == TextSelection(0, 2))
      try await palette.insert?("x")
      try await palette.undo?()
      try await palette.click?()
      try await client.run(\.edit.undo)
      #expect(palette.press == nil)
      #expect(editor.typed.wrappedValue == "x")
      #expect(editor.done.wrappedValue == ["undo", "click", "undo"])
      try await carets.wait(for: 4)
      #expect(try await client.read(\.text.caret) == 4)
      #expect(editor.caret.wrappedValue == 4)
    }
  }

  private struct Launcher {
    @FocusedValue var items: (@Sendable () async throws -> [MenuItem])?
    @FocusedValue var activate: (@Sendable (String) async throws -> Void)?
    @FocusedValue var check: (@Sendable (String, Bool) async throws -> Void)?

    init(_ client: FocusClient) {
      _items = FocusedValue(\.menu.items, client: client)
      _activate = FocusedValue(\.menu.activate, client: client)
      _check = FocusedValue(\.menu.check, client: client)
    }
  }

  @Test func menusAreOfferedAndRun() async throws {
    try await TestDesktop.with { desktop in
      let done = State(wrappedValue: [String]())
      let items = [
        MenuItem(id: "app.save", menus: ["File"], label: "Save", accelerator: "Ctrl+S", isEnabled: false),
        MenuItem(id: "win.wrap", menus: ["View", "Text"], label: "Größe", isChecked: true),
        MenuItem(id: "win.spell", menus: [], label: "Spelling", isChecked: false),
      ]
      let field = FocusField("editor", client: desktop.client())
        .focusedValue(\.menu.items) { items }
        .focusedValue(\.menu.activate) { id in done.wrappedValue.append(id) }
        .focusedValue(\.menu.check) { id, isChecked in done.wrappedValue.append("\(id) \(isChecked)") }
        .register()
      try await field.focus()
      let told = try await desktop.busctl("call", "org.focusd.Menu", "Items")
      #expect(
        told.text
          == #"a(sasssbi) 3 "app.save" 1 "File" "Save" "Ctrl+S" false -1 "win.wrap" 2 "View" "Text" "Gr\303\266\303\237e" "#
          + #""" true 1 "win.spell" 0 "Spelling" "" true 0"#)
      let launcher = Launcher(desktop.client())
      try await until("the commands") { launcher.items != nil && launcher.activate != nil && launcher.check != nil }
      #expect(try await launcher.items?() == items)
      try await launcher.activate?("app.save")
      try await launcher.check?("win.wrap", false)
      #expect(done.wrappedValue == ["app.save", "win.wrap false"])
    }
  }

  @Test func aPlayerIsReadAsMPRISDescribesIt() async throws {
    try await TestDesktop.with { desktop in
      var metadata = MediaMetadata()
      metadata.title = "Gymnopédie No. 1"
      metadata.artists = ["Satie"]
      metadata.length = 190_000_000
      let field = FocusField("player", client: desktop.client())
        .focusedValue(\.mediaPlayer.playbackStatus, .paused)
        .focusedValue(\.mediaPlayer.metadata, metadata)
        .focusedValue(\.mediaPlayer.volume, .constant(0.5))
        .register()
      try await field.focus()
      let client = desktop.client()
      #expect(try await client.read(\.mediaPlayer.playbackStatus) == .paused)
      #expect(try await client.read(\.mediaPlayer.metadata) == metadata)
      #expect(try await desktop.busctl(get: "org.mpris.MediaPlayer2.Player.PlaybackStatus") == #"s "Paused""#)
      #expect(try await desktop.busctl(get: "org.mpris.MediaPlayer2.Player.Volume") == "d 0.5")
    }
  }

  @Test func aSelectionIsAPartOfAText() throws {
    let text = "a🇩🇪b"
    let flag = try #require(text.firstRange(of: "🇩🇪"))
    #expect(TextSelection(flag, in: text) == TextSelection(1, 3))
    #expect(TextSelection(1, 3).range(in: text) == flag)
    for (start, end) in [(-1, 0), (2, 1), (0, 5), (5, 5), (.max, .max), (.min, .max)] {
      #expect(TextSelection(start, end).range(in: text) == nil)
    }
    #expect(throws: DBusConversionError.self) { try TextSelection(Int.max).dbusValue() }
    #expect(try TextSelection(dbusValue: .structure([.int64(1), .byte(2)])) == TextSelection(1, 2))
  }
}

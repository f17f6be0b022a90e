import BusSupport
import DBusTypes
import FocusKit
import TestSupport
import Testing

@Suite struct VocabularyTests {
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

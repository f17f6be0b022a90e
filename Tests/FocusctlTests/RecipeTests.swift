import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

@testable import focusctl

/// The recipes of the README and of the page for those who write programs, run as they stand there.
@Suite struct RecipeTests {
  /// What sway would run for `key`.
  private func bound(_ key: String, _ title: String) throws -> String {
    let start = "bindsym \(key) exec "
    let line = try #require(try TestDesktop.recipe(title, "sway").first { $0.hasPrefix(start) })
    return String(line.dropFirst(start.count))
  }

  private func script(_ title: String, _ language: String = "sh") throws -> String {
    try TestDesktop.recipe(title, language).joined(separator: "\n")
  }

  @Test func hotkeys() async throws {
    let (greet, undo) = (try bound("$mod+g", "A hotkey"), try bound("$mod+z", "A hotkey"))
    try await TestDesktop.with { desktop in
      let entry = try await desktop.hold("--focus org.focusd.Text.SelectedText= --command org.focusd.Edit.Undo")
      let result = try await desktop.shell("\(greet); focusctl get Text.SelectedText; \(undo)")
      #expect(result.output == ["Best wishes"] && result.errors.isEmpty, "\(result)")
      #expect(try await entry.lines(2) == ["org.focusd.Text.SelectedText Best wishes", "run org.focusd.Edit.Undo"])
    }
  }

  @Test func mediaKeys() async throws {
    func key(_ name: String) throws -> String { try bound(name, "Media keys") }
    let toggle = try key("XF86AudioPlay")
    #expect(try key("XF86AudioNext") == toggle.replacing("PlayPause", with: "Next"))
    let (up, down) = (try key("XF86AudioRaiseVolume"), try key("XF86AudioLowerVolume"))
    let next = try key("Shift+XF86AudioPlay")
    try await TestDesktop.with { desktop in
      let stage = try await PlayerStage(on: desktop)
      try await stage.open("a", "Playing")
      try await stage.open("b", "Playing")
      let result = try await desktop.shell(
        """
        \(toggle)
        for step in {1..12}; do \(up); done; focusctl get Player.Volume
        \(next); \(down); focusctl get Player.Volume
        """)
      #expect(result.output == ["1.0", "0.45"] && result.errors.isEmpty, "\(result)")
      #expect(stage.object("b")?.state.now.calls.count { $0.member == "PlayPause" } == 1)
      #expect(try await stage.front() == "a")
      try await stage.end()
    }
  }

  @Test func oneKeyForWhatIsInFront() async throws {
    let key = try script("One key for what is in front")
    try await TestDesktop.with { desktop in
      let player = try await desktop.hold(
        "--scope session --command org.mpris.MediaPlayer2.Player.PlayPause org.mpris.MediaPlayer2.Player.Volume=1.0")
      let result = try await desktop.shell(
        """
        key() { \(key)
        }
        key
        focusctl register entry --focus org.focusd.Element.Role=textbox org.focusd.Text.SelectedText=
        key; focusctl get Text.SelectedText
        """)
      #expect(result.output == ["entry", "Kind regards,"] && result.errors.isEmpty, "\(result)")
      let slider = try await desktop.hold(
        "slider --focus org.focusd.Range.Value=20.0 --command org.focusd.Range.Increment org.focusd.Element.Role=slider"
      )
      #expect(try await desktop.shell("\(key)").succeeded)
      #expect(try await slider.lines(1) == ["run org.focusd.Range.Increment"])
      #expect(try await player.lines(1) == ["run org.mpris.MediaPlayer2.Player.PlayPause"])
    }
  }

  @Test func eachStepOfAKnobCounts() async throws {
    let title = "The knob of a macro pad"
    let (up, down) = (try bound("XF86Tools", title), try bound("XF86Launch5", title))
    try await TestDesktop.with { desktop in
      let slider = try await desktop.hold(
        "--focus org.focusd.Range.Value=50.0 --command org.focusd.Range.Increment --command org.focusd.Range.Decrement")
      let result = try await desktop.shell("for step in {1..4}; do \(up) & \(down) & \(up) & done; wait")
      #expect(result.succeeded && result.errors.isEmpty, "\(result)")
      let calls = try await slider.lines(12)
      #expect(calls.count { $0 == "run org.focusd.Range.Increment" } == 8, "\(calls)")
      #expect(calls.count { $0 == "run org.focusd.Range.Decrement" } == 4, "\(calls)")
    }
  }

  @Test func dictation() async throws {
    let dictate = try script("Dictation into the focused entry")
    let recognizer = #"printf 'hello there\n-8 -- minus \\n\n'"#
    try await TestDesktop.with { desktop in
      let entry = try await desktop.hold("--focus org.focusd.Text.SelectedText=")
      let result = try await desktop.shell("\(recognizer) | {\n\(dictate)\n}")
      #expect(result.succeeded && result.output.isEmpty && result.errors.isEmpty, "\(result)")
      #expect(
        try await entry.lines(2) == [
          "org.focusd.Text.SelectedText hello there ", #"org.focusd.Text.SelectedText -8 -- minus \\n "#,
        ])
      // What cannot be written is typed.
      let typed = try await desktop.shell(
        TestDesktop.standIn("wtype", "#!/bin/sh\nprintf '%s|' \"$@\"")
          + "focusctl register window --focus org.focusd.Window.Title=Page >/dev/null\n\(recognizer) | {\n\(dictate)\n}"
      )
      #expect(typed.output == [#"--|hello there |--|-8 -- minus \n |"#], "\(typed)")
    }
  }

  @Test(arguments: [
    ("libreoffice-writer", "Hej 🙂 br", "[6,8]", "Best regards,"), ("mousepad", "br", "[0,2]", "break;"),
    ("mousepad", "bro", nil, nil), ("mousepad", "br\n", nil, nil),
  ])
  func expansion(application: String, text: String, selection: String?, full: String?) async throws {
    let expand = try script("Expansion for each application", "bash")
    let caret = text.unicodeScalars.count
    // The shell leaves out line feeds at the end of what it substitutes.
    let content = text.hasSuffix("\n") ? text : text + "X"
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell("focusctl register window org.focusd.Window.Application=\(application)")
      let entry = try await desktop.hold(
        """
        --parent window --focus 'org.focusd.Text.Content=\(content)' org.focusd.Text.Caret=\(caret) \
        'org.focusd.Text.Selection=[\(caret),\(caret)]' org.focusd.Text.SelectedText=
        """)
      let result = try await desktop.shell(expand)
      #expect(result.succeeded && result.output.isEmpty && result.errors.isEmpty, "\(result)")
      guard let selection, let full else { return #expect(entry.progress.now.output.isEmpty) }
      #expect(
        try await entry.lines(2) == ["org.focusd.Text.Selection \(selection)", "org.focusd.Text.SelectedText \(full)"])
    }
  }

  @Test func expansionWhereNothingCanBeSelected() async throws {
    let expand = try script("Expansion for each application", "bash")
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell("focusctl register window org.focusd.Window.Application=mousepad")
      let entry = try await desktop.hold(
        """
        --parent window --focus 'org.focusd.Text.Content=br br ü\n' org.focusd.Text.Caret=5 \
        --read-only org.focusd.Text.Selection 'org.focusd.Text.Selection=[5,5]'
        """)
      let result = try await desktop.shell(expand)
      #expect(result.succeeded && result.output.isEmpty && result.errors.isEmpty, "\(result)")
      #expect(try await entry.lines(1) == [#"org.focusd.Text.Content br break; ü\n"#])
    }
  }

  /// The launcher takes focus, as a field of its own or as a window, and chooses the last line.
  @Test func aPaletteOfOneFieldsCommands() async throws {
    let palette = try script("A palette of one field's commands")
    let launcher = "#!/bin/sh\nfocusctl register launcher --focus demo.Launcher.Text= >/dev/null\nexec tail -n 1"
    try await TestDesktop.with { desktop in
      let editor = try await desktop.hold(
        "--focus --command a.Edit.Undo --command a.Edit.Redo --command a.Edit.Type:s demo.Form.Text=")
      let result = try await desktop.shell(
        TestDesktop.standIn("rofi", launcher) + palette)
      #expect(result.succeeded && result.output.isEmpty && result.errors.isEmpty, "\(result)")
      #expect(try await editor.lines(1) == ["run a.Edit.Undo"])
    }
  }

  @Test func keysForEachApplication() async throws {
    let follow = try script("Keys for each application")
    try await TestDesktop.with { desktop in
      let follower = try await desktop.background(TestDesktop.standIn("keyd", "#!/bin/sh\necho \"$*\"") + follow)
      #expect(try await follower.lines(1) == ["bind reset"])
      for (index, (application, binding)) in [
        ("firefox-esr", "bind reset f13 = C-pageup f14 = C-pagedown"),
        ("org.gimp.GIMP", "bind reset f13 = C-z f14 = C-S-z"), ("foot", "bind reset"),
      ].enumerated() {
        _ = try await desktop.shell("focusctl register w\(index) --focus org.focusd.Window.Application=\(application)")
        #expect(try await follower.lines(2 + index).last == binding)
      }
    }
  }

  @Test func modulesOfWaybar() async throws {
    let text = try script("Modules of waybar", "json")
    let modules = try JSONDecoder().decode([String: [String: String]].self, from: Data("{\(text)}".utf8))
    try await TestDesktop.with { desktop in
      let register = [
        "title": "org.focusd.Window.Title=Mail",
        "player": #"'org.mpris.MediaPlayer2.Player.Metadata={"xesam:title":"A & B"}'"#,
      ]
      for (name, shown) in [("title", "Mail"), ("player", "A &amp; B"), ("slider", "0.5")] {
        let module = try #require(modules["custom/\(name)"])
        #expect(module["return-type"] == "json")
        let watch = try await desktop.background("exec " + (try #require(module["exec"])))
        func line(_ line: Int) async throws -> [String: String] {
          let line = try await watch.lines(line)[line - 1]
          return try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        }
        #expect(try await line(1)["class"] == "nil")
        #expect(try await line(1)["text"]?.isEmpty == true)
        guard name == "slider" else {
          _ = try await desktop.shell("focusctl register \(name) --focus \(register[name] ?? "")")
          #expect(try await line(2)["text"] == shown)
          continue
        }
        let slider = try await desktop.hold(
          """
          --focus org.focusd.Range.Value=0.5 --command org.focusd.Range.Increment \
          --command org.focusd.Range.Decrement
          """)
        #expect(try await line(2)["text"] == shown)
        for (index, action) in [("on-scroll-up", "Increment"), ("on-scroll-down", "Decrement")].enumerated() {
          _ = try await desktop.shell(try #require(module[action.0]))
          #expect(try await slider.lines(1 + index).last == "run org.focusd.Range." + action.1)
        }
      }
    }
  }

  @Test func aScriptThatFollowsAKey() async throws {
    let script = try script("A script that follows a key")
    try await TestDesktop.with { desktop in
      let follower = try await desktop.background(script)
      #expect(try await follower.lines(1) == ["no number has focus"])
      _ = try await desktop.shell("focusctl register text1 --focus demo.Form.Number=5")
      _ = try await follower.lines(2)
      _ = try await desktop.shell("focusctl set Number -8; focusctl blur text1")
      #expect(
        try await follower.lines(4) == [
          "no number has focus", "the number is 5", "the number is -8", "no number has focus",
        ])
      try await desktop.bus.stop()
      try await follower.finish()
      #expect(try await desktop.ended() == .status(1))
    }
  }

  /// Each word of the command line has its place in the manual.
  @Test func theManualNamesEveryCommandAndOption() throws {
    let manual = try String(contentsOfFile: TestDesktop.project + "/Systemd/man/focusctl.1", encoding: .utf8)
    for name in CommandTable.commands.compactMap(\.name) {
      #expect(manual.contains(".It Cm \(name)\n") || manual.contains(".It Cm \(name) "))
    }
    for name in Option.all.map(\.name) { #expect(manual.contains("Fl -\(name)"), "\(name)") }
  }
}

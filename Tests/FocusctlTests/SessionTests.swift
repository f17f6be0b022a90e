import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Session fields and windows as `focusctl` shows them, against the real daemon.
@Suite struct SessionTests {
  @Test func sessionFieldsAreRegisteredAndShownInTheirOrder() async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        for id in p1 p2; do
          focusctl register $id --scope session --active demo.Player.Level=1 demo.Player.Level:d=0 demo.Player.Title=$id
        done
        focusctl get Title
        focusctl set --field p1 Level 1
        focusctl get Player.Title; focusctl set Title song; focusctl get --field p1 Title
        focusctl --all; echo $?
        focusctl --json | cut -d, -f 1; echo ${PIPESTATUS[0]}
        focusctl register text1 --focus demo.Form.Number=1
        focusctl | sed -n 1,4p
        focusctl --json | grep -o '"id":"[^"]*"\\|"active":true'
        focusctl list --format '{id} {scope} {active}'
        """)
      #expect(
        result.output == [
          "p1", "p2", "p2", "p1", "song",
          "session fields:", "  p1 (active)", "    demo.Player.Level: 1.0 (d)", "    demo.Player.Title: song (s)",
          "  p2", "    demo.Player.Level: 0.0 (d)", "    demo.Player.Title: p2 (s)", "1",
          #"{"id":"p1""#, #"{"id":"p2""#, "1",
          "text1", "text1 (focused)", "  demo.Form.Number: 1 (i)", "session fields:", "  p1 (active)",
          #""id":"text1""#, #""id":"p1""#, #""active":true"#, #""id":"p2""#,
          "p1 session true", "p2 session false", "text1 field false",
        ], "\(result)")
      #expect(
        result.errors
          == Array(repeating: "focusctl: nothing has focus: 'focusctl focus ID' gives it to a field", count: 2))
    }
  }

  /// The value of both fields is the same, so only the focus path tells of the move.
  @Test func aWatchNamesTheFieldThatHasFocusNow() async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell("for id in a b; do focusctl register $id demo.Form.Number=1; done; focusctl focus a")
      let watch = try await desktop.background("exec focusctl watch Number Nothing --format '{key} {field} {value}'")
      _ = try await watch.lines(2)
      _ = try await desktop.shell("focusctl focus b")
      #expect(try await watch.lines(3) == ["Number a 1", "Nothing nil nil", "Number b 1"])
      try await watch.stop()
    }
  }

  @Test(arguments: [("GNOME", true), ("ubuntu:GNOME", true), ("KDE", false)])
  func onGNOMETheExtensionIsNamed(desktopName: String, isNamed: Bool) async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.run(
        [Products.focusctl, "--address", desktop.bus.address], extra: ["XDG_CURRENT_DESKTOP": desktopName])
      #expect(result.status == 1 && result.errorText.contains("there are no fields yet"), "\(result)")
      #expect(result.errorText.contains("gnome-extensions enable focusd@org.focusd") == isNamed, "\(result)")
    }
  }

  @Test func withoutAnyFieldTheBridgesAreNamed() async throws {
    try await TestDesktop.with { desktop in
      let piped = try await desktop.shell("focusctl; echo $?")
      #expect(piped.output == ["1"] && piped.errors.count == 1, "\(piped)")
      let text = try await desktop.terminal(80, 24, "focusctl; echo $?", extra: ["TERM": "dumb"]).result().text
      for unit in ["focusd-windows", "focusd-accessibility", "focusd-menus", "focusd-players"] {
        #expect(piped.errorText.contains(unit), "\(piped)")
        #expect(text.contains("systemctl --user enable --now \(unit)"), "\(text)")
      }
      #expect(piped.errorText.contains("focusd-browser(8)"), "\(piped)")
      #expect(text.contains("focusd-browser install-host"), "\(text)")
    }
  }

  @Test func aTerminalIsToldThatNothingHasFocus() async throws {
    try await TestDesktop.with { desktop in
      let terminal = try await desktop.terminal(
        80, 24, "focusctl register p1 --scope session demo.Player.Title=one; focusctl; echo $?",
        extra: ["TERM": "dumb"])
      let result = try await terminal.result()
      #expect(
        result.output.map { $0.filter { !$0.isNewline } } == [
          "p1", "session fields:", "  p1",
          "focusctl: nothing has focus: 'focusctl focus ID' gives it to a field", "1",
        ], "\(result)")
    }
  }

  @Test func anAdoptedSceneIsWithinItsWindow() async throws {
    try await TestDesktop.with { desktop in
      let (bridge, program) = (try await desktop.peer(), try await desktop.peer())
      try await bridge.own("org.focusd.Bridge1.Windows")
      try await bridge.register("w1", [("org.focusd.Window.Title", .string("Notes"))])
      try await bridge.register("w2", [("org.focusd.Window.Title", .string("Mail"))])
      try await program.register("note", [("demo.Form.Text", .string("abc"))])
      try await bridge.field("w1", "Adopt", [.strings([program.name])])
      try await bridge.focus("w1")
      let result = try await desktop.shell(
        """
        focusctl; focusctl list --format '{id} {parent:-} {focused}'
        focusctl list --json | grep -o '"adopted":\\["[^]]*'
        """)
      #expect(
        result.output == [
          "w1 (focused)", "  org.focusd.Window.Title: Notes (s)", "  note", "w2",
          "note w1 false", "w1  true", "w2  false", #""adopted":["\#(program.name)""#,
        ], "\(result)")
      try await program.focus("note")
      let inside = try await desktop.shell("focusctl; focusctl get Window.Title")
      #expect(
        inside.output == [
          "w1", "  org.focusd.Window.Title: Notes (s)", "  note (focused)", "    demo.Form.Text: abc (s)", "w2",
          "Notes",
        ], "\(inside)")
    }
  }

  /// Two fields give a key two types, and a number is converted for the one that it reaches.
  @Test func eachFieldGivesAKeyItsOwnType() async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        focusctl register a demo.Form.Number=1; focusctl register b demo.Form.Number=one
        focusctl register c demo.Form.Number:d=1 org.focusd.Range.Value=3
        for id in a b c; do focusctl focus $id; focusctl set Number 8; focusctl get Number --json; done
        focusctl publish c demo.Form.Number=9 org.focusd.Range.Maximum=10
        focusctl get Number; focusctl get Range.Maximum --json; focusctl update Range.Value +1; focusctl get Range.Value
        focusctl set Number no; echo $?; focusctl publish c demo.Form.Number:s=no; echo $?
        focusctl register d org.focusd.Range.Value:s=3; echo $?
        """)
      #expect(
        result.output == [
          "a", "b", "c", #"{"type":"i","data":8}"#, #"{"type":"s","data":"8"}"#, #"{"type":"d","data":8.0}"#,
          "9.0", #"{"type":"d","data":10.0}"#, "4.0", "2", "4", "4",
        ], "\(result)")
    }
  }
}

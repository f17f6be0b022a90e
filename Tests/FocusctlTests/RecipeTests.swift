import BusSupport
import Foundation
import TestSupport
import Testing

@testable import focusctl

/// The recipes of the README, run as they stand there.
@Suite struct RecipeTests {
  /// What sway would run for `key`.
  private func bound(_ key: String, _ title: String) throws -> String {
    let start = "bindsym \(key) exec "
    let line = try #require(try TestDesktop.recipe(title, "sway").first { $0.hasPrefix(start) })
    return String(line.dropFirst(start.count))
  }

  @Test func hotkeys() async throws {
    let (mute, clear) = (try bound("XF86AudioMute", "A hotkey"), try bound("$mod+Delete", "A hotkey"))
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        focusctl register player --focus demo.Player.Mute=false demo.Form.Text=abc
        \(mute); focusctl get Mute; \(mute); focusctl get Mute
        \(clear); focusctl get Text
        """)
      #expect(result.output == ["player", "true", "false", ""] && result.errors.isEmpty, "\(result)")
    }
  }

  @Test func aModuleOfWaybar() async throws {
    let text = try TestDesktop.recipe("A module of waybar", "json").joined(separator: "\n")
    let modules = try JSONDecoder().decode([String: [String: String]].self, from: Data("{\(text)}".utf8))
    let module = try #require(modules["custom/number"])
    try await TestDesktop.with { desktop in
      let watch = try await desktop.background("exec " + (try #require(module["exec"])))
      func shown(_ line: Int) async throws -> [String: String] {
        let line = try await watch.lines(line)[line - 1]
        return try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
      }
      #expect(try await shown(1) == ["text": "", "alt": "nil", "tooltip": "demo.Form.Number: nil", "class": "nil"])
      _ = try await desktop.shell("focusctl register text1 --focus demo.Form.Number=5")
      #expect(try await shown(2)["text"] == "5")
      for (index, action) in [("on-scroll-up", "6"), ("on-scroll-down", "5"), ("on-click", "0")].enumerated() {
        _ = try await desktop.shell(try #require(module[action.0]))
        #expect(try await shown(3 + index)["text"] == action.1)
      }
    }
  }

  @Test func eachStepOfAKnobCounts() async throws {
    let up = try bound("F13", "The knob of a macro pad")
    let down = try bound("F14", "The knob of a macro pad")
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        focusctl register text1 --focus demo.Form.Number=0
        for step in {1..20}; do \(up) & \(down) & \(up) & done
        wait
        focusctl get Number
        """)
      #expect(result.output == ["text1", "100"] && result.errors.isEmpty, "\(result)")
    }
  }

  /// The palette itself, between stand-ins for `focusctl` and a launcher that takes the last line.
  @Test func aCommandPalette() async throws {
    let script = try TestDesktop.recipe("A command palette", "sh").joined(separator: "\n")
    let focusctl = """
      #!/bin/sh
      [ "$1" = run ] && { echo "$*"; exit; }
      [ "$*" = "commands --previous --json" ] || exit 2
      echo '{"command":"a.Edit.Undo","enabled":true,"arguments":"","results":""}'
      echo '{"command":"a.Edit.Redo","enabled":true,"arguments":"","results":""}'
      echo '{"command":"a.Edit.Save","enabled":false,"arguments":"","results":""}'
      """
    try await TestDesktop.with(isServed: false) { desktop in
      let result = try await desktop.shell(
        TestDesktop.standIn("focusctl", focusctl) + TestDesktop.standIn("rofi", "#!/bin/sh\nexec tail -n 1") + script)
      #expect(result.output == ["run --previous a.Edit.Redo"] && result.errors.isEmpty, "\(result)")
    }
  }

  @Test func aScriptThatFollowsAKey() async throws {
    let script = try TestDesktop.recipe("A script that follows a key", "sh").joined(separator: "\n")
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

import BusSupport
import Foundation
import TestSupport
import Testing

/// The hotkeys of the README in real window managers.
@Suite struct WindowManagerTests {
  /// Every block for sway and i3, as one configuration.
  private static func configuration() throws -> String {
    let readme = try String(contentsOfFile: TestDesktop.project + "/README.md", encoding: .utf8)
    let blocks = readme.components(separatedBy: "```sway\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    try #require(blocks.count >= 3)
    return "# i3 config file (v4)\nfont pango:monospace 8\nset $mod Mod4\n" + blocks.joined()
  }

  @Test(.enabled(if: TestDesktop.canDisplay && TestDesktop.has("i3", "xdotool"))) func i3() async throws {
    try await TestDesktop.with { desktop in
      try await desktop.display()
      let file = desktop.bus.directory + "/config"
      try Self.configuration().write(toFile: file, atomically: false, encoding: .utf8)
      let manager = try await desktop.start(["/usr/bin/i3", "-c", file], extra: TestDesktop.programs)
      _ = try await desktop.shell("until i3-msg -t get_version; do sleep 0.02; done >/dev/null 2>&1")
      let commands = ["Increment", "Decrement"].map { "org.focusd.Range." + $0 }
      let slider = try await desktop.hold(
        "--focus org.focusd.Range.Value=0.5 --command \(commands[0]) --command \(commands[1])")
      // The keys F13 and F14 by their codes, as the keymap that X has by itself calls them.
      for (index, (code, command)) in [("191", commands[0]), ("192", commands[1]), ("192", commands[1])].enumerated() {
        try await desktop.xdotool("key", code)
        #expect(try await slider.lines(1 + index).last == "run " + command)
      }
      let entry = try await desktop.hold("--focus org.focusd.Text.SelectedText= --command org.focusd.Edit.Undo")
      try await desktop.xdotool("key", "super+g", "super+z")
      #expect(
        try await Set(entry.lines(2)) == ["org.focusd.Text.SelectedText Best wishes", "run org.focusd.Edit.Undo"])
      #expect(!manager.progress.now.errors.contains { $0.contains("config") }, "\(manager.progress.now)")
      try await manager.stop()
    }
  }

  /// sway does not run as root.
  @Test(.enabled(if: TestDesktop.has("sway", "setpriv"))) func swayTakesTheConfiguration() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let home = desktop.bus.directory + "/sway"
      try FileManager.default.createDirectory(
        atPath: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: desktop.bus.directory)
      for (name, rest, isValid) in [("config", "", true), ("broken", "bindsym NoSuchKey exec true\n", false)] {
        try (Self.configuration() + rest).write(toFile: "\(home)/\(name)", atomically: false, encoding: .utf8)
        let user = geteuid() == 0 ? ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
        let result = try await desktop.run(
          user + ["/usr/bin/sway", "--validate", "--config", "\(home)/\(name)"],
          extra: [
            "HOME": home, "XDG_RUNTIME_DIR": home, "WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1",
            "WLR_RENDERER": "pixman",
          ])
        #expect(result.succeeded == isValid, "\(result)")
      }
    }
  }

  private static let bar = SwaySession.canRun("waybar", AccessibilityLauncher.path)

  /// What the bar shows is what its labels say, to a screen reader too.
  @Test(.enabled(if: bar, "needs sway, waybar and at-spi2-core: .ci/setup test")) func waybar() async throws {
    let modules = try TestDesktop.recipe("Modules of waybar", "json").joined(separator: "\n")
    let shown = ["title", "player", "slider"].map { #""custom/\#($0)""# }.joined(separator: ", ")
    try await TestDesktop.with { desktop in
      let file = desktop.bus.directory + "/bar.json"
      try #"{ "modules-left": [\#(shown)], \#(modules) }"#.write(toFile: file, atomically: false, encoding: .utf8)
      try await SwaySession.with(desktop) { session in
        let launcher = try await AccessibilityLauncher(desktop, session.accessible)
        let bar = try await desktop.start(
          ["/usr/bin/waybar", "-c", file], extra: session.accessible.merging(TestDesktop.programs) { $1 })
        let fields = [
          "org.focusd.Window.Title='Über & <b>mir</b> 🎈'", "org.focusd.Range.Value=0.5",
          #"'org.mpris.MediaPlayer2.Player.Metadata={"xesam:title":"A & B"}'"#,
        ]
        let holder = try await desktop.hold("--focus " + fields.joined(separator: " "))
        let texts = Set(["Über & <b>mir</b> 🎈", "0.5", "A & B"])
        try await eventually("\(texts)") { texts.isSubset(of: try await launcher.texts(of: "waybar")) }
        try await holder.stop()
        try await eventually("they are gone") { texts.isDisjoint(with: try await launcher.texts(of: "waybar")) }
        try await bar.stop()
        try await launcher.end()
      }
    }
  }
}

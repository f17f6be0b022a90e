import BusSupport
import DBusTypes
import TestSupport
import Testing

/// The palette of the README, with what a program offers in its menus and launchers as they are.
@Suite struct PaletteTests {
  /// The blocks of the recipe: for a launcher with a window of its own, and for one in a terminal.
  private static func palette() throws -> (launcher: String, terminal: String) {
    let blocks = try TestDesktop.recipes("A command palette", "sh").map { $0.joined(separator: "\n") }
    try #require(blocks.count == 2)
    return (blocks[0], blocks[1])
  }

  /// Registers a window with its menus in a field beside the entry that has focus, as the bridge does.
  private static func window(_ desktop: TestDesktop) async throws -> (stage: MenuStage, owner: Peer) {
    let owner = try await desktop.peer()
    try await owner.register("window")
    let within: Named = [("parent", Focus1.fieldPath("window"))]
    let stage = try await MenuStage(desktop, "menus", options: within + [("scope", .string("scene"))], owner: owner)
    try await owner.register("entry", [], within + [("focus", .boolean(true))])
    return (stage, owner)
  }

  /// The launcher takes focus, as a field of its own or as a window, and each line is chosen in turn.
  @Test func aLauncherThatTakesFocus() async throws {
    let palette = try Self.palette().launcher
    let launcher = """
      #!/bin/sh
      focusctl register launcher --focus demo.Launcher.Text= >/dev/null
      exec sed -n "${LINE}p"
      """
    for (line, call) in zip(
      1..., ["win.undo", "win.undo-all", "win.wrap", "win.numbers", "a", "b", "c", "d", "odd", "win.paste"])
    {
      try await TestDesktop.with { desktop in
        let stage = try await Self.window(desktop).stage
        let result = try await desktop.shell(
          TestDesktop.standIn("rofi", launcher) + palette, extra: ["LINE": String(line)])
        #expect(result.succeeded && result.output.isEmpty && result.errors.isEmpty, "\(result)")
        #expect(stage.calls == ["Activate \(call)"])
      }
    }
  }

  @Test func aLauncherThatIsLeftRunsNothing() async throws {
    let palette = try Self.palette().launcher
    try await TestDesktop.with { desktop in
      let stage = try await Self.window(desktop).stage
      let result = try await desktop.shell(TestDesktop.standIn("rofi", "#!/bin/sh\nexit 1") + palette)
      #expect(result.status == 1 && result.errors.isEmpty && stage.calls.isEmpty, "\(result)")
    }
  }

  @Test func withoutMenusThereIsNoLauncher() async throws {
    let palette = try Self.palette().launcher
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(TestDesktop.standIn("rofi", "#!/bin/sh\necho opened >&2") + palette)
      #expect(!result.succeeded && result.errors.count == 1, "\(result)")
      #expect(result.errors.first?.hasPrefix("focusctl: 'Menu.Items' is nil") == true, "\(result)")
    }
  }

  private static let canType = TestDesktop.canDisplay && TestDesktop.has("rofi", "xdotool")

  @Test(.enabled(if: canType)) func rofi() async throws {
    let palette = try Self.palette().launcher
    try await TestDesktop.with { desktop in
      try await desktop.display()
      let stage = try await Self.window(desktop).stage
      let launched = try await desktop.background(palette)
      try await desktop.xdotool("search", "--sync", "--onlyvisible", "--class", "^Rofi$")
      try await desktop.xdotool("type", "undo all")
      try await desktop.xdotool("key", "Return")
      let result = try await launched.result()
      #expect(result.succeeded, "\(result)")
      #expect(stage.calls == ["Activate win.undo-all"])
    }
  }

  @Test(.enabled(if: TestDesktop.has("fzf"))) func fzf() async throws {
    let palette = try Self.palette().terminal
    try await TestDesktop.with { desktop in
      let stage = try await Self.window(desktop).stage
      let terminal = """
        #!/bin/sh
        focusctl register terminal --focus >/dev/null
        shift
        exec "$@"
        """
      // fzf tells nobody when it has searched for what was typed, so its query is given.
      let extra = ["TERM": "xterm", "FZF_DEFAULT_OPTS": "--query numbers --select-1"]
      let script = TestDesktop.standIn("xterm", terminal) + palette
      let result = try await desktop.terminal(80, 24, script, extra: extra).result()
      #expect(result.succeeded, "\(result)")
      #expect(stage.calls == ["Activate win.numbers"])
    }
  }
}

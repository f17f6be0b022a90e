import BusSupport
import DBusTypes
import TestSupport
import Testing

/// `--previous`, in a launcher that took focus: commands are those of the field before, as if it had focus.
@Suite struct PreviousTests {
  private static let fields = [
    ("menus", "--parent window --scope scene --command org.focusd.Edit.Undo --command org.focusd.Edit.Redo"),
    ("wrong", "--parent other --scope scene --command org.focusd.Edit.Undo --command demo.Wrong.Undo"),
    ("panel", "--parent window --command org.focusd.Edit.Redo --command demo.Panel.Fold"),
    ("beside", "--parent window --command org.focusd.Edit.Undo --command demo.Beside.Do"),
    ("player", "--parent window --scope session --command demo.Player.Play"),
  ]

  /// Each command as typed, the field that it is run by, and its name there.
  private static let commands = [
    ("Edit.Undo", "menus", "org.focusd.Edit.Undo"), ("Undo", "menus", "org.focusd.Edit.Undo"),
    ("org.focusd.Edit.Redo", "panel", "org.focusd.Edit.Redo"), ("Fold", "panel", "demo.Panel.Fold"),
    ("Play", "player", "demo.Player.Play"),
  ]

  /// Runs `body` with a window, its menus, a panel with an entry in it, another window, and a launcher that has focus.
  private static func with(_ body: (TestDesktop, [String: ManagedProcess]) async throws -> Void) async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      for id in ["window", "other"] { try await owner.register(id) }
      var holders: [String: ManagedProcess] = [:]
      for (id, options) in fields { holders[id] = try await desktop.background("exec focusctl hold \(id) \(options)") }
      try await eventually("all fields") {
        Set(fields.map(\.0)).isSubset(of: try await desktop.focusctl("list", "--format", "{id}").output)
      }
      try await owner.register("entry", [], [("parent", Focus1.fieldPath("panel")), ("focus", .boolean(true))])
      try await owner.register("launcher", [], [("focus", .boolean(true))])
      try await body(desktop, holders)
      try await owner.leave()
    }
  }

  @Test func aCommandOfTheWindowBeforeIsRun() async throws {
    try await Self.with { desktop, holders in
      var counts: [String: Int] = [:]
      for (word, field, command) in Self.commands {
        let result = try await desktop.shell("focusctl --previous run \(word)")
        #expect(result.succeeded && result.text.isEmpty && result.errors.isEmpty, "\(word): \(result)")
        counts[field, default: 0] += 1
        let called = try #require(holders[field])
        #expect(try await called.lines(counts[field] ?? 0).last == "run " + command)
      }
      for (id, holder) in holders { #expect(holder.progress.now.output.count == counts[id] ?? 0, "\(id)") }
    }
  }

  /// Of a scene's fields the newest comes first, whatever they are called.
  @Test func theNewestOfASceneIsMeant() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      try await owner.register("window")
      var holders: [ManagedProcess] = []
      for (index, id) in ["m", "z", "a"].enumerated() {
        holders.append(
          try await desktop.background("exec focusctl hold \(id) --parent window --scope scene --command demo.Tool.Go"))
        try await eventually(id) { try await desktop.focusctl("list", "--format", "{id}").output.count == index + 2 }
      }
      try await owner.register("entry", [], [("parent", Focus1.fieldPath("window")), ("focus", .boolean(true))])
      let described = try await desktop.shell("focusctl describe demo.Tool.Go | sed -n 's/^field: *//p'")
      #expect(described.output == ["a"], "\(described)")
      try await owner.register("launcher", [], [("focus", .boolean(true))])
      for called in [2, 1, 0] {
        #expect(try await desktop.focusctl("--previous", "run", "Go").succeeded)
        #expect(try await holders[called].lines(1) == ["run demo.Tool.Go"])
        try await holders[called].stop()
        try await eventually("it is gone") {
          try await desktop.focusctl("list", "--format", "{id}").output.count == called + 3
        }
      }
      try await owner.leave()
    }
  }

  /// What a window adopts stays a scene of its own.
  @Test func theCommandsOfAnotherSceneInTheWindowAreNotMeant() async throws {
    try await TestDesktop.with { desktop in
      let (windows, shell, editor) = (try await desktop.peer(), try await desktop.peer(), try await desktop.peer())
      try await windows.own("org.focusd.Bridge1.Windows")
      try await windows.register("window")
      try await editor.register("document")
      let menu = Exported(editor, document(("demo.Doc", method("Save"))), at: "/menu")
      try await editor.register(
        "menu", object: menu.path, [("parent", Focus1.fieldPath("document")), ("scope", .string("scene"))])
      try await shell.register("shell", [("demo.Shell.Line", .string("ls"))], [("focus", .boolean(true))])
      try await windows.field("window", "Adopt", [.strings([shell.name, editor.name])])
      try await windows.focus("window")
      try await shell.focus("shell")
      try await windows.register("launcher", [], [("focus", .boolean(true))])
      let result = try await desktop.focusctl("--previous", "run", "demo.Doc.Save")
      #expect(result.status == 1, "\(result)")
      #expect(menu.count("Save") == 0)
      try await windows.leave()
    }
  }

  @Test func theyAreListed() async throws {
    try await Self.with { desktop, _ in
      let listed = try await desktop.focusctl("commands", "--previous")
      #expect(
        listed.output == [
          "demo.Panel.Fold       enabled  -", "demo.Player.Play      enabled  -", "org.focusd.Edit.Redo  enabled  -",
          "org.focusd.Edit.Undo  enabled  -",
        ], "\(listed)")
      #expect(try await desktop.focusctl("commands", "--field", "entry").text.isEmpty)
    }
  }

  @Test func whatItsWindowDoesNotHaveIsNotFound() async throws {
    try await Self.with { desktop, holders in
      for (options, start) in [
        (["--previous"], "neither the field 'entry', its ancestors nor its scene has it"),
        (["--field", "entry"], "the field 'entry' does not have it"),
      ] {
        let result = try await desktop.focusctl(["run", "demo.Beside.Do"] + options)
        #expect(result.status == 1, "\(result)")
        #expect(result.errors == ["focusctl: no such command 'demo.Beside.Do': \(start)"])
      }
      for holder in holders.values { #expect(holder.progress.now.output.isEmpty) }
    }
  }
}

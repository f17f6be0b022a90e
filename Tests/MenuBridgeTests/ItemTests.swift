import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Items that change, are forgotten or wanted twice while they are called.
@Suite struct ItemTests {
  /// Runs `body` with `count` calls of a command for an item, of which the program has yet to answer a question, and all items
  /// have been listed since the calls.
  private static func withHeldItem(
    _ command: String, _ arguments: [DBusValue] = [], count: Int = 1,
    _ body: (MenuStage, StubMenus, [Peer.Pending]) async throws -> Void
  ) async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Menu.Items")
      program.state.update { $0.answers["Describe"] = .hold }
      let call = DaemonCall.invoke("org.focusd." + command, [.string("win.wrap")] + arguments)
      let calls = (0..<count).map { _ in stage.windows.begin(call) }
      try await program.state.wait(for: "a question") { $0.calls.contains("Describe") ? () : nil }
      _ = try await stage.items()
      try await body(stage, program, calls)
    }
  }

  /// Both would find it off, and turn it on and off again.
  @Test func twoChecksRunAnItemOnce() async throws {
    try await Self.withHeldItem("Menu.Check", [.boolean(true)], count: 2) { _, program, calls in
      program.release()
      for call in calls { _ = try await call.values() }
      #expect(program.state.now.activated == ["wrap"])
    }
  }

  @Test func checksThatWaitEndWithTheirWindow() async throws {
    try await Self.withHeldItem("Menu.Check", [.boolean(true)], count: 2) { stage, program, calls in
      try await stage.windows.field("w1", "Unregister")
      for call in calls { #expect(try await call.refusal() != "Timeout") }
      #expect(program.state.now.activated.isEmpty)
    }
  }

  /// Who lists the items forgets those that were read for it.
  @Test func anItemThatIsForgottenWhileItIsRunIsReadAgain() async throws {
    try await Self.withHeldItem("Menu.Activate") { _, program, calls in
      program.release()
      for call in calls { _ = try await call.values() }
      try await program.state.ran(\.activated, ["wrap"])
    }
  }

  /// Its name is another each time, and its place that of another item now.
  @Test func anItemWithoutAStableNameIsReadEachTime() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.menu("Edit", ["slot-10001": "1: a.odt"])
      program.state.update { $0.actions["slot-10001"] = .init() }
      try await stage.show("w1", of: program)
      try await stage.has("Menu.Items")
      let id = "Edit › 1: a.odt"
      try await stage.run("Menu.Activate", [.string(id)])
      try await program.state.ran(\.activated, ["slot-10001"])
      program.menu("Edit", ["slot-10001": "1: b.odt"])
      #expect(try await stage.refusal("Menu.Activate", [.string(id)]) == "InvalidArgs")
      #expect(program.state.now.activated == ["slot-10001"])
    }
  }

  @Test func anActionInTwoMenusIsTwoItems() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      let larger: Named = [("label", .string("Zoom In")), ("action", .string("win.larger"))]
      let menus = [("View", UInt32(1)), ("Tools", 2)].map { name, group -> Named in
        [("label", .string(name)), (":submenu", StubMenus.list(group, 0))]
      }
      program.state.update { state in
        (state.lists, state.actions) = ([[0, 0]: menus, [1, 0]: [larger], [2, 0]: [larger]], ["larger": .init()])
      }
      try await stage.show("w1", of: program)
      try await stage.has("Menu.Items")
      #expect(try await stage.items().map(\.id) == ["win.larger", "Tools › Zoom In"])
      try await stage.run("Menu.Activate", [.string("Tools › Zoom In")])
      try await stage.run("View.ZoomIn")
      try await program.state.ran(\.activated, ["larger", "larger"])
    }
  }

  /// A module exports the menus of programs that have no application of GTK's.
  @Test func theActionsOfAModule() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.state.update { state in
        state.lists[[1, 0]] = [[("label", .string("_Undo")), ("action", .string("unity.undo"))]]
      }
      let parts: Named = [
        ("gtk-unique-bus-name", .string(program.peer.name)),
        ("gtk-menubar-object-path", .objectPath(ObjectPath(known: StubMenus.menubar))),
        ("unity-object-path", .objectPath(ObjectPath(known: StubMenus.window))),
      ]
      try await stage.show("w1", parts)
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, ["undo"])
    }
  }

  /// The last document was closed, and another is opened: its title tells it.
  @Test func aWindowThatBecomesPoorFollowsItsTitle() async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      let undo = program.state.update { state in
        defer { (state.actions, state.lists[[1, 0]]) = (["wrap": .init()], []) }
        return state.lists[[1, 0]]
      }
      _ = try await stage.items()
      try await eventually("no command") { try await stage.windows.commands()["org.focusd.Edit.Undo"] == nil }
      program.state.update { state in
        (state.actions["undo"], state.lists[[1, 0]]) = (.init(), undo)
      }
      try await stage.windows.publish("w1", [("org.focusd.Window.Title", .string("another"))])
      try await stage.has("Edit.Undo")
    }
  }
}

import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Items that a program has hidden in its menu bar: GTK and Java tell of the others that they are visible, also in closed menus.
@Suite struct HiddenItemTests {
  private static let edit = "/a/bar/0"
  private static let visible = StubBars.enabled | StubBars.visible

  /// Runs `body` with a menu that tells that it is visible, as its items do.
  private static func withVisible(_ items: [String], _ body: (MenuStage, StubBars) async throws -> Void) async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a", items)
      for path in [edit] + items.indices.map({ "\(edit)/\($0)" }) { program.change(path) { $0.states = visible } }
      try await body(stage, program)
    }
  }

  /// As in CherryTree, and GtkUIManager's "Empty".
  @Test func theyAreNeitherListedNorRun() async throws {
    try await Self.withVisible(["Undo", "Redo"]) { stage, program in
      program.add(.init(role: StubBars.item, name: "Empty", states: 0), to: Self.edit)
      program.add(.init(role: StubBars.item, name: "Vacuum"), to: Self.edit)
      program.add(.init(role: StubBars.menu, name: "More"), to: Self.edit)
      program.add(.init(role: StubBars.item, name: "Deep", states: Self.visible), to: Self.edit + "/4")
      // All that this menu has is hidden.
      program.add(.init(role: StubBars.menu, name: "Plugins", states: Self.visible), to: "/a/bar")
      program.add(.init(role: StubBars.item, name: "Empty"), to: "/a/bar/1")
      program.add(.init(role: StubBars.menu, name: "Debug"), to: "/a/bar")
      program.add(.init(role: StubBars.item, name: "Crash", states: Self.visible), to: "/a/bar/2")
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      #expect(try await stage.items().map(\.id) == ["Edit › Undo", "Edit › Redo"])
      let refusals = ["Vacuum": "Disabled", "More › Deep": "InvalidArgs"]
      for (item, refusal) in refusals {
        #expect(try await stage.refusal("Menu.Activate", [.string("Edit › " + item)]) == refusal, "\(item)")
      }
      #expect(program.state.now.activated.isEmpty)
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, [Self.edit + "/0"])
    }
  }

  /// Nothing was listed before, so that only the other items of its menu tell it.
  @Test(arguments: [false, true]) func aCommandThatIsHiddenIsRefusedUntilItIsShown(isListed: Bool) async throws {
    try await Self.withVisible(["Undo", "Redo"]) { stage, program in
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      program.change(Self.edit + "/0") { $0.states = StubBars.enabled }
      if isListed { #expect(try await stage.items().map(\.id) == ["Edit › Redo"]) }
      #expect(try await stage.refusal("Edit.Undo") == "Disabled")
      #expect(program.state.now.activated.isEmpty)
      program.change(Self.edit + "/0") { $0.states = Self.visible }
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, [Self.edit + "/0"])
    }
  }

  /// Qt with closed menus and with one that is open, and Firefox after one was: there nothing tells what is hidden.
  @Test(
    arguments: [
      [0, 0], [StubBars.visible | StubBars.showing, 0], [StubBars.showing, StubBars.showing],
    ]) func whereClosedMenusDoNotTellIt(states: [UInt64]) async throws
  {
    try await MenuStage.withBars { stage, program in
      program.window("a", ["Redo", "Undo"])
      for (number, states) in states.enumerated() {
        program.change("\(Self.edit)/\(number)") { $0.states |= states }
      }
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      #expect(try await stage.items().map(\.id) == ["Edit › Redo", "Edit › Undo"])
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, [Self.edit + "/1", Self.edit + "/1"])
    }
  }
}

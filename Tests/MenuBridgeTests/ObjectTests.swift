import BusSupport
import DBusTypes
import TestSupport
import Testing

@testable import MenuBridge

/// GTK's windows where no window tells where its menus are, as on most Wayland compositors.
@Suite struct ObjectTests {
  private static let windows = "/stub/window"

  /// A program with two windows, of which one has actions of its own, and the other the application's alone; the program may
  /// tell of the first window late, and has a command that accessibility shows, too.
  @Test(arguments: [false, true]) func twoWindowsOfWhichOneHasNoActionsOfItsOwn(isLate: Bool) async throws {
    let objects = [
      "/": ["stub"], "/stub": ["window", "menus"], "/stub/menus": ["menubar"], Self.windows: [],
      Self.windows + "/1": [],
    ]
    try await MenuStage.withObjects(window: Self.windows + "/2", frames: ["a", "b"], objects) { stage, program, bars in
      program.menu("Edit", ["undo": "_Undo", "save": "_Save"])
      program.state.update { state in
        state.actions = ["undo": .init(), "save": .init(), "quit": .init()]
        state.answers[Self.windows + "/1"] = .values([.strings([])])
        state.children[Self.windows] = isLate ? ["2"] : ["1", "2"]
      }
      try await stage.show("w1", [], title: "b")
      try await stage.has("Edit.Undo")
      if isLate { program.state.update { $0.children[Self.windows] = ["1", "2"] } }
      try await stage.has("Document.Save")
      try await stage.run("Document.Save")
      try await program.state.ran(\.activated, ["save"])
      try await stage.show("w2", [], title: "a")
      try await stage.has("Application.Quit")
      try await stage.run("Application.Quit")
      try await program.state.ran(\.activated, ["save", "quit"])
      #expect(bars?.state.now.activated.isEmpty == true)
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    /// The windows' numbers, and which of them have no actions.
    let windows: [String]
    var withoutActions: Set<String> = []
    var areOrdered = true
    let frames: Int
    var active: Int? = 0
    /// The number of the one that it is.
    let window: String?

    var testDescription: String { "\(frames) frames, \(windows), without actions \(withoutActions)" }
  }

  @Test(
    arguments: [
      Case(windows: [], frames: 0, active: nil, window: nil), Case(windows: [], frames: 1, window: nil),
      Case(windows: ["1"], frames: 0, active: nil, window: "1"), Case(windows: ["1"], frames: 1, window: "1"),
      Case(windows: ["1"], frames: 2, window: nil), Case(windows: ["1", "2"], frames: 0, active: nil, window: nil),
      Case(windows: ["1", "2"], frames: 1, window: nil),
      Case(windows: ["1", "2"], frames: 2, active: 1, window: "2"),
      Case(windows: ["1", "2"], frames: 2, active: nil, window: nil),
      Case(windows: ["1", "2"], areOrdered: false, frames: 2, window: nil),
      Case(windows: ["1", "2"], withoutActions: ["1"], frames: 0, active: nil, window: "2"),
      Case(windows: ["1", "2"], withoutActions: ["1"], frames: 1, window: "2"),
      Case(windows: ["1", "2"], withoutActions: ["1"], frames: 2, window: "1"),
      Case(windows: ["1", "2"], withoutActions: ["1"], frames: 2, active: 1, window: "2"),
      Case(windows: ["1", "2"], withoutActions: ["1", "2"], frames: 2, active: 1, window: "2"),
      Case(windows: ["1", "2"], withoutActions: ["1", "2"], frames: 1, window: nil),
      Case(windows: ["1", "2", "3"], withoutActions: ["2"], frames: 2, active: 1, window: "3"),
      Case(windows: ["1", "2", "3"], withoutActions: ["1", "2"], frames: 2, active: 1, window: nil),
    ]) func whichWindowItIs(it: Case) throws
  {
    let path = { try ObjectPath(Self.windows + "/" + $0) }
    var objects = ProgramObjects()
    objects.windows = try it.windows.map(path)
    objects.withoutActions = Set(try it.withoutActions.map(path))
    objects.areOrdered = it.areOrdered
    #expect(try objects.window(ofFrames: it.frames, it.active) == it.window.map(path))
  }
}

extension MenuStage {
  /// Runs `body` with a program that tells of `objects`, each with the names of what is below it, and has frames, if any, on
  /// the accessibility bus, each with a menu bar.
  static func withObjects(
    window: String, menubar: String = StubMenus.menubar, frames: [String] = [], _ objects: [String: [String]],
    _ body: (MenuStage, StubMenus, StubBars?) async throws -> Void
  ) async throws {
    let found = Observed<(menus: StubMenus, bars: StubBars?)?>(nil)
    let start = { (desktop: TestDesktop) in
      // Of a process's connections, the first ones are searched.
      let peer = try await desktop.peer()
      let menus = StubMenus(peer, window: window, menubar: menubar)
      menus.exports(objects)
      let bars = frames.isEmpty ? nil : try await StubBars(desktop)
      for name in frames { bars?.window(name, isActive: false) }
      found.update { $0 = (menus, bars) }
    }
    try await with(before: start) { stage in
      guard let (menus, bars) = found.now else { return }
      try await body(stage, menus, bars)
    }
  }
}

import BusSupport
import DBusTypes
import TestSupport
import Testing

/// LibreOffice where no window tells where its menus are, as on most Wayland compositors.
@Suite struct OfficeTests {
  private static let windows = "/org/libreoffice/window"

  /// Runs `body` with a program that has windows of these numbers, the first without actions; each frame has another title.
  private static func with(
    numbers: [String], frames: [String] = [], _ body: (MenuStage, StubMenus) async throws -> Void
  ) async throws {
    let window = Self.windows + "/" + numbers[1]
    try await MenuStage.withObjects(
      window: window, menubar: window + "/menus/menubar", frames: frames,
      [
        "/": ["org"], "/org": ["libreoffice"], "/org/libreoffice": ["window"], windows: numbers,
        windows + "/" + numbers[0]: [],
      ]
    ) { stage, program, _ in
      program.state.update { $0.answers[windows + "/" + numbers[0]] = .values([.strings([])]) }
      try await body(stage, program)
    }
  }

  /// Waits until the program was looked at as often from now on.
  private static func looks(_ count: Int, at program: StubMenus) async throws {
    let questions = { @Sendable (state: StubMenus.State) in state.calls.count { $0 == "Introspect" } }
    let before = questions(program.state.now)
    // Each look asks four objects what is below them.
    _ = try await program.state.wait(for: "several looks") { questions($0) >= before + count * 4 ? true : nil }
  }

  /// Beside its document's window it exports one that nobody sees; on Wayland their numbers are addresses.
  @Test(arguments: [["7", "9"], ["94574702960864", "94574705049408"]])
  func aWindowWithoutActionsIsNone(numbers: [String]) async throws {
    try await Self.with(numbers: numbers) { stage, program in
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      #expect(try await stage.items().map(\.id) == ["win.undo", "win.wrap"])
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, ["undo"])
      // Without accessibility, another window of the program may be a dialog.
      try await stage.show("w2", [])
      try await Self.looks(2, at: program)
      #expect(try await stage.windows.commands()["org.focusd.Edit.Undo"] == nil)
      try await stage.windows.focus("w1")
      try await stage.has("Edit.Undo")
    }
  }

  /// That one is not the other's that accessibility shows.
  @Test func aWindowWithoutActionsIsNoneOfTwo() async throws {
    try await Self.with(numbers: ["7", "9"], frames: ["a", "b"]) { stage, program in
      try await stage.show("w1", [], title: "b")
      try await Self.looks(2, at: program)
      #expect(!program.state.now.calls.contains("DescribeAll"))
    }
  }
}

import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Main windows of KDE's, found by their program's process.
@Suite struct KDETests {
  @Test func itsStandardActionsAreRun() async throws {
    try await StubKDE.with(windows: 1) { stage, program in
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      let items = try await stage.items()
      #expect(items.map(\.id) == ["edit_redo", "edit_undo"] && items.map(\.label) == ["Redo", "Undo"])
      #expect(items.map(\.isEnabled) == [false, true])
      try await stage.run("Edit.Undo")
      // It is shown as enabled, since the program would not tell when it is.
      #expect(try await stage.refusal("Edit.Redo") == "Disabled")
      program.state.update { $0.isUndoEnabled = false }
      #expect(try await stage.refusal("Edit.Undo") == "Disabled")
      try await program.state.ran(\.triggered, ["/stub/MainWindow_1/actions/edit_undo"])
      #expect(!program.state.now.asked.contains { $0.contains("other") })
    }
  }

  /// As Konsole's: no object can have a name with a hyphen, and what a terminal exports besides comes first.
  @Test func actionsWithoutObjectsAreRunByTheirWindow() async throws {
    try await StubKDE.with(windows: 1) { stage, program in
      program.state.update { state in
        state.withoutObjects = ["new-tab": true, "next-tab": false]
        for path in ["KBookmarkManager", "Sessions", "Windows"] { state.others[path] = ["1", "2", "3"] }
        for path in ["org", "org/kde"] { state.others[path] = ["kde"] }
      }
      try await stage.show("w1", [])
      try await stage.has("Tab.New")
      let items = try await stage.items()
      #expect(items.map(\.id) == ["edit_redo", "edit_undo", "new-tab", "next-tab"])
      #expect(items.map(\.label).suffix(2) == ["Tip of new-tab", "Tip of next-tab"])
      #expect(items.map(\.isEnabled) == [false, true, true, false])
      try await stage.run("Tab.New")
      try await program.state.ran(\.triggered, ["new-tab"])
      #expect(try await stage.refusal("Tab.Next") == "Disabled")
      #expect(try await stage.refusal("Menu.Activate", [.string("previous-tab")]) == "InvalidArgs")
      program.state.update { $0.answers["activateAction"] = .values([.boolean(false)]) }
      // One that takes long is said to have begun.
      try await eventually("a refusal") { try await stage.refusal("Tab.New") == "Failed" }
    }
  }

  /// Dolphin's are called Dolphin_1 and so on.
  @Test func mainWindowsMayHaveNamesOfTheirOwn() async throws {
    try await StubKDE.with(windows: 2, called: "Stub", areAccessible: true) { stage, program in
      for name in ["a", "b"] { program.frames?.window(name, isActive: false, []) }
      program.state.update { $0.active = "Stub_2" }
      try await stage.show("w1", [], title: "b")
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.triggered, ["/stub/Stub_2/actions/edit_undo"])
      #expect(!program.state.now.asked.contains("/stub/Stub_2/actions"))
    }
  }

  /// Titles on the accessibility bus tell that it is no dialog, and the program which is active: their numbers tell no order.
  @Test(arguments: [true, false]) func oneOfSeveralWindows(hasTitles: Bool) async throws {
    try await StubKDE.with(windows: 2, areAccessible: true) { stage, program in
      for name in ["a", "b"] { program.frames?.window(name, isActive: false, []) }
      program.state.update { $0.active = "MainWindow_1" }
      try await stage.show("w1", [], title: hasTitles ? "b" : "")
      guard hasTitles else {
        _ = try await program.frames?.state.wait(for: "several looks") { state in
          state.calls.count { $0.path == "/a" && $0.member == "GetState" } >= 4 ? true : nil
        }
        #expect(try await stage.windows.commands()["org.focusd.Edit.Undo"] == nil)
        return #expect(!program.state.now.asked.contains { $0.contains("actions") })
      }
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.triggered, ["/stub/MainWindow_1/actions/edit_undo"])
    }
  }

  /// Somebody passes through it, or it has a dialog by now: what was found is kept.
  @Test func aWindowThatIsLookedAtAgainKeepsItsCommands() async throws {
    try await StubKDE.with(windows: 1) { stage, program in
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      program.state.update { ($0.active, $0.activeCalls) = (nil, 0) }
      _ = try await program.state.wait(for: "another look") { $0.activeCalls >= 1 ? true : nil }
      _ = try await stage.items()
      #expect(try await stage.windows.commands()["org.focusd.Edit.Undo"] == true)
    }
  }

  /// Qt tells its windows nowhere else until an assistive program runs.
  @Test func aDialogWithoutAccessibility() async throws {
    try await StubKDE.with(windows: 1) { stage, program in
      program.state.update { $0.active = nil }
      try await stage.show("w1", [], title: "question")
      _ = try await program.state.wait(for: "several looks") { $0.activeCalls >= 2 ? true : nil }
      #expect(try await stage.windows.commands()["org.focusd.Edit.Undo"] == nil)
      #expect(!program.state.now.asked.contains { $0.contains("actions") })
      program.state.update { $0.active = "MainWindow_1" }
      try await stage.show("w2", [], title: "document")
      try await stage.has("Edit.Undo")
    }
  }

  /// What its program has is for the window behind it, and for none while it is not known which window is in front, or what
  /// it is.
  @Test(
    arguments: [
      (2, "question"), (9, "question"), (16, "question"), (19, "question"), (22, "question"), (nil, "question"),
      (16, ""),
    ] as [(UInt32?, String)])
  func aDialog(role: UInt32?, title: String) async throws {
    try await StubKDE.with(windows: 1, areAccessible: true) { stage, program in
      let frames = try #require(program.frames)
      for name in ["document", "question"] { frames.window(name, isActive: false, []) }
      frames.change("/question") { question in
        if let role { question.role = role } else { question.answers["GetRole"] = .error("stub.Error", "no") }
      }
      try await stage.show("w1", [], title: title)
      _ = try await frames.state.wait(for: "several looks") { state in
        state.calls.count { $0.path == "/question" && $0.member == "GetState" } >= 2 ? true : nil
      }
      #expect(try await stage.windows.commands()["org.focusd.Edit.Undo"] == nil)
      #expect(!program.state.now.asked.contains { $0.contains("actions") })
      try await stage.show("w2", [], title: "document")
      try await stage.has("Edit.Undo")
    }
  }

  /// A window without commands beside the main window, as a presentation: what is of that one is not its own.
  @Test func aSecondWindowThatIsNoDialog() async throws {
    try await StubKDE.with(windows: 1, areAccessible: true) { stage, program in
      let frames = try #require(program.frames)
      for name in ["document", "slides"] { frames.window(name, isActive: false, []) }
      program.state.update { $0.active = nil }
      try await stage.show("w1", [], title: "slides")
      _ = try await program.state.wait(for: "several looks") { $0.activeCalls >= 2 ? true : nil }
      #expect(try await stage.windows.commands()["org.focusd.Edit.Undo"] == nil)
      program.state.update { $0.active = "MainWindow_1" }
      try await stage.show("w2", [], title: "document")
      try await stage.has("Edit.Undo")
    }
  }

  /// A program whose windows are told late may have a dialog in front.
  @Test func aDialogThatIsToldLate() async throws {
    try await StubKDE.with(windows: 1, areAccessible: true) { stage, program in
      let frames = try #require(program.frames)
      for name in ["document", "question"] { frames.window(name, isActive: false, []) }
      frames.change("/question") { $0.role = 16 }
      frames.change(StubBars.root) { $0.answers["GetChildren"] = .hold }
      try await stage.show("w1", [], title: "question")
      _ = try await frames.state.wait(for: "another look") { state in
        state.calls.count { $0.path == StubBars.root && $0.member == "GetChildren" } >= 2 ? true : nil
      }
      frames.release(StubBars.root)
      _ = try await frames.state.wait(for: "a look at the dialog") { state in
        state.calls.contains { $0.path == "/question" && $0.member == "GetRole" } ? true : nil
      }
      #expect(!program.state.now.asked.contains { $0.contains("actions") })
    }
  }

  /// Each answer takes longer than one may at first sight.
  @Test func aProgramThatIsSlow() async throws {
    try await StubKDE.with(windows: 1) { stage, program in
      program.state.update { $0.delay = .milliseconds(600) }
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      let undo = "/stub/MainWindow_1/actions/edit_undo"
      try await program.state.ran(\.triggered, only: undo, in: stage.attempts("Edit.Undo"))
    }
  }

  /// What is not answered in time is not gone.
  @Test(arguments: [("Edit.Undo", "GetAll"), ("Menu.Items", "actions")])
  func anAnswerThatDoesNotCome(command: String, member: String) async throws {
    try await StubKDE.with(windows: 1) { stage, program in
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      try await stage.keeps("Edit.Undo", unanswered: command) { isSilent in
        program.state.update { $0.answers = isSilent ? [member: .hold] : [:] }
      }
    }
  }
}

/// A program of KDE's, as it looks on the session bus.
private final class StubKDE: Sendable {
  struct State: Sendable {
    var isUndoEnabled = true
    /// The actions that have no objects, and whether each is enabled.
    var withoutObjects: [String: Bool] = [:]
    /// What it exports before its windows, with the names of what is below.
    var others: [String: [String]] = [:]
    /// The main window that it says is active, and how often it was asked.
    var active: String? = "MainWindow_1"
    var activeCalls = 0
    /// The paths of the actions that were run, in order, and of all objects that were asked.
    var triggered: [String] = []
    var asked: [String] = []
    /// What answers a member instead.
    var answers: [String: Answer] = [:]
    /// How long it takes for each answer.
    var delay: Duration?
  }

  let state = Observed(State())
  /// Its windows on the accessibility bus.
  let frames: StubBars?
  private let peer: Peer

  /// Runs `body` with a program with so many windows, which has frames if they `areAccessible`.
  static func with(
    windows: Int, called name: String = "MainWindow", areAccessible: Bool = false,
    _ body: (MenuStage, StubKDE) async throws -> Void
  ) async throws {
    let found = Observed<StubKDE?>(nil)
    let start = { (desktop: TestDesktop) in
      // Of a process's connections, the first ones are searched.
      let peer = try await desktop.peer()
      let program = StubKDE(
        peer, windows: windows, called: name, frames: areAccessible ? try await StubBars(desktop) : nil)
      found.update { $0 = program }
    }
    try await MenuStage.with(before: start) { stage in
      guard let program = found.now else { return }
      try await body(stage, program)
    }
  }

  private init(_ peer: Peer, windows: Int, called name: String, frames: StubBars?) {
    (self.peer, self.frames) = (peer, frames)
    let names = (1...windows).map { "\(name)_\($0)" }
    let state = state
    peer.answer(after: state.now.delay) { call, _ in
      state.update { state in
        state.asked.append(call.path)
        if let answer = state.answers[call.member] { return answer }
        let name = call.arguments.first?.basicText ?? ""
        switch (call.member, call.path) {
        case ("Introspect", "/"):
          let others = state.others.keys.filter { !$0.contains("/") }
          return .values([Self.node(others.sorted() + ["stub", "MainApplication"])])
        case ("Introspect", let path) where state.others.keys.contains { path == "/" + $0 }:
          return .values([Self.node(state.others[String(path.dropFirst())] ?? [])])
        case ("Introspect", "/stub"): return .values([Self.node(names)])
        case ("Introspect", let path) where names.contains { path == "/stub/" + $0 }:
          return .values([Self.node(["actions"], interface: "org.kde.KMainWindow")])
        case ("Get", let path):
          guard call.arguments == [.string("org.qtproject.Qt.QWidget"), .string("isActiveWindow")] else { break }
          state.activeCalls += 1
          return .values([.variant(.boolean(path == state.active.map { "/stub/" + $0 }))])
        case ("actions", _):
          return .values([.strings(["edit_undo", "other_action", "edit_redo"] + state.withoutObjects.keys)])
        case ("actionToolTip", _): return .values([.string("Tip of \(name)")])
        case ("actionIsEnabled", _): return .values([.boolean(state.withoutObjects[name] ?? false)])
        case ("activateAction", _):
          state.triggered.append(name)
          return .values([.boolean(true)])
        case ("GetAll", let path) where path.hasSuffix("/edit_undo"):
          return .values([Self.action("&Undo", "Ctrl+Z", state.isUndoEnabled)])
        case ("GetAll", let path) where path.hasSuffix("/edit_redo"):
          return .values([Self.action("Re&do", "Ctrl+Shift+Z", false)])
        case ("trigger", let path):
          state.triggered.append(path)
          return .values([])
        default: break
        }
        return .error("org.freedesktop.DBus.Error.UnknownObject", call.path)
      }
    }
  }

  private static func node(_ names: [String], interface: String = "org.stub.Object") -> DBusValue {
    .string(#"<node><interface name="\#(interface)"/>"# + names.map { #"<node name="\#($0)"/>"# }.joined() + "</node>")
  }

  private static func action(_ text: String, _ shortcut: String, _ isEnabled: Bool) -> DBusValue {
    .properties([
      ("text", .string(text)), ("shortcut", .string(shortcut)), ("enabled", .boolean(isEnabled)),
      ("checkable", .boolean(false)), ("checked", .boolean(false)),
    ])
  }
}

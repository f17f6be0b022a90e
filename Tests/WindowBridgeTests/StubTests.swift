import BusSupport
import DBusTypes
import Foundation
import ProgramSupport
import TestSupport
import Testing
import WindowBridge

/// The bridge between a daemon and a window manager that the test plays.
@Suite struct StubTests {
  private static func stub(_ desktop: TestDesktop, front: Int? = 5, piece: Int = 1 << 20) -> StubManager {
    let stub = StubManager(in: desktop.bus.directory)
    stub.state.update { state in
      state.views = [5: .init(title: "one", process: 4005), 6: .init(title: "two", process: 4006)]
      (state.front, state.piece) = (front, piece)
    }
    return stub
  }

  @Test func aSocketThatNobodyListensAtHidesNoOther() async throws {
    try await TestDesktop.with { desktop in
      let (stub, peer) = (Self.stub(desktop), try await desktop.peer())
      let stale = desktop.bus.directory + "/stale.sock"
      let bridge = try await desktop.windowBridge([], ["SWAYSOCK": stale, "I3SOCK": stub.path])
      try await peer.reached(["w5"])
      try await bridge.says("cannot follow sway")
      withExtendedLifetime(bridge) {}
    }
  }

  @Test func aCommandThatIsNotAnsweredFails() async throws {
    try await TestDesktop.with { desktop in
      let (stub, peer) = (Self.stub(desktop), try await desktop.peer())
      let bridge = try await desktop.windowBridge(stub)
      try await peer.reached(["w5"])
      stub.state.update { $0.answers = false }
      let silent = peer.begin(.invoke("org.focusd.Window.Float", []))
      // The daemon says it if the bridge is late, too.
      #expect(["Failed", "Timeout"].contains(try await silent.refusal()))
      stub.state.update { $0.answers = true }
      withExtendedLifetime(bridge) {}
    }
  }

  @Test func aTitleThatCountsIsToldNowAndThen() async throws {
    try await TestDesktop.with { desktop in
      let (stub, peer) = (Self.stub(desktop), try await desktop.peer())
      let bridge = try await desktop.windowBridge(stub)
      try await peer.reached(["w5"])
      try await peer.subscribe()
      for number in 1...2000 { stub.set(5, .init(title: "\(number)", process: 4005)) }
      let told = try await peer.signals("the last title") { signals in
        let titles = signals.values(of: Peer.title)
        return titles.last == .string("2000") ? titles : nil
      }
      #expect(told.count < 1000, "\(told.count)")
      withExtendedLifetime(bridge) {}
    }
  }

  @Test(arguments: [1, 7, 1 << 20]) func windowsAreFields(piece: Int) async throws {
    try await TestDesktop.with { desktop in
      let (stub, peer) = (Self.stub(desktop, piece: piece), try await desktop.peer())
      let bridge = try await desktop.windowBridge(stub)
      try await peer.reached(["w5"])
      try await eventually("windows") { try await peer.windows() == ["one": "w5", "two": "w6"] }
      let values: [String: DBusValue] = [
        "org.focusd.Window.Title": .string("one"), "org.focusd.Window.Application": .string("stub"),
        "org.focusd.Window.ProcessId": .uint32(4005), "org.focusd.Window.Workspace": .string("1"),
      ]
      #expect(try await peer.readAll() == values)
      #expect(
        try await peer.commands().keys.sorted() == ["Close", "Float", "Fullscreen"].map { "org.focusd.Window." + $0 })
      stub.focus(6)
      try await peer.reached(["w6"])
      stub.set(6, .init(title: "due \"\\", process: 4006))
      try await eventually("title") { try await peer.read(Peer.title).value == .string("due \"\\") }
      // An empty workspace, and what was in front closed.
      stub.focus(nil)
      try await peer.reached([])
      stub.focus(6)
      try await peer.reached(["w6"])
      stub.close(6)
      try await peer.reached([])
      #expect(try await peer.fields() == ["w5"])
      stub.set(9, .init(title: "new", process: 1, workspace: "2"))
      stub.focus(9)
      try await peer.reached(["w9"])
      // The workspace comes with the tree.
      try await eventually("keys") {
        try await peer.keys() == ["Application", "Title", "Workspace"].map { "org.focusd.Window." + $0 }
      }
      // A process is nobody's, and a workspace may be another.
      stub.state.update { $0.views[9]?.workspace = "3" }
      stub.event(3, #"{"change":"move","container":{}}"#)
      try await eventually("workspace") { try await peer.read("org.focusd.Window.Workspace").value == .string("3") }
      bridge.terminate()
      #expect(try await bridge.finish() == .status(0))
      #expect(try await peer.fields() == [])
    }
  }

  /// The X server gives an id again: the field, its label and what bridges know of it would be the other program's.
  @Test func aNameThatAnotherProgramsWindowGetsIsAnotherWindow() async throws {
    try await TestDesktop.with { desktop in
      let (stub, peer) = (Self.stub(desktop), try await desktop.peer())
      let bridge = try await desktop.windowBridge(stub)
      try await peer.reached(["w5"])
      #expect(try await desktop.focusctl("list").output.contains { $0.contains("w5") && $0.contains("stub") })
      stub.set(5, .init(title: "one", process: 5005, application: "other"))
      try await eventually("the other program") {
        try await desktop.focusctl("list").output.contains { $0.contains("w5") && $0.contains("other") }
      }
      try await peer.reached(["w5"])
      #expect(try await peer.readAll()["org.focusd.Window.ProcessId"] == .uint32(5005))
      withExtendedLifetime(bridge) {}
    }
  }

  @Test func commandsAndFocusGoToTheWindowManager() async throws {
    try await TestDesktop.with { desktop in
      let (stub, peer) = (Self.stub(desktop), try await desktop.peer())
      let bridge = try await desktop.windowBridge(stub)
      try await peer.reached(["w5"])
      try await eventually("both windows") { try await peer.fields() == ["w5", "w6"] }
      // The call ends when the window is in front.
      #expect(try await desktop.focusctl("focus", "w6").succeeded)
      #expect(try await peer.path() == ["w6"])
      for command in ["Close", "Fullscreen", "Float"] { _ = try await peer.invoke("org.focusd.Window." + command) }
      #expect(
        stub.state.now.commands == [
          "[con_id=6] focus", "[con_id=6] kill", "[con_id=6] fullscreen toggle", "[con_id=6] floating toggle",
        ])
      stub.state.update { $0.refusal = "not today" }
      let refused = try await desktop.focusctl("focus", "w5")
      #expect(refused.status == 4)
      #expect(refused.errorText.contains("cannot bring the window w5 to the front: not today"))
      #expect(try await peer.begin(.field("w5", "Focus")).refusal() == "Failed")
      stub.state.update { ($0.refusal, $0.obeys) = (nil, false) }
      let ignored = try await desktop.focusctl("focus", "w5")
      // The daemon says it if the bridge is late, too.
      #expect(["did not do so", "did not reply"].contains { ignored.errorText.contains($0) }, "\(ignored)")
      #expect(try await peer.path() == ["w6"])
      // A field outside of all windows has focus, and the window in front is asked for.
      try await peer.register("outside", [], [("focus", .boolean(true))])
      #expect(try await peer.path() == ["outside"])
      #expect(try await desktop.focusctl("focus", "w6").succeeded)
      #expect(try await peer.path() == ["w6"])
      withExtendedLifetime(bridge) {}
    }
  }

  @Test func garbageAndRestartsLoseNothing() async throws {
    try await TestDesktop.with { desktop in
      let (stub, peer) = (Self.stub(desktop), try await desktop.peer())
      let bridge = try await desktop.windowBridge(stub)
      try await peer.reached(["w5"])
      try await peer.subscribe()
      let nonsense = [
        Array("HTTP/1.1 200 OK\r\n\r\n".utf8), Array("i3-ipc".utf8) + [UInt8](repeating: 0xff, count: 8),
        StubManager.frame(4, "{").dropLast(), [UInt8](repeating: 0, count: 1 << 20),
      ]
      var longest = Duration.zero
      for (round, bytes) in nonsense.enumerated() {
        let start = SuspendingClock.now
        stub.send(Array(bytes))
        // What nobody is told of is in the tree.
        stub.state.update { $0.front = round % 2 == 0 ? 6 : 5 }
        stub.breakOff()
        _ = try await stub.state.wait(for: "connection") { $0.connections > round + 1 ? true : nil }
        try await peer.reached([round % 2 == 0 ? "w6" : "w5"])
        longest = max(longest, SuspendingClock.now - start)
      }
      // They were never gone; on a slow machine the window manager is waited for no longer.
      let haveGone = peer.signals.contains { $0.member == "InterfacesRemoved" }
      #expect(!haveGone || longest > .seconds(3))
      for payload in [
        "", "nonsense", "[]", "{}", #"{"change":7,"container":[]}"#, String(repeating: "[", count: 1 << 20),
      ] {
        for type: UInt32 in [0, 3, 6, 77] { stub.event(type, payload) }
        for type: UInt32 in [0, 2 << 10, 99] { stub.send(StubManager.frame(type, payload)) }
      }
      stub.set(5, .init(title: String(repeating: "é", count: 1 << 20), process: 4005))
      stub.focus(5)
      try await peer.reached(["w5"])
      try await eventually("title") { try await peer.read(Peer.title).value?.basicText?.utf8.count == 4096 }
      #expect(bridge.progress.now.exit == nil)
    }
  }

  @Test func manyWindowsComeAndGo() async throws {
    try await TestDesktop.with { desktop in
      let (stub, peer) = (Self.stub(desktop), try await desktop.peer())
      let views = Dictionary(
        uniqueKeysWithValues: (100..<200).map { ($0, StubManager.View(title: "title \($0)", process: $0 + 4000)) })
      stub.state.update { ($0.views, $0.front) = (views, 199) }
      let bridge = try await desktop.windowBridge(stub)
      try await peer.reached(["w199"])
      try await eventually("all windows") { try await peer.fields().count == 100 }
      stub.state.update { ($0.views, $0.front) = ([7: .init(title: "left", process: 9)], 7) }
      stub.event(3, #"{"change":"move","container":{}}"#)
      try await peer.reached(["w7"])
      try await eventually("one window") { try await peer.fields() == ["w7"] }
      withExtendedLifetime(bridge) {}
    }
  }

  @Test func ignoredApplicationsLeaveTheOneBeforeInFront() async throws {
    try await TestDesktop.with { desktop in
      let (stub, peer) = (Self.stub(desktop), try await desktop.peer())
      stub.state.update { $0.views[8] = .init(title: "run", process: 8, application: "Launcher") }
      let bridge = try await desktop.windowBridge(stub, ["--ignore", "launcher", "--ignore", "bar"])
      try await peer.reached(["w5"])
      stub.focus(6)
      stub.focus(8)
      try await peer.reached(["w6"])
      stub.set(6, .init(title: "told after", process: 4006))
      try await eventually("title") { try await peer.read(Peer.title).value == .string("told after") }
      #expect(try await peer.windows() == ["one": "w5", "told after": "w6"])
      withExtendedLifetime(bridge) {}
    }
  }

  @Test func theUsersSettingsAreReadAgain() async throws {
    try await TestDesktop.with { desktop in
      let (stub, peer) = (Self.stub(desktop), try await desktop.peer())
      stub.state.update { $0.views[8] = .init(title: "run", process: 8, application: "Launcher") }
      try desktop.write(settings: "[windows]\nIgnore=launcher\nNope=1\n")
      let bridge = try await desktop.windowBridge(stub)
      try await peer.reached(["w5"])
      stub.focus(8)
      stub.set(5, .init(title: "told after", process: 4005))
      try await eventually("title") { try await peer.windows()["told after"] == "w5" }
      #expect(try await peer.windows()["run"] == nil)
      #expect(bridge.progress.now.errors.count { $0.contains("focusd.conf:3: unknown key 'Nope' in [windows]") } == 1)
      try desktop.write(settings: "")
      bridge.terminate(SIGHUP)
      try await peer.reached(["w8"])
      try desktop.write(settings: "[windows]\nIgnore=launcher\n")
      bridge.terminate(SIGHUP)
      try await eventually("one window less") { try await peer.windows()["run"] == nil }
      withExtendedLifetime(bridge) {}
    }
  }

  /// The parser refuses what the program would.
  @Test(arguments: Session.names + ["xi3"]) func theSettingsKnowTheSources(name: String) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "focusd-\(UUID().uuidString).conf").path()
    try "[windows]\nSource=\(name)\n".write(toFile: path, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let settings = Settings.read(.windows, from: SettingsFile(path: path)) { _ in }
    #expect(settings.value(.source) == (name == "xi3" ? nil : name))
  }

  @Test func anIdThatIsTakenIsNoObstacle() async throws {
    try await TestDesktop.with { desktop in
      let (stub, peer) = (Self.stub(desktop), try await desktop.peer())
      try await peer.register("w5")
      let bridge = try await desktop.windowBridge(stub)
      try await eventually("window") { try await peer.windows()["one"] != nil }
      let id = try #require(try await peer.windows()["one"])
      #expect(id != "w5")
      try await peer.reached([id])
      withExtendedLifetime(bridge) {}
    }
  }
}

import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing
import WindowBridge

/// The bridge between a daemon and Wayland compositors that the test plays.
@Suite struct WaylandTests {
  static let tellingKinds = [FakeCompositor.Kind.plasma, .wlr, .cosmic]

  private static func with(
    _ kinds: [FakeCompositor.Kind] = tellingKinds, piece: Int = 1 << 20,
    _ body: @Sendable (TestDesktop, FakeCompositor, FakeCompositor.Kind, Peer) async throws -> Void
  ) async throws {
    for kind in kinds {
      try await TestDesktop.with { desktop in
        let fake = FakeCompositor(in: desktop.bus.directory, kind)
        fake.state.update { state in
          state.views = [5: .init(title: "one", process: 4005), 6: .init(title: "two", process: 4006)]
          (state.front, state.piece) = (5, piece)
        }
        try await body(desktop, fake, kind, try await desktop.peer())
      }
    }
  }

  @Test(arguments: [1, 7, 1 << 20]) func windowsAreFields(piece: Int) async throws {
    try await Self.with(piece: piece) { desktop, fake, kind, peer in
      let bridge = try await desktop.windowBridge(fake)
      let (one, two) = (try await peer.window("one"), try await peer.window("two"))
      try await peer.reached([one])
      if kind == .plasma { #expect([one, two] == [FakeCompositor.field(5), FakeCompositor.field(6)]) }
      var values: [String: DBusValue] = [
        "org.focusd.Window.Title": .string("one"), "org.focusd.Window.Application": .string("fake"),
      ]
      if kind == .plasma {
        values["org.focusd.Window.ProcessId"] = .uint32(4005)
        values["org.focusd.Window.Workspace"] = .string("Desktop mail")
      }
      #expect(try await peer.readAll() == values)
      let commands = ["Close", "Fullscreen", "Minimize"].map { "org.focusd.Window." + $0 }
      #expect(try await peer.commands().keys.sorted() == commands)
      fake.focus(6)
      try await peer.reached([two])
      fake.set(6, .init(title: "due ü", process: 4006, desktop: "web"))
      try await eventually("title") { try await peer.read(Peer.title).value == .string("due ü") }
      if kind == .plasma {
        try await eventually("workspace") {
          try await peer.read("org.focusd.Window.Workspace").value == .string("Desktop web")
        }
      }
      // No window is in front, what was in front is closed, and another comes.
      fake.focus(nil)
      try await peer.reached([])
      fake.focus(6)
      try await peer.reached([two])
      fake.close(6)
      try await peer.reached([])
      #expect(try await peer.fields() == [one])
      fake.state.update { $0.front = 9 }
      fake.set(9, .init(title: "new", process: 1))
      try await peer.reached([try await peer.window("new")])
      bridge.terminate()
      #expect(try await bridge.finish() == .status(0))
      #expect(try await peer.fields() == [])
    }
  }

  @Test func commandsAndFocusGoToTheCompositor() async throws {
    try await Self.with { desktop, fake, kind, peer in
      let bridge = try await desktop.windowBridge(fake)
      let (one, two) = (try await peer.window("one"), try await peer.window("two"))
      try await peer.reached([one])
      #expect(try await desktop.focusctl("focus", two).succeeded)
      #expect(try await peer.path() == [two])
      for command in ["Fullscreen", "Fullscreen", "Minimize"] {
        _ = try await peer.invoke("org.focusd.Window." + command)
      }
      #expect(try await desktop.focusctl("focus", two).succeeded)
      _ = try await peer.invoke("org.focusd.Window.Close")
      try await peer.reached([])
      var orders = ["activate 6", "fullscreen 6", "leave 6", "minimize 6", "activate 6", "close 6"]
      if kind != .plasma { orders.insert("restore 6", at: 4) }
      #expect(fake.state.now.orders == orders)
      fake.focus(5)
      try await peer.reached([one])
      fake.state.update { $0.obeys = false }
      let silent = peer.begin(.invoke("org.focusd.Window.Minimize", []))
      // The daemon says it if the bridge is late, too.
      #expect(["Failed", "Timeout"].contains(try await silent.refusal()))
      let bridged = peer.begin(.invoke("org.focusd.Window.Fullscreen", []))
      _ = try await fake.state.wait(for: "order") { $0.orders.last == "fullscreen 5" ? true : nil }
      fake.breakOff()
      #expect(try await bridged.refusal() == "Failed")
      withExtendedLifetime(bridge) {}
    }
  }

  @Test func aCompositorThatComesBackHasItsWindowsAgain() async throws {
    try await Self.with { desktop, fake, kind, peer in
      let bridge = try await desktop.windowBridge(fake)
      try await peer.reached([try await peer.window("one")])
      try await peer.subscribe()
      var longest = Duration.zero
      for round in 1...3 {
        let start = SuspendingClock.now
        // What nobody is told of is known after it.
        fake.state.update { $0.front = round % 2 == 0 ? 5 : 6 }
        fake.breakOff()
        _ = try await fake.state.wait(for: "connection") { $0.connections > round ? true : nil }
        try await eventually("the one in front") {
          try await peer.read(Peer.title).value == .string(round % 2 == 0 ? "one" : "two")
        }
        longest = max(longest, SuspendingClock.now - start)
      }
      // Plasma's are the same, and were never gone; on a slow machine it is waited for no longer.
      let haveGone = peer.signals.contains { $0.member == "InterfacesRemoved" }
      #expect(haveGone == (kind != .plasma) || longest > .seconds(3))
      fake.focus(6)
      try await peer.reached([try await peer.window("two")])
      #expect(bridge.progress.now.exit == nil)
    }
  }

  @Test func aPanelLeavesTheWindowBeforeInFront() async throws {
    try await Self.with([.plasma]) { desktop, fake, _, peer in
      let bridge = try await desktop.windowBridge(fake)
      try await peer.reached([FakeCompositor.field(5)])
      fake.set(8, .init(title: "panel", application: "panel", process: 4008))
      fake.focus(8)
      fake.set(5, .init(title: "told after", process: 4005))
      try await eventually("title") { try await peer.read(Peer.title).value == .string("told after") }
      #expect(try await peer.path() == [FakeCompositor.field(5)])
      #expect(try await peer.fields().count == 2)
      withExtendedLifetime(bridge) {}
    }
  }

  @Test func whatAnswersIsFollowed() async throws {
    try await TestDesktop.with { desktop in
      let (both, peer) = (FakeCompositor(in: desktop.bus.directory, .cosmic, .wlr, .plasma), try await desktop.peer())
      both.state.update { ($0.views, $0.front) = ([5: .init(title: "one", process: 4005)], 5) }
      // Plasma's protocol comes first, and a stale variable hides nothing.
      let environment = ["SWAYSOCK": "/nonexistent", "WAYLAND_DISPLAY": both.path, "DISPLAY": ":4711"]
      let bridge = try await desktop.windowBridge([], environment)
      try await peer.reached([FakeCompositor.field(5)])
      try await bridge.stop()
      // sway's socket knows more.
      let stub = StubManager(in: desktop.bus.directory)
      stub.state.update { ($0.views, $0.front) = ([7: .init(title: "sway's", process: 4007)], 7) }
      let second = try await desktop.windowBridge(stub, [], ["WAYLAND_DISPLAY": both.path])
      try await peer.reached(["w7"])
      try await second.stop()
      both.state.update { $0.kinds = [.wlr, .cosmic] }
      let third = try await desktop.windowBridge(both)
      try await peer.reached(["w1"])
      withExtendedLifetime(third) {}
    }
  }

  @Test func oneThatDoesNotTellIsLeft() async throws {
    try await TestDesktop.with { desktop in
      let fake = FakeCompositor(in: desktop.bus.directory, .none)
      let silent = try await desktop.windowBridge([], ["WAYLAND_DISPLAY": fake.path, "DISPLAY": ":4711"])
      #expect(try await silent.finish() == .status(3))
      #expect(silent.progress.now.errors.contains { $0.contains("does not tell other programs which window") })
      // One that never answers is not waited for.
      fake.state.update { $0.unanswered = .max }
      let stub = StubManager(in: desktop.bus.directory)
      let other = try await desktop.windowBridge([], ["WAYLAND_DISPLAY": fake.path, "I3SOCK": stub.path])
      _ = try await stub.state.wait(for: "connection") { $0.connections > 0 ? true : nil }
      withExtendedLifetime(other) {}
    }
  }

  @Test func oneThatAnswersLateIsFollowedIfThereIsNoOther() async throws {
    try await Self.with { desktop, fake, _, peer in
      fake.state.update { $0.unanswered = 1 }
      let bridge = try await desktop.windowBridge(fake)
      try await peer.reached([try await peer.window("one")])
      withExtendedLifetime(bridge) {}
    }
  }

  @Test func withoutProcessesNamesCount() async throws {
    try await Self.with([.wlr]) { desktop, fake, _, peer in
      fake.state.update { ($0.views, $0.front) = ([5: .init(title: "one", application: "sh")], 5) }
      let bridge = try await desktop.windowBridge(fake)
      let script = try #require(Bundle.module.path(forResource: "program", ofType: "py", inDirectory: "Resources"))
      // The name of a shell says nothing.
      let wrapped = "exec 3<&0; \"$0\" -Bu \"$1\" \"$2\" child silent <&3 & wait"
      let shell = try await desktop.start(["/bin/sh", "-c", wrapped, "/usr/bin/python3", script, desktop.bus.address])
      try await shell.line("registered")
      #expect(try await peer.parent(of: "child") == nil)
      fake.set(6, .init(title: "two", application: "Program.py"))
      let two = try await peer.window("two")
      try await eventually("adoption") { try await peer.parent(of: "child") == two }
      // Two windows of one application: in neither.
      fake.set(7, .init(title: "three", application: "program.py"))
      try await eventually("none") { try await peer.parent(of: "child") == nil }
      fake.close(7)
      try await eventually("adoption") { try await peer.parent(of: "child") == two }
      // Two programs of one name.
      let second = try await desktop.start(["/usr/bin/python3", "-Bu", script, desktop.bus.address, "other", "silent"])
      try await second.line("registered")
      try await eventually("none") { try await peer.parent(of: "child") == nil }
      #expect(bridge.progress.now.errors.count { $0.contains("does not tell the processes of windows") } == 1)
      // Who owns the application's name on the bus is meant.
      try await peer.own("org.test.Editor")
      try await peer.register("editor", process: Int(getpid()))
      fake.set(8, .init(title: "four", application: "org.test.Editor"))
      let four = try await peer.window("four")
      try await eventually("adoption") { try await peer.parent(of: "editor") == four }
      withExtendedLifetime((bridge, shell, second)) {}
    }
  }

  /// Of programs of other names than their windows', as LibreOffice is, and of several windows of one name.
  @Test func withoutProcessesTitlesCount() async throws {
    try await Self.with([.wlr]) { desktop, fake, _, peer in
      let views = ["one", "two"].map { FakeCompositor.View(title: $0, application: "office-writer") }
      fake.state.update { ($0.views, $0.front) = ([5: views[0], 6: views[1]], 5) }
      let bridge = try await desktop.windowBridge(fake)
      let (one, two) = (try await peer.window("one"), try await peer.window("two"))
      #expect(try await peer.menus(one) == [:])
      // As the accessibility bridge has a connection for each program.
      let speaker = try await desktop.peer()
      let program = try await desktop.start(["/bin/sleep", "1000"])
      let window = Exported(
        speaker, document(),
        [AdoptionTests.title: .string("two"), AdoptionTests.active: .boolean(true)], at: AdoptionTests.path)
      try await speaker.register("text", process: Int(program.processID))
      try await eventually("adoption") { try await peer.parent(of: "text") == two }
      #expect(try await peer.menus(two) == ["process": .uint32(UInt32(program.processID))])
      await #expect(throws: RemoteError.self) {
        try await peer.get("org.focusd.Window.ProcessId", at: Focus1.field(two))
      }
      fake.close(6)
      window.change(AdoptionTests.title, to: .string("one"))
      try await eventually("adoption") { try await peer.parent(of: "text") == one }
      withExtendedLifetime((bridge, window)) {}
    }
  }

  /// The only window of a program is closed, and opened again by one that has the name, at once too.
  @Test(arguments: [false, true]) func aProgramThatComesBackIsAskedForAnew(isAtOnce: Bool) async throws {
    try await Self.with([.wlr]) { desktop, fake, _, peer in
      let editor = FakeCompositor.View(title: "editor", application: "org.test.Editor")
      fake.state.update { ($0.views, $0.front) = ([5: editor], 5) }
      let bridge = try await desktop.windowBridge(fake)
      try await peer.reached([try await peer.window("editor")])
      if isAtOnce { try await peer.own("org.test.Editor") }
      try await peer.register("editor", process: Int(getpid()))
      let closed = try await peer.window("editor")
      fake.close(5)
      if isAtOnce {
        fake.set(6, editor)
        try await eventually("another window") { try await !peer.fields().contains(closed) }
      } else {
        try await eventually("no window") { try await peer.fields() == ["editor"] }
        #expect(try await peer.parent(of: "editor") == nil)
        try await peer.own("org.test.Editor")
        fake.set(6, editor)
      }
      let window = try await peer.window("editor")
      try await eventually("adoption") { try await peer.parent(of: "editor") == window }
      // The daemon comes back with what it has adopted, and the bus is asked for the name once more.
      try await peer.subscribe()
      try await desktop.crash()
      fake.set(7, .init(title: "another", application: "other"))
      _ = try await peer.window("another")
      #expect(try await peer.parent(of: "editor") == window)
      let parents = peer.signals.values(of: "org.focusd.Focus1.Field.Parent", at: Focus1.field("editor"))
      #expect(parents.allSatisfy { $0?.basicText == Focus1.field(window) }, "\(parents)")
      withExtendedLifetime(bridge) {}
    }
  }

  @Test func aTitleThatCountsIsToldNowAndThen() async throws {
    try await Self.with { desktop, fake, _, peer in
      let bridge = try await desktop.windowBridge(fake)
      try await peer.reached([try await peer.window("one")])
      try await peer.subscribe()
      for number in 1...1500 { fake.set(5, .init(title: "\(number)", process: 4005)) }
      let told = try await peer.signals("the last title") { signals in
        let titles = signals.values(of: Peer.title)
        return titles.last == .string("1500") ? titles : nil
      }
      #expect(told.count < 750, "\(told.count)")
      withExtendedLifetime(bridge) {}
    }
  }
}

import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// Programs with fields of their own in windows of a window manager that the test plays.
@Suite struct AdoptionTests {
  private static func with(
    _ body: @Sendable (TestDesktop, StubManager, Peer) async throws -> Void
  ) async throws {
    try await TestDesktop.with { desktop in
      let stub = StubManager(in: desktop.bus.directory)
      stub.state.update { state in
        for id in 1...4 { state.views[id] = .init(title: "window \(id)", process: 4000 + id) }
        state.front = 1
      }
      try await body(desktop, stub, try await desktop.peer())
    }
  }

  @Test func aFieldIsInTheWindowOfItsProcess() async throws {
    try await Self.with { desktop, stub, peer in
      let (early, late) = (try await desktop.peer(), try await desktop.peer())
      try await early.register("early", process: 4001)
      try await early.focus("early")
      let bridge = try await desktop.windowBridge(stub)
      try await peer.reached(["early", "w1"])
      // Without the option it is the process of the connection: this one.
      try await late.register("late", [], [("focus", .boolean(true))])
      #expect(try await late.parent(of: "late") == nil)
      stub.set(9, .init(title: "mine", process: Int(getpid())))
      stub.focus(9)
      try await peer.reached(["late", "w9"])
      // Several windows of one process: what is in front decides.
      stub.set(10, .init(title: "mine too", process: Int(getpid())))
      stub.focus(10)
      try await peer.reached(["late", "w10"])
      stub.focus(9)
      try await peer.reached(["late", "w9"])
      stub.close(9)
      try await eventually("home") { try await peer.parent(of: "late") == "w10" }
      try await peer.reached([])
      stub.focus(1)
      try await peer.reached(["early", "w1"])
      try await early.leave()
      try await peer.reached(["w1"])
      withExtendedLifetime((bridge, late)) {}
    }
  }

  @Test func aServicesFieldIsInTheServicesWindow() async throws {
    try await Self.with { desktop, stub, peer in
      let bridge = try await desktop.windowBridge(stub)
      let (player, other) = (try await desktop.witness(), try await desktop.peer())
      try await player.own("test.Player")
      guard
        case .uint32(let process)? = try await peer.askBus(
          "GetConnectionUnixProcessID", [.string("test.Player")]
        ).first
      else { throw UnexpectedReply(reply: []) }
      try await other.own("org.focusd.Bridge1.Test")
      for round in 0..<3 {
        try await other.register(
          "player", object: "/peer", [("service", .string("test.Player")), ("interfaces", .strings(["test.Peer"]))])
        stub.set(9 + round, .init(title: "player", process: Int(process)))
        try await eventually("adoption") { try await peer.parent(of: "player") == "w\(9 + round)" }
        stub.focus(9 + round)
        try await other.focus("player")
        try await peer.reached(["player", "w\(9 + round)"])
        stub.close(9 + round)
        try await other.field("player", "Unregister")
      }
      withExtendedLifetime(bridge) {}
    }
  }

  @Test func fieldsOfParentsProcessesCount() async throws {
    try await Self.with { desktop, stub, peer in
      let bridge = try await desktop.windowBridge(stub)
      // The grandparent of a program is the window's process, as a terminal is.
      let register = "exec 3<&0; /usr/bin/python3 -Bu \"$0\" \"$1\" child silent <&3 & wait"
      let script = try #require(Bundle.module.path(forResource: "program", ofType: "py", inDirectory: "Resources"))
      let shell = try await desktop.start(["/bin/sh", "-c", register, script, desktop.bus.address])
      try await shell.line("registered")
      stub.set(9, .init(title: "terminal", process: Int(shell.processID)))
      stub.focus(9)
      try await peer.reached(["child", "w9"])
      // A window of its own is nearer.
      withExtendedLifetime(bridge) {}
    }
  }

  /// A bridge's connection, which speaks for one of several windows of one process.
  @Test func whatAConnectionSaysOfItsWindowCounts() async throws {
    try await Self.with { desktop, stub, peer in
      for (id, title) in [(8, "a"), (9, "b"), (10, "c")] { stub.set(id, .init(title: title, process: 4008)) }
      stub.focus(8)
      let bridge = try await desktop.windowBridge(stub)
      let (speaker, other) = (try await desktop.peer(), try await desktop.peer())
      let told: [String: DBusValue] = [Self.title: .string("b"), Self.active: .boolean(false)]
      let window = Exported(speaker, document(), told, at: Self.path)
      try await speaker.register("speaker", process: 4008)
      try await speaker.focus("speaker")
      try await eventually("by its title") { try await peer.parent(of: "speaker") == "w9" }
      #expect(try await peer.path() == ["w8"])
      // Another connection's word is not this one's, nor are other interfaces'.
      other.perform { $0.emitChanged(Self.path, "org.focusd.Bridge1.Window", [("Title", .string("a"))]) }
      speaker.perform { $0.emitChanged(Self.path, "org.focusd.Bridge1.Other", [("Title", .string("a"))]) }
      window.change(Self.title, to: .string("c"))
      try await eventually("by its new title") { try await peer.parent(of: "speaker") == "w10" }
      window.change(Self.title, to: .string("none"))
      // Neither the program alone nor the window manager alone tells which window it is.
      stub.focus(9)
      try await peer.reached(["w9"])
      window.change(Self.active, to: .boolean(true))
      try await peer.reached(["speaker", "w9"])
      stub.focus(8)
      try await peer.reached(["w8"])
      #expect(try await peer.parent(of: "speaker") == "w9")
      withExtendedLifetime((bridge, speaker, other)) {}
    }
  }

  /// It may be held up when the window bridge asks it first, and have no reason to say anything later.
  @Test func aConnectionThatAnswersLateIsAskedAgain() async throws {
    try await Self.with { desktop, stub, peer in
      for (id, title) in [(8, "one"), (9, "two")] { stub.set(id, .init(title: title, process: 4008)) }
      stub.focus(9)
      let bridge = try await desktop.windowBridge(stub)
      let late = try await desktop.peer()
      let told: [String: DBusValue] = [Self.title: .string("one"), Self.active: .boolean(false)]
      let window = Exported(late, document(), told, at: Self.path)
      let wasInBoth = Observed(false)
      window.rule("GetAll") { _, _, _ in wasInBoth.now ? nil : .hold }
      try await late.register("late", process: 4008)
      try await eventually("in both") { try await peer.parent(of: "late") == "w9" }
      wasInBoth.update { $0 = true }
      try await eventually("in its own") { try await peer.parent(of: "late") == "w8" }
      withExtendedLifetime(bridge) {}
    }
  }

  /// A window's process may be known later than what the program says of it.
  @Test func whatAProgramSaysCountsOnceItsWindowIsKnown() async throws {
    try await Self.with { desktop, stub, peer in
      stub.set(8, .init(title: "both", process: 4008))
      stub.set(9, .init(title: "both", process: 4009))
      stub.focus(9)
      let bridge = try await desktop.windowBridge(stub)
      let (speaker, silent) = (try await desktop.peer(), try await desktop.peer())
      let told: [String: DBusValue] = [Self.title: .string("both"), Self.active: .boolean(true)]
      let window = Exported(speaker, document(), told, at: Self.path)
      try await speaker.register("speaker", process: 4008)
      try await speaker.focus("speaker")
      try await eventually("in the one that is known") { try await peer.parent(of: "speaker") == "w8" }
      // It is waited for longer than for the program's next word.
      let question = Exported(silent, document(), at: Self.path)
      question.rule("GetAll") { _, _, _ in .hold }
      stub.set(10, .init(title: "silent", process: 4008))
      try await silent.register("silent", process: 4008)
      try await eventually("not waited for any more") { try await peer.parent(of: "silent") != nil }
      stub.set(9, .init(title: "both", process: 4008))
      try await peer.reached(["speaker", "w9"])
      withExtendedLifetime((bridge, window)) {}
    }
  }

  static let path = "/org/focusd/Bridge1/Window"
  static let title = "org.focusd.Bridge1.Window.Title"
  static let active = "org.focusd.Bridge1.Window.Active"

  /// Until it has said which window of several it speaks for, a connection is in none; it may say so late.
  @Test func aConnectionThatDoesNotAnswerIsInAllWindowsInTheEnd() async throws {
    try await Self.with { desktop, stub, peer in
      for id in [8, 9] { stub.set(id, .init(title: "both", process: 4008)) }
      stub.focus(8)
      let bridge = try await desktop.windowBridge(stub)
      let silent = try await desktop.peer()
      let window = Exported(silent, document(), at: Self.path)
      window.rule("GetAll") { _, _, _ in .hold }
      let start = SuspendingClock.now
      try await silent.register("silent", process: 4008)
      _ = try await window.state.wait(for: "the question") { $0.calls.isEmpty ? nil : true }
      let parent = try await peer.parent(of: "silent")
      // It is waited for for a second.
      #expect(parent == nil || SuspendingClock.now - start > .milliseconds(900))
      try await eventually("adopted") { try await peer.parent(of: "silent") == "w8" }
      stub.focus(9)
      try await eventually("adopted by the other") { try await peer.parent(of: "silent") == "w9" }
      // It knows its window after all.
      stub.set(8, .init(title: "one", process: 4008))
      window.change(Self.title, to: .string("one"))
      try await eventually("adopted by its own") { try await peer.parent(of: "silent") == "w8" }
      withExtendedLifetime((bridge, silent)) {}
    }
  }

  /// Stands in for the accessibility bridge: a connection of its own for each application.
  @Test func whicheverOfTwoBridgesComesOrGoesFirst() async throws {
    try await Self.with { desktop, stub, peer in
      for first in ["windows", "elements"] {
        var elements: Peer?
        var bridge: ManagedProcess?
        func begin(_ name: String) async throws {
          if name == "windows" {
            bridge = try await desktop.windowBridge(stub)
          } else {
            let new = try await desktop.peer()
            try await new.register("button", process: 4002)
            try await new.focus("button")
            elements = new
          }
        }
        for order in [["windows", "elements"], ["elements", "windows"]] where order[0] == first {
          stub.focus(1)
          for name in order { try await begin(name) }
          try await peer.reached(["w1"])
          stub.focus(2)
          try await peer.reached(["button", "w2"])
          stub.focus(3)
          try await peer.reached(["w3"])
          // The window bridge dies: what has focus in an application keeps it.
          stub.focus(2)
          try await peer.reached(["button", "w2"])
          try await bridge?.stop()
          try await peer.reached(["button"])
          bridge = try await desktop.windowBridge(stub)
          try await peer.reached(["button", "w2"])
          stub.focus(nil)
          try await peer.reached([])
          stub.focus(2)
          try await peer.reached(["button", "w2"])
          // The other dies.
          try await elements?.leave()
          try await peer.reached(["w2"])
          try await begin("elements")
          try await peer.reached(["button", "w2"])
          try await bridge?.stop()
          try await elements?.leave()
          try await peer.reached([])
        }
      }
    }
  }

  @Test func theDaemonsAndTheBridgesDeathChangeNothing() async throws {
    try await Self.with { desktop, stub, peer in
      let program = try await desktop.peer()
      try await program.register("form", process: 4002)
      try await program.focus("form")
      var bridge = try await desktop.windowBridge(stub)
      stub.focus(2)
      try await peer.reached(["form", "w2"])
      try await desktop.crash()
      try await peer.reached(["form", "w2"])
      // What happens while the daemon is away: another is in front, one closes, one opens.
      for (round, front) in [(0, 1), (1, nil), (2, 20), (3, 2)] as [(Int, Int?)] {
        try await desktop.kill()
        stub.close(3 + round)
        stub.set(20 + round, .init(title: "new \(round)", process: 4020 + round))
        stub.focus(front)
        try await desktop.start()
        try await peer.reached(front == 2 ? ["form", "w2"] : front.map { ["w\($0)"] } ?? [])
        try await eventually("the windows that are there") {
          try await peer.fields().sorted() == (["form"] + stub.state.now.views.keys.map { "w\($0)" }).sorted()
        }
      }
      try await bridge.stop()
      try await peer.reached(["form"])
      bridge = try await desktop.windowBridge(stub)
      try await peer.reached(["form", "w2"])
      // Both at once.
      try await desktop.kill()
      try await bridge.stop()
      stub.focus(1)
      try await desktop.start()
      bridge = try await desktop.windowBridge(stub)
      try await peer.reached(["w1"])
      stub.focus(2)
      try await peer.reached(["form", "w2"])
      // A second one waits for the first to end.
      let command = [Products.windowBridge, "--verbose", "--address", desktop.bus.address]
      let second = try await desktop.start(command, extra: ["SWAYSOCK": stub.path])
      try await second.says("another program owns org.focusd.Bridge1.Windows")
      #expect(try await peer.path() == ["form", "w2"])
      try await bridge.stop()
      try await second.says("serving as")
      try await peer.reached(["form", "w2"])
      stub.focus(1)
      try await peer.reached(["w1"])
      withExtendedLifetime(second) {}
    }
  }

  /// What has focus outside of all windows keeps it, unless another window comes to the front.
  @Test func focusInNoWindowOutlivesTheDaemon() async throws {
    try await Self.with { desktop, stub, peer in
      let bridge = try await desktop.windowBridge(stub)
      stub.focus(2)
      try await peer.reached(["w2"])
      let registered = try await desktop.focusctl("register", "note", "demo.Form.Number=1", "--focus")
      #expect(registered.status == 0, "\(registered)")
      try await peer.reached(["note"])
      for signal in [SIGKILL, SIGTERM] {
        try await desktop.end(signal)
        try await desktop.start()
        // A window that opens behind is told when the bridge has all of its windows again.
        stub.set(30 + stub.state.now.views.count, .init(title: "behind", process: 4030))
        try await eventually("the windows are back") {
          try await peer.fields().sorted() == (["note"] + stub.state.now.views.keys.map { "w\($0)" }).sorted()
        }
        #expect(try await peer.path() == ["note"])
      }
      try await desktop.kill()
      stub.focus(1)
      try await desktop.start()
      try await peer.reached(["w1"])
      try await bridge.stop()
    }
  }

  /// A key that comes or goes is told as an interface, and does not make the field another.
  @Test func aFieldThatGetsOrLosesAnInterfaceStaysInItsWindow() async throws {
    try await Self.with { desktop, stub, peer in
      let program = try await desktop.peer()
      try await program.register("form", process: 4001)
      let bridge = try await desktop.windowBridge(stub)
      try await eventually("adopted") { try await peer.parent(of: "form") == "w1" }
      try await program.call(
        .field("form", "Publish", [.properties([("demo.Other.Key", .int32(1))]), .properties([])]))
      try await program.call(.field("form", "Withdraw", [.strings(["demo.Other.Key"])]))
      // What the bridge makes of these is done when it has handled a later field.
      let later = try await desktop.peer()
      try await later.register("later", process: 4002)
      try await eventually("the later one") { try await peer.parent(of: "later") == "w2" }
      #expect(try await peer.parent(of: "form") == "w1")
      withExtendedLifetime((bridge, program, later)) {}
    }
  }

  /// 200 switches, with what programs say about their focus before, after, or never.
  @Test func switchesEndRightWhateverComesFirst() async throws {
    try await Self.with { desktop, stub, peer in
      let bridge = try await desktop.windowBridge(stub)
      let (polite, silent, claimed) = (try await desktop.peer(), try await desktop.peer(), try await desktop.peer())
      for (program, id, window) in [(polite, "polite", 1), (silent, "silent", 2), (claimed, "claimed", 3)] {
        try await program.register(id, process: 4000 + window)
        stub.focus(window)
        try await program.focus(id)
        try await peer.reached([id, "w\(window)"])
      }
      let inner = [1: "polite", 2: "silent", 3: "claimed"]
      var (front, random) = (3, SystemRandomNumberGenerator())
      for round in 0..<200 {
        let next = [1, 2, 3, 4].filter { $0 != front }.randomElement(using: &random) ?? 1
        var steps: [() -> Peer.Pending?] = [
          {
            stub.focus(next)
            return nil
          }
        ]
        for (number, program) in [(1, polite), (3, claimed)] {
          if next == number { steps.append { program.begin(.field(inner[number] ?? "", "Focus")) } }
          if front == number, Bool.random(using: &random) {
            steps.append { program.begin(.field(inner[number] ?? "", "Blur")) }
          }
        }
        let pending = steps.shuffled(using: &random).compactMap { $0() }
        for call in pending { try await call.values() }
        let expected = [inner[next], "w\(next)"].compactMap(\.self)
        try await eventually("window in front") { try await peer.path().last == "w\(next)" }
        let path = try await peer.path()
        // Who blurs a field and is not asked again has none in the window.
        #expect(path == expected, "round \(round), from \(front) to \(next)")
        front = next
      }
      withExtendedLifetime((bridge, polite, silent, claimed)) {}
    }
  }
}

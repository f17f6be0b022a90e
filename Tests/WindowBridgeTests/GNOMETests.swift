import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// The bridge and an extension of GNOME Shell that the test plays.
@Suite struct GNOMETests {
  /// A script that owns the extension's name, and a connection that tells it what to do.
  private struct Shell: Sendable {
    static let name = "org.focusd.GNOMEShell1"

    let process: ManagedProcess
    let peer: Peer

    /// After so many `refusals` it answers by itself with one window, w5; if nil, when it is told to.
    init(_ desktop: TestDesktop, refusals: Int? = nil) async throws {
      let script = try #require(Bundle.module.path(forResource: "extension", ofType: "py", inDirectory: "Resources"))
      process = try await desktop.script(script, refusals.map { "\($0)" } ?? "")
      peer = try await desktop.peer()
    }

    @discardableResult
    func tell(_ member: String, _ arguments: DBusValue...) async throws -> [DBusValue] {
      try await peer.call(DaemonCall(to: Self.name, "/test", "test.Shell", member, arguments))
    }

    /// How often it was asked to tell of its windows.
    func follows() async throws -> Int {
      guard case .int32(let count)? = try await tell("Follows").first else { return 0 }
      return Int(count)
    }

    func orders() async throws -> [String] {
      guard case .array(let orders)? = try await tell("Orders").first else { return [] }
      return orders.compactMap(\.basicText)
    }
  }

  private static func window(
    _ id: UInt64, _ title: String, _ facts: [(name: String, value: DBusValue)] = []
  ) -> DBusValue { .structure([.uint64(id), .properties([("title", .string(title))] + facts)]) }

  private static func list(_ windows: DBusValue...) -> DBusValue {
    let type: DBusType = .structure([.uint64, .dictionary(key: .string, value: .variant)])
    return .array(DBusArray(known: type, windows))
  }

  private static let facts: [(name: String, value: DBusValue)] = [
    ("application", .string("org.gnome.TextEditor")), ("pid", .uint32(4005)), ("workspace", .string("Mail")),
    ("gtk-unique-bus-name", .string(":1.5")), ("gtk-window-object-path", .string("/org/gnome/TextEditor/window/1")),
    ("gtk-menubar-object-path", .string("no path")), ("fullscreen", .boolean(true)), ("later", .string("unknown")),
  ]

  private static func with(_ body: @Sendable (TestDesktop, Shell, Peer) async throws -> Void) async throws {
    try await TestDesktop.with { desktop in
      let shell = try await Shell(desktop)
      try await shell.tell(
        "Answer", .uint32(1), list(window(5, "one", facts), window(6, "two")), .uint64(5))
      try await body(desktop, shell, try await desktop.peer())
      withExtendedLifetime(shell) {}
    }
  }

  private static func onX11(_ body: @Sendable (TestDesktop) async throws -> Void) async throws {
    try await TestDesktop.with { desktop in
      try await desktop.display()
      let manager = try await desktop.windowManager()
      try await body(desktop)
      withExtendedLifetime(manager) {}
    }
  }

  @Test func windowsAreFieldsAndOrdersReachTheShell() async throws {
    try await Self.with { desktop, shell, peer in
      let bridge = try await desktop.windowBridge()
      try await peer.reached(["w5"])
      for (key, value) in [
        ("Title", DBusValue.string("one")), ("Application", .string("org.gnome.TextEditor")),
        ("ProcessId", .uint32(4005)), ("Workspace", .string("Mail")),
      ] {
        #expect(try await peer.get("org.focusd.Window.\(key)") == value)
      }
      #expect(
        try await peer.menus("w5") == [
          "gtk-unique-bus-name": .string(":1.5"),
          "gtk-window-object-path": .objectPath(ObjectPath(known: "/org/gnome/TextEditor/window/1")),
        ])
      _ = try await peer.invoke("org.focusd.Window.Minimize")
      _ = try await peer.invoke("org.focusd.Window.Close")
      async let raised = desktop.focusctl("focus", "w6")
      try await eventually("orders") {
        try await shell.orders() == ["Perform 5 Minimize", "Perform 5 Close", "Activate 6"]
      }
      try await peer.reached(["w6"])
      #expect(try await raised.succeeded)
      #expect(try await refusal { try await peer.invoke("org.focusd.Window.Fullscreen") } == "Failed")
      try await shell.tell("Window", .uint64(6), .properties([("title", .string("three"))]))
      _ = try await peer.window("three")
      try await shell.tell("Gone", .uint64(6))
      try await peer.reached([])
      #expect(try await peer.fields() == ["w5"])
      withExtendedLifetime(bridge) {}
    }
  }

  /// GNOME's Files has its connection to the shell from the shell, whose process is then said to be that of its windows.
  @Test func theProcessOfTheShellIsThatOfNoWindow() async throws {
    try await Self.with { desktop, shell, peer in
      let (process, program) = (DBusValue.uint32(UInt32(shell.process.processID)), try await desktop.peer())
      let files: [(name: String, value: DBusValue)] = [
        ("pid", process), ("gtk-unique-bus-name", .string(program.name)),
      ]
      try await shell.tell(
        "Answer", .uint32(1), Self.list(Self.window(5, "one", files), Self.window(6, "two", [("pid", process)])),
        .uint64(5))
      let bridge = try await desktop.windowBridge()
      try await peer.reached(["w5"])
      let own = DBusValue.uint32(UInt32(getpid()))
      #expect(try await peer.get("org.focusd.Window.ProcessId") == own)
      try await shell.tell("Front", .uint64(6))
      try await peer.reached(["w6"])
      #expect(try await refusal { try await peer.get("org.focusd.Window.ProcessId") } == "NotFocused")
      // A window that comes later, of a program that is known.
      try await shell.tell("Window", .uint64(7), .properties(files + [("title", .string("three"))]))
      try await shell.tell("Front", .uint64(7))
      try await peer.reached(["w7"])
      #expect(try await peer.get("org.focusd.Window.ProcessId") == own)
      // Its dialogs have no name of their own.
      try await program.own("org.example.Files")
      let dialog: [(name: String, value: DBusValue)] = [
        ("pid", process), ("application", .string("org.example.Files")),
      ]
      for number: UInt64 in 8...9 {
        try await shell.tell("Window", .uint64(number), .properties(dialog + [("title", .string("Properties"))]))
        try await shell.tell("Front", .uint64(number))
        try await peer.reached(["w\(number)"])
        #expect(try await peer.get("org.focusd.Window.ProcessId") == own)
      }
      withExtendedLifetime((bridge, program)) {}
    }
  }

  @Test func whatIsNoneOfTheInterfaceChangesNothing() async throws {
    try await Self.with { desktop, shell, peer in
      let bridge = try await desktop.windowBridge()
      try await peer.reached(["w5"])
      try await shell.tell("Front", .string("6"))
      try await shell.tell("Front")
      try await shell.tell("Front", .uint64(99))
      try await shell.tell("Window", .uint64(0), .properties([]))
      try await shell.tell("Window", .uint64(7), .strings(["title"]))
      try await shell.tell("Unknown", .uint64(5))
      try await shell.tell("Gone", .uint64(99))
      try await shell.tell("Window", .uint64(8), .properties([("title", .uint32(1)), ("pid", .string("x"))]))
      let title = String(repeating: "ä", count: 100_000)
      try await shell.tell("Window", .uint64(6), .properties([("title", .string(title))]))
      try await shell.tell("Front", .uint64(6))
      try await peer.reached(["w6"])
      try await eventually("cut title") {
        try await peer.get(Peer.title) == .string(String(repeating: "ä", count: 2048))
      }
      // The window that came before is a field when its object has been looked at.
      try await eventually("fields") { try await peer.fields() == ["w5", "w6", "w8"] }
      withExtendedLifetime(bridge) {}
    }
  }

  @Test func aFloodOfTitlesEndsWithTheLast() async throws {
    try await Self.with { desktop, shell, peer in
      let bridge = try await desktop.windowBridge()
      try await peer.reached(["w5"])
      for number in 1...1500 {
        shell.peer.begin(
          DaemonCall(
            to: Shell.name, "/test", "test.Shell", "Window",
            [.uint64(5), .properties([("title", .string("\(number)"))])]))
      }
      for number in 1000..<2100 {
        shell.peer.begin(
          DaemonCall(to: Shell.name, "/test", "test.Shell", "Window", [.uint64(UInt64(number)), .properties([])]))
      }
      try await shell.tell("Front", .uint64(6))
      try await peer.reached(["w6"])
      #expect(try await peer.windows()["1500"] == "w5")
      #expect(try await peer.fields().count <= 1024)
      withExtendedLifetime(bridge) {}
    }
  }

  private static let mismatch = "GNOME's extension is not the one that belongs to this version of focusd-windows"

  @Test func anExtensionOfAnotherVersionIsNamedWithWhatToDo() async throws {
    let answers: [[DBusValue]?] = [
      [.uint32(2), Self.list(), .uint64(0)], [.string("1"), Self.list(), .uint64(0)], [.uint32(1), Self.list()],
      [.uint32(1), .strings(["one"]), .uint64(0)], [], nil,
    ]
    for answer in answers {
      try await TestDesktop.with { desktop in
        let shell = try await Shell(desktop)
        if let answer {
          try await shell.peer.call(DaemonCall(to: Shell.name, "/test", "test.Shell", "Answer", answer))
        }
        let bridge = try await desktop.start([Products.windowBridge, "--verbose", "--address", desktop.bus.address])
        #expect(try await bridge.finish() == .status(1), "\(String(describing: answer))")
        #expect(bridge.progress.now.errors.contains { $0.contains(Self.mismatch) }, "\(bridge.progress.now.errors)")
        withExtendedLifetime(shell) {}
      }
    }
  }

  @Test func aServiceSaysOnceThatTheExtensionIsAnother() async throws {
    try await TestDesktop.with { desktop in
      let (shell, peer) = (try await Shell(desktop, refusals: 5), try await desktop.peer())
      let bridge = try await desktop.windowBridge([], ["NOTIFY_SOCKET": desktop.bus.directory + "/nobody"])
      // It is tried again for some time, and then follows.
      try await peer.reached(["w5"])
      let said = bridge.progress.now.errors.filter { $0.contains("Waiting for a desktop: " + Self.mismatch) }
      // Once more if an attempt takes a second.
      let attempts = try await shell.follows()
      #expect(!said.isEmpty && said.count < attempts - 1, "\(said)")
      withExtendedLifetime(shell) {}
    }
  }

  /// The attempts at the start are over by then.
  @Test func anExtensionThatComesLateIsTriedForSomeTime() async throws {
    try await TestDesktop.with { desktop in
      let fake = FakeCompositor(in: desktop.bus.directory, .none)
      // Without a directory it watches, nothing else has it look.
      let service = [
        "NOTIFY_SOCKET": desktop.bus.directory + "/nobody", "WAYLAND_DISPLAY": fake.path, "XDG_RUNTIME_DIR": "",
      ]
      let bridge = try await desktop.windowBridge(["--source", "gnome"], service)
      // Each look, the first and seven later ones, asks whether anybody listens there.
      _ = try await fake.state.wait(for: "the last look") { $0.connections >= 8 ? true : nil }
      let (shell, peer) = (try await Shell(desktop, refusals: 2), try await desktop.peer())
      try await peer.reached(["w5"])
      withExtendedLifetime((bridge, shell)) {}
    }
  }

  /// The bridge knows of the display at once, and of the extension when the bus has told.
  @Test(.enabled(if: X11Programs.canRun, "needs Xvfb and openbox: .ci/setup test"))
  func theExtensionIsFollowedRatherThanItsDisplay() async throws {
    try await Self.onX11 { desktop in
      let bridge = try await desktop.windowBridge([], ["NOTIFY_SOCKET": desktop.bus.directory + "/nobody"])
      try await bridge.says("Following x11")
      let (shell, peer) = (try await Shell(desktop, refusals: 0), try await desktop.peer())
      try await bridge.says("Following gnome")
      try await peer.reached(["w5"])
      try await shell.process.stop()
      try await eventually("the display again") {
        bridge.progress.now.errors.filter { $0.contains("Following x11") }.count == 2
      }
      withExtendedLifetime(shell) {}
    }
  }

  /// After an update, the shell has the old one until the next login.
  @Test(.enabled(if: X11Programs.canRun, "needs Xvfb and openbox: .ci/setup test"))
  func anExtensionOfAnotherVersionLeavesTheDisplay() async throws {
    try await Self.onX11 { desktop in
      let shell = try await Shell(desktop)
      try await shell.tell("Answer", .uint32(2), Self.list(), .uint64(0))
      let bridge = try await desktop.windowBridge([], ["NOTIFY_SOCKET": desktop.bus.directory + "/nobody"])
      try await eventually("an attempt") { try await shell.follows() > 0 }
      try await bridge.says("Following x11")
      // Whatever else has it look: the directory of the bus is watched.
      let before = try await shell.follows()
      for number in 1...3 { _ = LocalListener(desktop.bus.directory + "/sway-ipc.0.\(number).sock") }
      let terminal = try await desktop.start(["/usr/bin/xterm", "-T", "on X11", "-e", "/bin/sleep", "1000"])
      _ = try await desktop.peer().window("on X11")
      #expect(try await shell.follows() == before)
      withExtendedLifetime((shell, bridge, terminal)) {}
    }
  }

  @Test func titlesOfMegabytesCostAConnectionAndNoMemory() async throws {
    try await Self.with { desktop, shell, peer in
      let bridge = try await desktop.windowBridge([], ["NOTIFY_SOCKET": desktop.bus.directory + "/nobody"])
      try await peer.reached(["w5"])
      let title = DBusValue.properties([("title", .string(String(repeating: "x", count: 10 << 20)))])
      for round in 2...4 {
        try await shell.tell("Window", .uint64(6), title)
        try await eventually("connection \(round)") {
          let follows = try await shell.follows()
          return follows >= round
        }
      }
      try await peer.reached(["w5"])
      #expect(isSanitized || bridge.peakMemory < 48 << 10, "\(bridge.peakMemory)")
    }
  }

  /// As a service it waits for the shell to come back.
  @Test func aShellThatVanishesIsFollowedAgain() async throws {
    try await Self.with { desktop, shell, peer in
      let bridge = try await desktop.windowBridge([], ["NOTIFY_SOCKET": desktop.bus.directory + "/nobody"])
      try await peer.reached(["w5"])
      try await shell.process.stop()
      try await eventually("windows are gone") { try await peer.fields() == [] }
      // Its name comes before it answers.
      let next = try await Shell(desktop, refusals: 1)
      try await peer.reached(["w5"])
      withExtendedLifetime((bridge, next)) {}
    }
  }
}

import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// Real window managers and programs on an X server of the test's own.
@Suite(.serialized, .enabled(if: X11Programs.canRun, "needs Xvfb, i3, openbox, xterm and xdotool: .ci/setup test"))
struct X11Tests {
  enum Manager: String, CaseIterable { case i3, openbox }

  private static func with(
    _ manager: Manager, _ body: @Sendable (TestDesktop, ManagedProcess, Peer) async throws -> Void
  ) async throws {
    try await TestDesktop.with { desktop in
      try await desktop.display()
      let configuration = desktop.bus.directory + "/i3.conf"
      let text = "font fixed\nworkspace_layout tabbed\nipc-socket \(desktop.bus.directory)/i3.sock\n"
      try text.write(toFile: configuration, atomically: false, encoding: .utf8)
      let process =
        try await manager == .i3
        ? desktop.windowManager(["/usr/bin/i3", "-c", configuration]) : desktop.windowManager()
      let bridge = try await desktop.windowBridge()
      let result: Void = try await body(desktop, bridge, try await desktop.peer())
      bridge.terminate()
      #expect(try await bridge.finish() != .status(1))
      try await process.stop()
      return result
    }
  }

  /// Opens a terminal with a program in it, and waits until that has begun: xterm ends with its program alone, which
  /// ignores being told to end before.
  private static func terminal(
    _ desktop: TestDesktop, _ title: String, _ command: [String] = ["/bin/sleep", "1000"]
  ) async throws -> ManagedProcess {
    let mark = desktop.bus.directory + "/begun-\(UInt32.random(in: 0 ... .max))"
    let begin = ["/bin/sh", "-c", ": > \"$0\"; exec \"$@\"", mark]
    let terminal = try await desktop.start(["/usr/bin/xterm", "-T", title, "-e"] + begin + command)
    try await eventually("the program in '\(title)'") { access(mark, F_OK) == 0 }
    return terminal
  }

  private static func program(_ desktop: TestDesktop, _ name: String, _ manner: String) async throws -> ManagedProcess {
    let script = try #require(Bundle.module.path(forResource: "program", ofType: "py", inDirectory: "Resources"))
    return try await terminal(desktop, name, ["/usr/bin/python3", "-Bu", script, desktop.bus.address, name, manner])
  }

  private static func activate(_ desktop: TestDesktop, _ window: String) async throws {
    let result = try await desktop.run(["/usr/bin/xdotool", "windowactivate", String(window.dropFirst())])
    #expect(result.succeeded, "\(result)")
  }

  /// Qt 5 looks for it there, and the bus's launcher, if there was no display when it was started, does not say so.
  @Test func theRootWindowSaysWhereTheAccessibilityBusIs() async throws {
    try await Self.with(.openbox) { desktop, bridge, peer in
      func expect(_ told: String) async throws {
        try await eventually(told) {
          let shown = try await desktop.run(["/usr/bin/xprop", "-root", "AT_SPI_BUS"])
          return shown.output == [told]
        }
      }
      let nothing = "AT_SPI_BUS:  not found."
      func launcher(_ address: String) async throws -> Peer {
        let launcher = try await desktop.peer()
        launcher.answer(at: "/org/a11y/bus") { _, _ in .values([.string(address)]) }
        try await launcher.own("org.a11y.Bus")
        return launcher
      }
      try await expect(nothing)
      for address in ["unix:path=/run/a11y/bus_1,guid=1", "unix:path=/run/a11y/bus_2,guid=2"] {
        let launcher = try await launcher(address)
        try await expect("AT_SPI_BUS(STRING) = \"\(address)\"")
        try await launcher.leave()
        try await expect(nothing)
      }
      // Whoever has the name says what it likes.
      for nonsense in ["", "a\nb", String(repeating: "x", count: 18 << 20)] {
        try await launcher(nonsense).leave()
        // The bus first reads, 2 KiB a turn, what is in the socket, and lets others act meanwhile.
        try await peer.waitForDeparture(of: "org.a11y.Bus")
      }
      let last = try await launcher("unix:path=/last")
      try await expect("AT_SPI_BUS(STRING) = \"unix:path=/last\"")
      bridge.terminate()
      #expect(try await bridge.finish() == .status(0))
      try await expect(nothing)
      withExtendedLifetime(last) {}
    }
  }

  /// The addresses lead to the program's own actions.
  @Test func whereAProgramOfGTKHasItsActions() async throws {
    try await Self.with(.openbox) { desktop, _, peer in
      let script = try #require(Bundle.module.path(forResource: "actions", ofType: "py", inDirectory: "Resources"))
      let program = try await desktop.start(
        ["/usr/bin/python3", "-Bu", script], extra: ["DBUS_SESSION_BUS_ADDRESS": desktop.bus.address])
      let window = try await peer.window("actions")
      try await peer.hasActions(window)
      #expect(try await refusal { try await peer.menus("w1") } == "UnknownObject")
      withExtendedLifetime(program) {}
    }
  }

  @Test(arguments: Manager.allCases) func twoHundredSwitches(_ manager: Manager) async throws {
    try await Self.with(manager) { desktop, bridge, peer in
      var (programs, targets): ([ManagedProcess], [Target]) = ([], [])
      for manner in ["polite", "silent", "late"] {
        programs.append(try await Self.program(desktop, manner, manner))
        let window = try await peer.window(manner)
        try await peer.reached([manner, window])
        targets.append(Target(window: window, field: manner, reports: manner != "silent"))
      }
      programs.append(try await Self.terminal(desktop, "terminal"))
      targets.append(Target(window: try await peer.window("terminal")))
      // Stands in for the accessibility bridge: a connection of its own that says whose field it has.
      let terminal = try await Self.terminal(desktop, "controls")
      let controls = try await desktop.peer()
      try await controls.register("button", process: Int(terminal.processID))
      targets.append(Target(window: try await peer.window("controls"), field: "button"))
      try await peer.reached([try await peer.window("controls")])
      try await controls.focus("button")
      try await peer.reached(targets[4].path)
      try await switchTimes(200, targets, peer) { try await Self.activate(desktop, $0.window) }
      withExtendedLifetime((programs, terminal, controls, bridge)) {}
    }
  }

  @Test(arguments: Manager.allCases) func titlesCommandsAndRequests(_ manager: Manager) async throws {
    try await Self.with(manager) { desktop, _, peer in
      let one = try await Self.terminal(desktop, "one")
      var windows = [try await peer.window("one")]
      try await peer.reached(windows)
      let two = try await Self.terminal(desktop, "two ünï")
      windows.append(try await peer.window("two ünï"))
      try await peer.reached([windows[1]])
      #expect(try await desktop.focusctl("focus", windows[0]).succeeded)
      #expect(try await peer.path() == [windows[0]])
      #expect(try await desktop.focusctl("focus", windows[1]).succeeded)
      #expect(try await peer.get("org.focusd.Window.ProcessId") == .uint32(UInt32(two.processID)))
      #expect(try await peer.get("org.focusd.Window.Application") == .string("XTerm"))
      let commands = ["Close", manager == .i3 ? "Float" : "Minimize", "Fullscreen"].map { "org.focusd.Window." + $0 }
      #expect(try await peer.commands().keys.sorted() == commands.sorted())
      let rename = try await desktop.run(
        ["/usr/bin/xdotool", "set_window", "--name", "due", String(windows[1].dropFirst())])
      #expect(rename.succeeded)
      try await eventually("title") { try await peer.read(Peer.title).value == .string("due") }
      _ = try await peer.invoke("org.focusd.Window.Fullscreen")
      if manager == .i3 {
        _ = try await peer.invoke("org.focusd.Window.Float")
      } else {
        _ = try await peer.invoke("org.focusd.Window.Minimize")
        try await peer.reached([windows[0]])
        #expect(try await desktop.focusctl("focus", windows[1]).succeeded)
      }
      _ = try await peer.invoke("org.focusd.Window.Close")
      try await two.finish()
      try await peer.reached([windows[0]])
      #expect(try await peer.fields() == [windows[0]])
      withExtendedLifetime(one) {}
    }
  }

  @Test(arguments: Manager.allCases) func aWindowOfAnotherWorkspaceComesToTheFront(_ manager: Manager) async throws {
    try await Self.with(manager) { desktop, _, peer in
      func tool(_ arguments: String...) async throws -> [String] {
        let result = try await desktop.run(["/usr/bin/xdotool"] + arguments)
        #expect(result.succeeded, "\(result)")
        return result.output
      }
      let one = try await Self.terminal(desktop, "one")
      let window = try await peer.window("one")
      try await peer.reached([window])
      if manager == .openbox { _ = try await tool("set_num_desktops", "2") }
      let before = try await tool("get_desktop")
      if manager == .i3 {
        let socket = desktop.bus.directory + "/i3.sock"
        #expect(try await desktop.run(["/usr/bin/i3-msg", "-s", socket, "workspace 2"]).succeeded)
      } else {
        _ = try await tool("set_desktop", "1")
      }
      let two = try await Self.terminal(desktop, "two")
      try await peer.reached([try await peer.window("two")])
      #expect(try await tool("get_desktop") != before)
      let focus = try await desktop.focusctl("focus", window)
      #expect(focus.succeeded, "\(focus)")
      #expect(try await tool("get_desktop") == before)
      #expect(try await tool("getactivewindow") == [String(window.dropFirst())])
      #expect(try await peer.path() == [window])
      withExtendedLifetime((one, two)) {}
    }
  }

  @Test func anEmptyWorkspaceOfI3IsNil() async throws {
    try await Self.with(.i3) { desktop, _, peer in
      let one = try await Self.terminal(desktop, "one")
      let window = try await peer.window("one")
      try await peer.reached([window])
      func i3(_ command: String) async throws {
        let socket = desktop.bus.directory + "/i3.sock"
        #expect(try await desktop.run(["/usr/bin/i3-msg", "-s", socket, command]).succeeded)
      }
      for _ in 0..<5 {
        try await i3("workspace 2")
        try await peer.reached([])
        #expect(try await desktop.focusctl("get", Peer.title).status == 1)
        try await i3("workspace 1")
        try await peer.reached([window])
      }
      try await i3("move container to workspace mail; workspace mail")
      try await eventually("workspace") { try await peer.read("org.focusd.Window.Workspace").value == .string("mail") }
      try await i3("rename workspace mail to post")
      try await eventually("name") { try await peer.read("org.focusd.Window.Workspace").value == .string("post") }
      withExtendedLifetime(one) {}
    }
  }

  @Test(arguments: Manager.allCases) func theWindowManagerAndTheBridgeRestart(_ manager: Manager) async throws {
    try await Self.with(manager) { desktop, bridge, peer in
      let program = try await Self.program(desktop, "polite", "polite")
      let one = Target(window: try await peer.window("polite"), field: "polite", reports: true)
      try await peer.reached(one.path)
      let terminal = try await Self.terminal(desktop, "terminal")
      let two = Target(window: try await peer.window("terminal"))
      try await peer.reached(two.path)
      for _ in 0..<3 {
        let restart =
          manager == .i3
          ? ["/usr/bin/i3-msg", "-s", desktop.bus.directory + "/i3.sock", "restart"]
          : ["/usr/bin/openbox", "--restart"]
        let result = try await desktop.run(restart)
        #expect(result.succeeded, "\(result)")
        try await eventually("a window manager that answers") {
          _ = try await desktop.run(["/usr/bin/xdotool", "windowactivate", String(one.window.dropFirst())])
          return try await peer.path() == one.path
        }
        for target in [two, one, two] {
          try await Self.activate(desktop, target.window)
          try await peer.reached(target.path)
        }
      }
      #expect(bridge.progress.now.exit == nil)
      withExtendedLifetime((program, terminal)) {}
    }
  }

  @Test func theBridgeAndTheDaemonAreKilled() async throws {
    try await Self.with(.openbox) { desktop, first, peer in
      let program = try await Self.program(desktop, "polite", "polite")
      let one = Target(window: try await peer.window("polite"), field: "polite", reports: true)
      try await peer.reached(one.path)
      let terminal = try await Self.terminal(desktop, "terminal")
      let two = Target(window: try await peer.window("terminal"))
      try await peer.reached(two.path)
      for _ in 0..<3 {
        try await Self.activate(desktop, one.window)
        try await peer.reached(one.path)
        // Its call would fail, and it does not ask again.
        try await peer.hasSaid("in", one)
        try await desktop.crash()
        try await peer.reached(one.path)
        try await switchTimes(6, [one, two], peer) { try await Self.activate(desktop, $0.window) }
      }
      try await first.stop()
      for _ in 0..<3 {
        let bridge = try await desktop.windowBridge()
        try await switchTimes(6, [one, two], peer) { try await Self.activate(desktop, $0.window) }
        try await Self.activate(desktop, one.window)
        try await peer.reached(one.path)
        try await bridge.stop()
        try await peer.reached(["polite"])
      }
      withExtendedLifetime((program, terminal)) {}
    }
  }

  /// A server gives a client's numbers to the next one: held up, the bridge sees the list of windows as it was.
  @Test func aNumberThatIsUsedAgainIsAnotherWindow() async throws {
    try await Self.with(.openbox) { desktop, bridge, peer in
      let one = try await Self.terminal(desktop, "one")
      let window = try await peer.window("one")
      try await peer.reached([window])
      bridge.terminate(SIGSTOP)
      defer { bridge.terminate(SIGCONT) }
      try await one.stop()
      let two = try await Self.terminal(desktop, "two")
      let found = try await desktop.run(["/usr/bin/xdotool", "search", "--sync", "--onlyvisible", "--name", "^two$"])
      #expect(found.output == [String(window.dropFirst())], "\(found)")
      bridge.terminate(SIGCONT)
      try await eventually("the other's process") {
        try await peer.read("org.focusd.Window.ProcessId").value == .uint32(UInt32(two.processID))
      }
      #expect(try await peer.read(Peer.title).value == .string("two"))
      withExtendedLifetime(two) {}
    }
  }

  /// Sets the windows that the window manager has to those of the arguments: XChangeProperty(3).
  private static let clientList = """
    import sys
    from ctypes import CDLL, c_ulong, c_void_p
    x = CDLL("libX11.so.6")
    x.XOpenDisplay.restype = c_void_p
    display = c_void_p(x.XOpenDisplay(None))
    x.XDefaultRootWindow.restype = x.XInternAtom.restype = c_ulong
    root, name = x.XDefaultRootWindow(display), x.XInternAtom(display, b"_NET_CLIENT_LIST", 0)
    windows = [int(number) for number in sys.argv[1:]]
    x.XChangeProperty(
        display, c_ulong(root), c_ulong(name), c_ulong(33), 32, 0, (c_ulong * len(windows))(*windows), len(windows))
    x.XCloseDisplay(display)
    """

  @Test func asManyWindowsAreFollowedAsAnOwnerMayHaveFields() async throws {
    try await Self.with(.openbox) { desktop, _, peer in
      let terminal = try await Self.terminal(desktop, "terminal")
      let window = try await peer.window("terminal")
      for (others, followed) in [(4096, [String]()), (4095, [window])] {
        // Those before it are gone by the time they are asked, and become no fields.
        let list = (0..<others).map { String(0x7F0000 + $0) } + [String(window.dropFirst())]
        let result = try await desktop.run(["/usr/bin/python3", "-c", Self.clientList] + list)
        #expect(result.succeeded, "\(result)")
        try await eventually("\(others) windows") { try await peer.fields() == followed }
      }
      withExtendedLifetime(terminal) {}
    }
  }

  @Test func theXServerGoesAway() async throws {
    try await TestDesktop.with { desktop in
      let server = try await desktop.start(["/usr/bin/Xvfb", "-displayfd", "1", "-nolisten", "tcp", "-noreset"])
      let display = ":" + (try await server.line("display number"))
      let bridge = try await desktop.windowBridge([], ["DISPLAY": display])
      server.terminate()
      #expect(try await bridge.finish() == .status(1))
      #expect(bridge.progress.now.errors.last?.contains("the X server is gone") == true)
      try await server.finish()
    }
  }
}

enum X11Programs {
  /// Whether there is a server, and what the tests run on it.
  static let canRun =
    TestDesktop.canDisplay
    && ["i3", "openbox", "xterm", "xdotool"].allSatisfy { access("/usr/bin/" + $0, X_OK) == 0 }
}

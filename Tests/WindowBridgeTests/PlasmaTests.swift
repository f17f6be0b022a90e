import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// KDE's compositor without a screen, with real programs.
@Suite(.serialized, .enabled(if: PlasmaPrograms.canRun, "needs kwin_wayland and GTK 3: .ci/setup test"))
struct PlasmaTests {
  /// One KWin, in a directory of its own.
  private struct Session: Sendable {
    let desktop: TestDesktop
    let directory: String

    private var environment: [String: String] {
      [
        "XDG_RUNTIME_DIR": directory, "HOME": directory, "XDG_DATA_HOME": directory + "/data",
        "WAYLAND_DISPLAY": "wayland-kwin", "GDK_BACKEND": "wayland", "DBUS_SESSION_BUS_ADDRESS": desktop.bus.address,
      ]
    }

    var socket: String { directory + "/wayland-kwin" }

    func compositor() async throws -> ManagedProcess {
      // One that was killed leaves it.
      unlink(socket)
      let arguments = ["--virtual", "--no-lockscreen", "--no-global-shortcuts", "--socket", "wayland-kwin"]
      let kwin = try await desktop.start([directory + "/kwin_wayland"] + arguments, extra: environment)
      try await eventually("KWin") {
        guard kwin.progress.now.exit == nil else { throw DaemonGone(said: kwin.progress.now.errors.suffix(5)) }
        return access(socket, F_OK) == 0
      }
      return kwin
    }

    /// Lets the bridge see windows, as an installation does.
    func permit() throws {
      let directory = directory + "/data/applications"
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let program = URL(filePath: Products.windowBridge).resolvingSymlinksInPath().path
      try String(contentsOfFile: TestDesktop.project + "/Systemd/focusd-windows.desktop.in", encoding: .utf8)
        .replacing("@libexecdir@/focusd-windows", with: program)
        .write(toFile: directory + "/focusd-windows.desktop", atomically: false, encoding: .utf8)
    }

    /// Starts the bridge as it is installed, without the permission, once the compositor can take its script.
    func installedBridge() async throws -> ManagedProcess {
      let peer = try await desktop.peer()
      try await peer.waitForOwner(of: "org.kde.KWin")
      return try await desktop.installedWindowBridge(in: directory, [], ["WAYLAND_DISPLAY": socket])
    }

    func window(_ title: String) async throws -> ManagedProcess {
      let script = try #require(Bundle.module.path(forResource: "window", ofType: "py", inDirectory: "Resources"))
      return try await desktop.start(
        ["/usr/bin/python3", "-Bu", script, desktop.bus.address, title, "org.test.\(title)"], extra: environment)
    }

    /// Has KWin itself bring a window to the front.
    func activate(_ title: String) async throws {
      let file = directory + "/\(title).js"
      try "workspace.activeClient = workspace.clientList().filter(c => c.caption == '\(title)')[0]"
        .write(toFile: file, atomically: false, encoding: .utf8)
      // It reads a script that it has started in another thread: one that is unloaded at once may never run.
      try await scripting("loadScript", file, UUID().uuidString)
      try await scripting("start")
    }

    func scripting(_ member: String, _ arguments: String...) async throws {
      let destination = ["--address", desktop.bus.address, "--dest", "org.kde.KWin", "--object-path", "/Scripting"]
      let method = ["--method", "org.kde.kwin.Scripting." + member]
      let result = try await desktop.run(["/usr/bin/gdbus", "call"] + destination + method + arguments)
      #expect(result.succeeded, "\(result)")
    }
  }

  private struct DaemonGone: Error { let said: ArraySlice<String> }

  private static func with(_ body: @Sendable (Session, ManagedProcess, Peer) async throws -> Void) async throws {
    try await TestDesktop.with { desktop in
      var template = Array("/tmp/focusd-kwin.XXXXXX".utf8CString)
      _ = try #require(mkdtemp(&template))
      let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      defer { try? FileManager.default.removeItem(atPath: directory) }
      // Its capability cannot be had in a container; a copy has none. What this process has open for writing, a process
      // that another test starts at the same time may have open as well.
      let copy = try await desktop.run(["/usr/bin/cp", PlasmaPrograms.compositor, directory + "/kwin_wayland"])
      #expect(copy.succeeded, "\(copy)")
      let session = Session(desktop: desktop, directory: directory)
      let kwin = try await session.compositor()
      try await body(session, kwin, try await desktop.peer())
      kwin.terminate()
      try await kwin.finish()
    }
  }

  /// Waits until the programs have heard from the compositor which of them is active, and expects the bridge to agree.
  private static func expect(_ title: String, _ windows: [String: ManagedProcess], _ peer: Peer) async throws {
    for (other, window) in windows {
      try await eventually("\(other) knows") {
        (window.progress.now.output.last == "active") == (other == title)
      }
    }
    try await eventually("\(title) in front") { try await peer.read(Peer.title).value == .string(title) }
  }

  @Test func windowsSwitchesAndCommands() async throws {
    try await Self.with { session, _, peer in
      try session.permit()
      let bridge = try await session.desktop.windowBridge([], ["WAYLAND_DISPLAY": session.socket])
      var windows: [String: ManagedProcess] = [:]
      for title in ["one", "two", "three"] {
        windows[title] = try await session.window(title)
        try await Self.expect(title, windows, peer)
      }
      let ids = try await peer.windows()
      for title in windows.keys.sorted() {
        try await eventually("adoption") { try await peer.parent(of: title) == ids[title] }
      }
      var front = "three"
      for _ in 0..<40 {
        front = windows.keys.filter { $0 != front }.randomElement() ?? front
        try await session.activate(front)
        try await Self.expect(front, windows, peer)
      }
      let one = try #require(ids["one"])
      #expect(try await session.desktop.focusctl("focus", one).succeeded)
      try await Self.expect("one", windows, peer)
      #expect(try await peer.get("org.focusd.Window.ProcessId") == .uint32(UInt32(windows["one"]?.processID ?? 0)))
      #expect(try await peer.get("org.focusd.Window.Application") == .string("org.test.one"))
      #expect(try await peer.get("org.focusd.Window.Workspace") == .string("Desktop 1"))
      windows["one"]?.send(line: "uno")
      try await eventually("title") { try await peer.read(Peer.title).value == .string("uno") }
      _ = try await peer.invoke("org.focusd.Window.Fullscreen")
      _ = try await peer.invoke("org.focusd.Window.Minimize")
      try await eventually("another in front") { try await peer.path().last != one }
      #expect(try await session.desktop.focusctl("focus", one).succeeded)
      _ = try await peer.invoke("org.focusd.Window.Close")
      try await windows["one"]?.finish()
      try await eventually("one is gone") { try await peer.windows().count == 2 }
      for window in windows.values { try await window.stop() }
      try await peer.reached([])
      bridge.terminate()
      #expect(try await bridge.finish() == .status(0))
    }
  }

  @Test func aScriptTellsWhereTheProtocolIsRefused() async throws {
    try await Self.with { session, kwin, peer in
      let bridge = try await session.installedBridge()
      var windows: [String: ManagedProcess] = [:]
      for title in ["one", "two"] {
        windows[title] = try await session.window(title)
        try await Self.expect(title, windows, peer)
      }
      let ids = try await peer.windows()
      for round in 0..<20 {
        let title = round % 2 == 0 ? "one" : "two"
        // It is loaded again for the command that follows.
        if round == 10 { try await session.scripting("unloadScript", "focusd-windows") }
        if round % 4 < 2 {
          try await session.activate(title)
        } else {
          #expect(try await session.desktop.focusctl("focus", ids[title] ?? "").succeeded)
        }
        try await Self.expect(title, windows, peer)
      }
      for title in windows.keys { try await eventually("adoption") { try await peer.parent(of: title) == ids[title] } }
      #expect(try await peer.get("org.focusd.Window.ProcessId") == .uint32(UInt32(windows["two"]?.processID ?? 0)))
      #expect(try await peer.get("org.focusd.Window.Application") == .string("org.test.two"))
      #expect(try await peer.get("org.focusd.Window.Workspace") == .string("Desktop 1"))
      windows["two"]?.send(line: "menu")
      try await eventually("a menu") { windows["two"]?.progress.now.output.last == "menu" }
      windows["two"]?.send(line: "due")
      try await eventually("title") { try await peer.read(Peer.title).value == .string("due") }
      #expect(try await peer.windows().keys.sorted() == ["due", "one"])
      windows["two"]?.send(line: "menu")
      _ = try await peer.invoke("org.focusd.Window.Fullscreen")
      _ = try await peer.invoke("org.focusd.Window.Minimize")
      try await eventually("another in front") { try await peer.path().last == ids["one"] }
      _ = try await peer.invoke("org.focusd.Window.Close")
      try await windows["one"]?.finish()
      try await kwin.stop()
      try await windows["two"]?.stop()
      let next = try await session.compositor()
      let after = try await session.window("after")
      try await Self.expect("after", ["after": after], peer)
      #expect(bridge.progress.now.exit == nil)
      try await after.stop()
      next.terminate()
      try await next.finish()
    }
  }

  @Test func itRestarts() async throws {
    try await Self.with { session, kwin, peer in
      try session.permit()
      let bridge = try await session.desktop.windowBridge([], ["WAYLAND_DISPLAY": session.socket])
      let before = try await session.window("before")
      try await Self.expect("before", ["before": before], peer)
      try await kwin.stop()
      // Programs end with their compositor.
      try await before.stop()
      let next = try await session.compositor()
      let after = try await session.window("after")
      try await Self.expect("after", ["after": after], peer)
      #expect(try await peer.windows().keys.sorted() == ["after"])
      #expect(bridge.progress.now.exit == nil)
      try await after.stop()
      next.terminate()
      try await next.finish()
    }
  }

  @Test func withoutPermissionItSaysWhatIsMissing() async throws {
    try await Self.with { session, _, _ in
      let bridge = try await session.desktop.windowBridge([], ["WAYLAND_DISPLAY": session.socket])
      #expect(try await bridge.finish() == .status(3))
      #expect(bridge.progress.now.errors.contains { $0.contains("a desktop file that says so") })
    }
  }
}

private enum PlasmaPrograms {
  static let compositor = "/usr/bin/kwin_wayland"
  static let canRun =
    access(compositor, X_OK) == 0 && access("/usr/bin/gdbus", X_OK) == 0
    && access("/usr/lib/python3/dist-packages/gi", F_OK) == 0
}

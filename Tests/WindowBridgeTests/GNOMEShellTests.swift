import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// GNOME Shell without a screen, with the extension as it is installed.
@Suite(.serialized, .enabled(if: GNOMEPrograms.canRun, "needs gnome-shell and foot: .ci/setup test"))
struct GNOMEShellTests {
  /// One shell, and a keyboard, without which no window is in front.
  private struct Session: Sendable {
    let desktop: TestDesktop
    let keyboard: Peer
    let keyboardPath: String

    private static let remote = "org.gnome.Mutter.RemoteDesktop"

    init(_ desktop: TestDesktop) async throws {
      self.desktop = desktop
      keyboard = try await desktop.peer()
      // The shell may have loaded the extension before it has this name.
      try await keyboard.waitForOwner(of: Self.remote)
      let path = "/org/gnome/Mutter/RemoteDesktop"
      let session = try await keyboard.call(DaemonCall(to: Self.remote, path, Self.remote, "CreateSession"))
      keyboardPath = try #require(session.first?.basicText)
      try await call("Start")
      // The left control key does nothing by itself.
      try await press([29])
    }

    private func call(_ member: String, _ arguments: DBusValue...) async throws {
      try await keyboard.call(
        DaemonCall(to: Self.remote, keyboardPath, Self.remote + ".Session", member, arguments))
    }

    /// Presses the keys one after another, and lets go of them in the other order.
    func press(_ keys: [UInt32]) async throws {
      for key in keys { try await call("NotifyKeyboardKeycode", .uint32(key), .boolean(true)) }
      for key in keys.reversed() { try await call("NotifyKeyboardKeycode", .uint32(key), .boolean(false)) }
    }

    /// Asks for a window until it is in front: a shell that has just started may take longer than the bridge waits.
    func focus(_ window: String) async throws {
      try await eventually("focus of \(window)") { try await desktop.focusctl("focus", window).succeeded }
    }

    /// Presses Alt and Escape until `hasSwitched`.
    func switchWindows(_ hasSwitched: @escaping @Sendable () async throws -> Bool) async throws {
      try await press([56, 1], until: hasSwitched)
    }

    /// Presses `keys` until `hasSwitched`: under load the shell may miss them, or that the first is up again.
    func press(_ keys: [UInt32], until hasSwitched: @escaping @Sendable () async throws -> Bool) async throws {
      var next = SuspendingClock.now
      try await eventually("the switch") {
        if SuspendingClock.now >= next {
          try await press(keys)
          next = SuspendingClock.now + .seconds(10)
        }
        return try await hasSwitched()
      }
    }

    func terminal(_ title: String) async throws -> ManagedProcess {
      let script = try #require(Bundle.module.path(forResource: "program", ofType: "py", inDirectory: "Resources"))
      return try await desktop.start(
        ["/usr/bin/foot", "-T", title, "/usr/bin/python3", "-Bu", script, desktop.bus.address, title, "polite"],
        extra: GNOMEShellTests.environment(desktop))
    }
  }

  private static let extensions = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Systemd/gnome/build").standardized.path()

  private static func environment(_ desktop: TestDesktop) -> [String: String] {
    let directory = desktop.bus.directory
    return [
      "XDG_RUNTIME_DIR": directory + "/run", "HOME": directory, "XDG_DATA_HOME": directory + "/data",
      "XDG_CONFIG_HOME": directory + "/config", "GSETTINGS_BACKEND": "keyfile", "WAYLAND_DISPLAY": "wayland-gnome",
      "DBUS_SESSION_BUS_ADDRESS": desktop.bus.address, "XDG_CURRENT_DESKTOP": "GNOME",
      // There is no other machine's bus for it.
      "DBUS_SYSTEM_BUS_ADDRESS": desktop.bus.address, "LIBGL_ALWAYS_SOFTWARE": "1",
    ]
  }

  private static let settings = """
    [org/gnome/shell]
    enabled-extensions=['focusd@org.focusd', 'focusd-43@org.focusd']
    welcome-dialog-last-shown-version='999'
    [org/gnome/desktop/interface]
    enable-animations=false
    """

  /// Runs `body` in a shell whose user has enabled the extension.
  private static func with(_ body: @Sendable (Session, Peer) async throws -> Void) async throws {
    try await TestDesktop.with { desktop in
      let (files, directory) = (FileManager.default, desktop.bus.directory)
      let settings = directory + "/config/glib-2.0/settings"
      for path in [directory + "/run", settings] {
        try files.createDirectory(atPath: path, withIntermediateDirectories: true)
      }
      chmod(directory + "/run", 0o700)
      try Self.settings.write(toFile: settings + "/keyfile", atomically: false, encoding: .utf8)
      for uuid in try await desktop.run([extensions, "--list"]).output {
        let target = directory + "/data/gnome-shell/extensions/" + uuid
        try files.createDirectory(atPath: target, withIntermediateDirectories: true)
        for name in ["extension.js", "metadata.json"] {
          let text = try await desktop.run([extensions, uuid, name]).output.joined(separator: "\n")
          try text.write(toFile: "\(target)/\(name)", atomically: false, encoding: .utf8)
        }
      }
      let shell = try await desktop.start(
        [
          "/usr/bin/gnome-shell", "--headless", "--wayland", "--no-x11", "--virtual-monitor", "1280x720",
          "--wayland-display", "wayland-gnome",
        ], extra: environment(desktop))
      let peer = try await desktop.peer()
      try await eventually("the extension") {
        guard shell.progress.now.exit == nil else { throw ShellDied(said: shell.progress.now.errors.suffix(5)) }
        return try await peer.askBus("NameHasOwner", [.string("org.focusd.GNOMEShell1")]) == [.boolean(true)]
      }
      let bridge = try await desktop.windowBridge([], environment(desktop))
      try await body(try await Session(desktop), peer)
      bridge.terminate()
      #expect(try await bridge.finish() == .status(0))
      // How it ends says nothing.
      shell.terminate(9)
      try await shell.finish()
    }
  }

  private struct ShellDied: Error { let said: ArraySlice<String> }

  /// The shell itself switches, and the programs say which of them has the keyboard.
  @Test func switchesAndCommands() async throws {
    try await Self.with { session, peer in
      let one = try await session.terminal("one")
      let first = try await peer.window("one")
      let two = try await session.terminal("two")
      let second = try await peer.window("two")
      let targets = [
        Target(window: first, field: "one", reports: true), Target(window: second, field: "two", reports: true),
      ]
      // It begins with its overview, in which no window is in front.
      for target in targets {
        try await session.focus(target.window)
        try await peer.reached(target.path)
      }
      #expect(try await peer.get("org.focusd.Window.Application") == .string("foot"))
      #expect(try await peer.get("org.focusd.Window.ProcessId") == .uint32(UInt32(two.processID)))
      #expect(try await peer.get("org.focusd.Window.Workspace")?.basicText != nil)
      // Keys pressed again may switch twice: what counts is that the programs and the bridge agree.
      for _ in 0..<20 {
        let before = try await peer.front(of: targets)
        try await session.switchWindows { try await peer.front(of: targets) != before }
        try await eventually("the program with the keyboard has focus") {
          let path = try await peer.path()
          return try await peer.front(of: targets)?.path == path
        }
      }
      _ = try await peer.invoke("org.focusd.Window.Fullscreen")
      let front = try #require(try await peer.front(of: targets))
      let isFirst = front.window == first
      _ = try await peer.invoke("org.focusd.Window.Minimize")
      let other = targets[isFirst ? 1 : 0]
      try await peer.hasSaid("in", other)
      try await peer.reached(other.path)
      _ = try await peer.invoke("org.focusd.Window.Close")
      try await (isFirst ? two : one).finish()
      try await eventually("it is gone") { try await peer.windows()[isFirst ? "two" : "one"] == nil }
    }
  }

  /// The shell names workspaces by their places, and removes one that is empty.
  @Test func aWorkspaceAfterOneThatIsRemovedHasAnotherName() async throws {
    try await Self.with { session, peer in
      let one = try await session.terminal("one")
      _ = try await peer.window("one")
      let two = try await session.terminal("two")
      let second = try await peer.window("two")
      try await session.focus(second)
      try await peer.reached(Target(window: second, field: "two", reports: true).path)
      let workspace = "org.focusd.Window.Workspace"
      let first = try await peer.get(workspace)
      // Super, shift and page down: the next workspace.
      try await session.press([125, 42, 109]) {
        let now = try await peer.get(workspace)
        return now != nil && now != first
      }
      try await one.stop()
      try await eventually("the workspace before it is removed") { try await peer.get(workspace) == first }
      withExtendedLifetime(two) {}
    }
  }

  /// Nothing changes of the windows then.
  @Test func workspacesHaveTheNamesThatTheUserGives() async throws {
    try await Self.with { session, peer in
      let terminal = try await session.terminal("one")
      let window = Focus1.field(try await peer.window("one"))
      for names in [["Haupt", "Mail ü"], ["Büro"], []] {
        let list = "[" + names.map { "'\($0)'" }.joined(separator: ", ") + "]"
        let set = ["/usr/bin/gsettings", "set", "org.gnome.desktop.wm.preferences", "workspace-names", "@as \(list)"]
        #expect(try await session.desktop.run(set, extra: Self.environment(session.desktop)).succeeded)
        try await eventually("the name in \(list)") {
          let name = try await peer.read("org.focusd.Window.Workspace", at: window).value?.basicText
          return names.isEmpty ? name?.hasSuffix(" 1") == true : name == names[0]
        }
      }
      withExtendedLifetime(terminal) {}
    }
  }

  /// The addresses lead to the program's own actions.
  @Test func whereAProgramOfGTKHasItsActions() async throws {
    try await Self.with { session, peer in
      let script = try #require(Bundle.module.path(forResource: "actions", ofType: "py", inDirectory: "Resources"))
      let wayland = ["GDK_BACKEND": "wayland"].merging(Self.environment(session.desktop)) { $1 }
      let program = try await session.desktop.start(["/usr/bin/python3", "-Bu", script], extra: wayland)
      try await peer.hasActions(try await peer.window("actions"))
      withExtendedLifetime(program) {}
    }
  }
}

private enum GNOMEPrograms {
  static let canRun = ["gnome-shell", "foot"].allSatisfy { access("/usr/bin/" + $0, X_OK) == 0 }
}

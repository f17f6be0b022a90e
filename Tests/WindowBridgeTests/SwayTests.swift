import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// sway without a screen, as a user who is not root, with real programs.
@Suite(.serialized, .enabled(if: SwaySession.canRun("foot"), "needs sway, foot and setpriv: .ci/setup test"))
struct SwayTests {
  /// Runs `body` with a bridge that follows sway by its socket, or as any compositor with wlroots' protocol.
  private static func with(
    asWayland: Bool = false, _ body: @Sendable (SwaySession, Peer) async throws -> Void
  ) async throws {
    try await TestDesktop.with { desktop in
      try await SwaySession.with(desktop) { session in
        let display = session.environment.filter { $0.key != "SWAYSOCK" }
        let bridge = try await desktop.windowBridge([], asWayland ? display : ["SWAYSOCK": session.socket])
        try await body(session, try await desktop.peer())
        bridge.terminate()
        #expect(try await bridge.finish() == .status(0))
      }
    }
  }

  @Test func twoHundredSwitches() async throws {
    try await Self.with { session, peer in
      var (terminals, programs, targets): ([ManagedProcess], [Peer], [Target]) = ([], [], [])
      for title in ["silent", "late", "terminal"] {
        let terminal = try await session.terminal(title)
        terminals.append(terminal)
        let window = try await peer.window(title)
        try await peer.reached([window])
        guard title != "terminal" else {
          targets.append(Target(window: window))
          continue
        }
        let program = try await session.desktop.peer()
        try await program.register(title, process: Int(terminal.processID))
        try await program.focus(title)
        targets.append(Target(window: window, field: title))
        try await peer.reached(targets[targets.count - 1].path)
        programs.append(program)
      }
      let late = programs[1]
      var isLate = false
      try await switchTimes(200, targets, peer) { target in
        // What the window before says comes after the switch.
        async let switched: Void = session.message("[con_id=\(target.window.dropFirst())] focus")
        if isLate { try await late.field("late", "Blur") }
        if target.field == "late" { try await late.focus("late") }
        isLate = target.field == "late"
        try await switched
      }
      withExtendedLifetime((terminals, programs)) {}
    }
  }

  @Test func windowsWorkspacesAndCommands() async throws {
    try await Self.with { session, peer in
      let one = try await session.terminal("one")
      var windows = [try await peer.window("one")]
      try await peer.reached(windows)
      let two = try await session.terminal("two")
      windows.append(try await peer.window("two"))
      try await peer.reached([windows[1]])
      #expect(try await session.desktop.focusctl("focus", windows[0]).succeeded)
      #expect(try await peer.path() == [windows[0]])
      #expect(try await peer.get("org.focusd.Window.ProcessId") == .uint32(UInt32(one.processID)))
      #expect(try await peer.get("org.focusd.Window.Application") == .string("foot"))
      #expect(try await peer.get("org.focusd.Window.Workspace") == .string("1"))
      for _ in 0..<5 {
        try await session.message("workspace 2")
        try await peer.reached([])
        try await session.message("workspace 1")
        try await peer.reached([windows[0]])
      }
      try await session.message("[con_id=\(windows[1].dropFirst())] focus")
      try await peer.reached([windows[1]])
      try await session.message("move container to workspace mail")
      try await eventually("workspace") {
        try await peer.read("org.focusd.Window.Workspace", at: Focus1.field(windows[1])).value == .string("mail")
      }
      try await peer.reached([windows[0]])
      try await session.message("reload")
      _ = try await peer.invoke("org.focusd.Window.Fullscreen")
      _ = try await peer.invoke("org.focusd.Window.Float")
      _ = try await peer.invoke("org.focusd.Window.Close")
      try await one.finish()
      try await peer.reached([])
      #expect(try await peer.fields() == [windows[1]])
      withExtendedLifetime(two) {}
    }
  }

  /// sway tells only that a window has focus when it comes from the scratchpad, or by a swap.
  @Test func workspacesOfWhatIsShownOrSwapped() async throws {
    try await Self.with { session, peer in
      var (terminals, windows): ([ManagedProcess], [String: String]) = ([], [:])
      for title in ["one", "two"] {
        terminals.append(try await session.terminal(title))
        windows[title] = try await peer.window(title)
        try await peer.reached([windows[title] ?? ""])
      }
      let (one, two) = (try #require(windows["one"]), try #require(windows["two"]))
      func expect(_ front: String, _ workspaces: [String?]) async throws {
        try await peer.reached([front])
        try await eventually("the workspaces \(workspaces)") {
          var now: [String?] = []
          for id in [one, two] {
            now.append(try await peer.readAll(at: Focus1.field(id))["org.focusd.Window.Workspace"]?.basicText)
          }
          return now == workspaces
        }
      }
      try await session.message("[title=one] move container to workspace 2")
      try await expect(two, ["2", "1"])
      try await session.message("swap container with con_id \(one.dropFirst())")
      try await expect(one, ["1", "2"])
      try await session.message("[title=two] move container to workspace 1")
      try await expect(one, ["1", "1"])
      for byFocusctl in [true, false] {
        try await session.message("[title=two] move scratchpad")
        try await expect(one, ["1", nil])
        if byFocusctl {
          #expect(try await session.desktop.focusctl("focus", two).succeeded)
        } else {
          try await session.message("[title=two] focus")
        }
        try await expect(two, ["1", "1"])
      }
      withExtendedLifetime(terminals) {}
    }
  }

  @Test func withoutItsSocketItIsFollowedAsAnyCompositor() async throws {
    try await Self.with(asWayland: true) { session, peer in
      var terminals: [String: ManagedProcess] = [:]
      for title in ["one", "two", "three"] {
        terminals[title] = try await session.terminal(title, title == "one" ? "foot" : "other")
        try await eventually("\(title) in front") { try await peer.read(Peer.title).value == .string(title) }
      }
      let windows = try await peer.windows()
      // The only window of foot, with the only program that runs in one.
      let program = try await session.desktop.peer()
      try await program.register("form", process: Int(terminals["one"]?.processID ?? 0))
      try await eventually("adoption") { try await peer.parent(of: "form") == windows["one"] }
      try await program.focus("form")
      var front = "three"
      for round in 0..<100 {
        front = terminals.keys.filter { $0 != front }.randomElement() ?? front
        if round % 2 == 0 {
          try await session.message("[title=\(front)] focus")
        } else {
          #expect(try await session.desktop.focusctl("focus", windows[front] ?? "").succeeded)
        }
        #expect(try await session.focusedTitle() == front)
        try await peer.reached((front == "one" ? ["form"] : []) + [windows[front] ?? ""])
      }
      for _ in 0..<3 {
        try await session.message("workspace 2")
        #expect(try await session.focusedTitle() == nil)
        try await peer.reached([])
        try await session.message("[title=three] focus")
        try await peer.reached([windows["three"] ?? ""])
      }
      _ = try await peer.invoke("org.focusd.Window.Fullscreen")
      // sway has no minimized windows; the daemon says it if the bridge is late, too.
      let minimize = peer.begin(.invoke("org.focusd.Window.Minimize", []))
      #expect(["Failed", "Timeout"].contains(try await minimize.refusal()))
      _ = try await peer.invoke("org.focusd.Window.Close")
      try await terminals["three"]?.finish()
      try await eventually("it is gone") { try await peer.windows().count == 2 }
    }
  }
}

extension SwaySession {
  fileprivate func message(_ command: String) async throws {
    let result = try await self.command(command)
    #expect(result.succeeded, "\(result)")
  }

  fileprivate func terminal(_ title: String, _ application: String = "foot") async throws -> ManagedProcess {
    try await startAsNobody(["/usr/bin/foot", "-T", title, "-a", application, "/bin/sleep", "1000"])
  }

  /// The title of the window that sway says has focus.
  fileprivate func focusedTitle() async throws -> String? {
    let tree = try await command("-t", "get_tree").text
    return Self.focused(in: try JSONSerialization.jsonObject(with: Data(tree.utf8)))
  }

  private static func focused(in node: Any) -> String? {
    guard let node = node as? [String: Any] else { return nil }
    if node["focused"] as? Bool == true { return node["pid"] == nil ? nil : node["name"] as? String }
    let children = (node["nodes"] as? [Any] ?? []) + (node["floating_nodes"] as? [Any] ?? [])
    return children.lazy.compactMap { Self.focused(in: $0) }.first
  }
}

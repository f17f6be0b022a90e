import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// A session with an X server, a daemon, the bridge, and the accessibility that Debian's programs find there.
final class RealDesktop: DaemonSession {
  let desktop: TestDesktop
  let session: Peer
  let bridge: ManagedProcess
  let launcher: AccessibilityLauncher

  /// Whether the programs are here.
  static func canRun(_ programs: String...) -> Bool {
    TestDesktop.canDisplay
      && ([AccessibilityLauncher.path, "/usr/bin/xdotool", "/usr/bin/xprop"] + programs).allSatisfy(
        FileManager.default.isExecutableFile)
  }

  /// Whether Python has a module.
  static func hasPython(_ files: String...) -> Bool {
    files.allSatisfy { FileManager.default.fileExists(atPath: $0) }
  }

  private init(_ desktop: TestDesktop, _ session: Peer, _ bridge: ManagedProcess, _ launcher: AccessibilityLauncher) {
    (self.desktop, self.session, self.bridge, self.launcher) = (desktop, session, bridge, launcher)
  }

  /// Runs `body` with all of it, the bridge started with `arguments`; that must be there at the end unless it `mayEnd`.
  static func with(
    _ arguments: String..., mayEnd: Bool = false, isolation: isolated (any Actor)? = #isolation,
    _ body: (RealDesktop) async throws -> Void
  ) async throws {
    try await TestDesktop.with { desktop in
      try await desktop.display()
      let launcher = try await AccessibilityLauncher(desktop)
      let told = try await launcher.tellQt()
      #expect(told.succeeded, "\(told)")
      let bridge = try await desktop.startBridge([Products.accessibility] + arguments)
      do {
        try await body(RealDesktop(desktop, try await desktop.peer(), bridge, launcher))
      } catch {
        try await launcher.end()
        throw error
      }
      if !mayEnd {
        bridge.terminate()
        #expect(try await bridge.finish() == .status(0))
      }
      try await launcher.end()
    }
  }

  /// Starts a program, and brings its window to the front.
  func start(_ title: String, _ arguments: [String]) async throws -> ManagedProcess {
    let program = try await desktop.start(arguments, extra: AccessibilityLauncher.environment)
    try await front(title)
    return program
  }

  /// Starts a script of this target, and brings its window to the front.
  func script(_ name: String, _ arguments: String..., title: String) async throws -> ManagedProcess {
    let file = try #require(Bundle.module.path(forResource: name, ofType: "py", inDirectory: "Resources"))
    return try await start(title, ["/usr/bin/python3", "-B", file] + arguments)
  }

  func front(_ title: String) async throws {
    try await xdotool("search", "--sync", "--onlyvisible", "--name", "^\(title)$", "windowfocus")
    try await waits(for: "Window.Title", .string(title))
  }

  func xdotool(_ arguments: String...) async throws { try await desktop.xdotool(arguments) }

  /// Presses Tab, and waits until another field has focus; none may have it meanwhile.
  func tab() async throws {
    let before = try await focusedField()
    try await xdotool("key", "Tab")
    try await eventually("another field than \(before ?? "none")") {
      try await self.focusedField().map { $0 != before } ?? false
    }
  }

  /// Presses Tab until an element of that role has focus.
  func tab(to role: String) async throws {
    for _ in 0..<20 {
      try await tab()
      if try await get("Element.Role") == .string(role) { return }
    }
    Issue.record("no \(role)")
  }
}

extension TestDesktop {
  /// Starts a bridge, and waits until it serves.
  func startBridge(_ command: [String]) async throws -> ManagedProcess {
    let bridge = try await start(command + ["--verbose", "--address", bus.address])
    try await bridge.says("serving as")
    return bridge
  }
}

import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// A session with an X server, openbox, the daemon, the window bridge and this one, and the accessibility that Debian's
/// programs find there.
final class RealStage: Sendable {
  static let launcherPath = "/usr/libexec/at-spi-bus-launcher"
  static let environment = [
    "GDK_BACKEND": "x11", "GSETTINGS_BACKEND": "memory", "GSK_RENDERER": "cairo", "GTK_USE_PORTAL": "0",
    "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "NO_AT_BRIDGE": "0", "QT_QPA_PLATFORM": "xcb",
  ]

  let desktop: TestDesktop
  let bridge: ManagedProcess
  /// The address of the accessibility bus.
  let accessibility: String

  /// Whether the programs are here.
  static func canRun(_ programs: String...) -> Bool {
    let needed = [launcherPath, "/usr/bin/openbox", "/usr/bin/xdotool", "/usr/bin/xprop", Products.windowBridge]
    return TestDesktop.canDisplay && (needed + programs).allSatisfy(FileManager.default.isExecutableFile)
  }

  private init(_ desktop: TestDesktop, _ bridge: ManagedProcess, accessibility: String) {
    (self.desktop, self.bridge, self.accessibility) = (desktop, bridge, accessibility)
  }

  /// Runs `body` with all of it; both bridges must live until the end.
  static func with(_ body: (RealStage) async throws -> Void) async throws {
    try await TestDesktop.with { desktop in
      try await desktop.display()
      let launcher = try await AccessibilityLauncher(desktop, environment)
      let address = launcher.address
      // Qt 5 looks for the accessibility bus where a display manager would have written its address.
      let told = try await desktop.run(
        ["/usr/bin/xprop", "-root", "-f", "AT_SPI_BUS", "8s", "-set", "AT_SPI_BUS", address])
      #expect(told.succeeded, "\(told)")
      let manager = try await desktop.start(["/usr/bin/openbox", "--sm-disable"])
      try await eventually("openbox") { try await desktop.run(["/usr/bin/xdotool", "get_num_desktops"]).succeeded }
      let windows = try await desktop.start([Products.windowBridge, "--address", desktop.bus.address])
      let bridge = try await desktop.startMenus()
      let result: Result<Void, any Error>
      do {
        result = .success(try await body(RealStage(desktop, bridge, accessibility: address)))
      } catch {
        result = .failure(error)
      }
      for process in [bridge, windows] {
        process.terminate()
        #expect(try await process.finish() == .status(0), "\(process.progress.now.errors.suffix(5))")
      }
      try await manager.stop()
      try await launcher.end()
      try result.get()
    }
  }

  /// Starts a program, and brings its window to the front, whose class, or part of its title, is `window`.
  func start(_ arguments: [String], window: String) async throws -> ManagedProcess {
    let program = try await desktop.start(arguments, extra: Self.environment)
    try await front(window)
    return program
  }

  func front(_ window: String) async throws {
    try await xdotool("search", "--sync", "--onlyvisible", "--name", window, "windowactivate", "--sync")
    try await eventually("\(window) is in front") {
      try await self.desktop.focusctl("get", "Window.Title").text.contains(window)
    }
  }

  func xdotool(_ arguments: String...) async throws {
    let result = try await desktop.run(["/usr/bin/xdotool"] + arguments)
    #expect(result.succeeded, "\(result)")
  }

  /// Runs a command as a user would, once the program enables it.
  func run(_ command: String...) async throws {
    try await eventually("\(command)") { try await self.desktop.focusctl(["run"] + command).succeeded }
  }

  /// Waits until the program in front offers a command, enabled or not.
  func has(_ command: String) async throws {
    try await eventually(command) { try await self.desktop.focusctl("commands").text.contains(command) }
  }

  /// Waits until the menus in front have an item, told by its whole line.
  func lists(_ line: String) async throws {
    try await eventually("'\(line)'") { try await self.desktop.focusctl("menu").output.contains(line) }
  }

  /// A new file in the session's directory, with a line: programs add the end of one when they save, as a change.
  func file(_ text: String) throws -> String {
    let path = desktop.bus.directory + "/document-\(UInt32.random(in: 0 ... .max)).txt"
    try (text + "\n").write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  /// Saves, until the file holds `text`.
  func saves(_ file: String, _ text: String) async throws {
    try await eventually("'\(text)' in the file") {
      _ = try await self.desktop.focusctl("run", "Document.Save")
      return try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines) == text
    }
  }
}

/// What gives a session its accessibility bus.
struct AccessibilityLauncher: Sendable {
  let address: String
  private let process: ManagedProcess

  /// Starts it, and waits until the bus is there.
  init(_ desktop: TestDesktop, _ environment: [String: String]) async throws {
    process = try await desktop.start(
      // What it starts outlives it, and would keep its output open.
      ["/bin/sh", "-c", "exec \(RealStage.launcherPath) >/dev/null 2>&1"], extra: environment)
    let session = try await desktop.peer()
    try await eventually("accessibility") {
      try await session.askBus("NameHasOwner", [.string("org.a11y.Bus")]) == [.boolean(true)]
    }
    let reply = try await session.call(DaemonCall(to: "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress"))
    address = reply.first?.basicText ?? ""
  }

  /// Ends it, and what it has started, which outlives it otherwise.
  func end() async throws {
    let bus = try await Peer(to: address)
    let process = try await bus.askBus("GetConnectionUnixProcessID", [.string("org.freedesktop.DBus")]).first
    try await bus.leave()
    if case .uint32(let number)? = process { kill(Int32(number), SIGTERM) }
    try await self.process.stop()
  }
}

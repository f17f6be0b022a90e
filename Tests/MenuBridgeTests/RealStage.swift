import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// A session with an X server, openbox, the daemon, the window bridge and this one, and the accessibility that Debian's
/// programs find there.
final class RealStage: Sendable {
  let desktop: TestDesktop
  private let started: Observed<ManagedProcess>
  /// This bridge, as it was started last.
  var bridge: ManagedProcess { started.now }
  /// The address of the accessibility bus.
  let accessibility: String

  /// Whether the programs are here.
  static func canRun(_ programs: String...) -> Bool {
    let needed = [
      AccessibilityLauncher.path, "/usr/bin/openbox", "/usr/bin/xdotool", "/usr/bin/xprop", Products.windowBridge,
    ]
    return TestDesktop.canDisplay && (needed + programs).allSatisfy(FileManager.default.isExecutableFile)
  }

  private init(_ desktop: TestDesktop, _ bridge: ManagedProcess, accessibility: String) {
    (self.desktop, started, self.accessibility) = (desktop, Observed(bridge), accessibility)
  }

  /// Runs `body` with all of it; both bridges must live until the end.
  static func with(_ body: (RealStage) async throws -> Void) async throws {
    try await TestDesktop.with { desktop in
      try await desktop.display()
      let launcher = try await AccessibilityLauncher(desktop)
      let told = try await launcher.tellQt()
      #expect(told.succeeded, "\(told)")
      let manager = try await desktop.windowManager()
      let windows = try await desktop.start([Products.windowBridge, "--address", desktop.bus.address])
      let stage = RealStage(desktop, try await desktop.startMenus(), accessibility: launcher.address)
      let result: Result<Void, any Error>
      do {
        result = .success(try await body(stage))
      } catch {
        result = .failure(error)
      }
      for process in [stage.bridge, windows] {
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
    let program = try await desktop.start(arguments, extra: AccessibilityLauncher.environment)
    try await front(window)
    return program
  }

  func front(_ window: String) async throws {
    try await desktop.xdotool("search", "--sync", "--onlyvisible", "--name", window, "windowactivate", "--sync")
    try await eventually("\(window) is in front") {
      try await self.desktop.focusctl("get", "Window.Title").text.contains(window)
    }
  }

  /// Ends this bridge, and starts another, to which all windows are new.
  func startBridgeAgain() async throws {
    bridge.terminate()
    #expect(try await bridge.finish() == .status(0), "\(bridge.progress.now.errors.suffix(5))")
    let next = try await desktop.startMenus()
    started.update { $0 = next }
  }

  /// Runs a command as a user would, once the program enables it; again if it ends too late, though it may be done.
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
    try await eventually("'\(text)' in the file") { try await self.saved(file) == text }
  }

  /// Runs commands, of which one that ends too late may be done all the same, and saves.
  /// - Returns: what the file holds then; the program may save later.
  func saved(_ file: String, after commands: String...) async throws -> String {
    for command in commands + ["Document.Save"] { _ = try await desktop.focusctl("run", command) }
    return try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines)
  }
}

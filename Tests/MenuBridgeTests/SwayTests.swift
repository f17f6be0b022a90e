import BusSupport
import Foundation
import TestSupport
import Testing

/// Wayland, where no window tells where its menus are: the bridge finds them by the window's process.
@Suite(.serialized) struct SwayTests {
  private static let programs = ["/usr/bin/sway", "/usr/bin/mousepad", Products.windowBridge]
  private static var canRun: Bool { programs.allSatisfy(FileManager.default.isExecutableFile) }

  @Test(.enabled(if: canRun, "needs sway and mousepad, and as root setpriv: .ci/setup test"))
  func mousepadUndoesInSway() async throws {
    try await SwayStage.with { stage in
      let file = try stage.file("document")
      let program = try await stage.start(["/usr/bin/mousepad", file], ["NO_AT_BRIDGE": "1"])
      try await stage.saves(file, "two\n", after: "Menu.Activate", "win.edit.delete-line")
      try await stage.saves(file, "one\ntwo\n", after: "Edit.Undo")
      try await program.stop()
    }
  }

  /// Which of its windows is which, the program tells on the accessibility bus alone.
  @Test(
    .enabled(
      if: canRun && FileManager.default.isExecutableFile(atPath: RealStage.launcherPath),
      "needs sway, mousepad and at-spi2-core, and as root setpriv: .ci/setup test"))
  func twoWindowsOfOneProgram() async throws {
    try await SwayStage.with { stage in
      let launcher = try await stage.startAccessibility()
      let names = ["first", "second"]
      let files = try names.map { try stage.file($0) }
      let program = try await stage.start(["/usr/bin/mousepad", "--opening-mode=window"] + files)
      for (name, file) in zip(names, files) {
        try await stage.front(name)
        try await stage.saves(file, "two\n", after: "Menu.Activate", "win.edit.delete-line")
      }
      for (name, file) in zip(names, files).reversed() {
        try await stage.front(name)
        try await stage.saves(file, "one\ntwo\n", after: "Edit.Undo")
      }
      try await program.stop()
      try await launcher.end()
    }
  }
}

/// A session with sway, the daemon and both bridges.
private struct SwayStage {
  let desktop: TestDesktop
  let session: [String: String]
  private let socket: String

  /// Runs `body` with all of it; both bridges must live until the end.
  static func with(_ body: (SwayStage) async throws -> Void) async throws {
    try await TestDesktop.with { desktop in
      var template = Array("/tmp/focusd-sway.XXXXXX".utf8CString)
      _ = try #require(mkdtemp(&template))
      let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      defer { try? FileManager.default.removeItem(atPath: directory) }
      try "xwayland disable\n".write(toFile: directory + "/config", atomically: false, encoding: .utf8)
      chmod(directory + "/config", 0o644)
      // sway refuses to be root's.
      if geteuid() == 0 { #expect(chown(directory, 65534, 65534) == 0) }
      let unprivileged = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
      let session = [
        "XDG_RUNTIME_DIR": directory, "WAYLAND_DISPLAY": "wayland-1", "SWAYSOCK": directory + "/sway.sock",
        "WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman",
      ]
      let sway = try await desktop.start(
        (geteuid() == 0 ? unprivileged : []) + ["/usr/bin/sway", "-c", directory + "/config"], extra: session)
      let stage = SwayStage(desktop: desktop, session: session, socket: directory + "/sway.sock")
      try await eventually("sway") {
        guard sway.progress.now.exit == nil else { throw BridgeDied(said: sway.progress.now.errors) }
        return try await stage.command("-t", "get_version").succeeded
      }
      let windows = try await desktop.start([Products.windowBridge, "--address", desktop.bus.address], extra: session)
      let bridge = try await desktop.startMenus()
      try await body(stage)
      for process in [bridge, windows] {
        process.terminate()
        #expect(try await process.finish() == .status(0), "\(process.progress.now.errors.suffix(5))")
      }
      sway.terminate()
      try await sway.finish()
    }
  }

  /// A new file with two lines, whose name begins so.
  func file(_ name: String) throws -> String {
    let file = desktop.bus.directory + "/\(name).txt"
    try "one\ntwo\n".write(toFile: file, atomically: true, encoding: .utf8)
    return file
  }

  func start(_ arguments: [String], _ extra: [String: String] = [:]) async throws -> ManagedProcess {
    let environment = RealStage.environment.merging(["GDK_BACKEND": "wayland"]) { $1 }
    return try await desktop.start(
      arguments, extra: session.merging(environment) { $1 }.merging(extra) { $1 })
  }

  /// Starts what programs need for accessibility, and waits until it is there.
  func startAccessibility() async throws -> AccessibilityLauncher {
    try await AccessibilityLauncher(desktop, session.merging(RealStage.environment) { $1 })
  }

  private func command(_ arguments: String...) async throws -> CommandResult {
    try await desktop.run(["/usr/bin/swaymsg", "-s", socket] + arguments)
  }

  /// Brings a window to the front, whose title has `title` in it.
  func front(_ title: String) async throws {
    try await eventually("\(title) is in front") {
      _ = try await self.command("[title=\"\(title)\"]", "focus")
      return try await self.desktop.focusctl("get", "Window.Title").text.contains(title)
    }
  }

  /// Runs a command once the program in front has it, and saves until the file holds `text`.
  func saves(_ file: String, _ text: String, after command: String...) async throws {
    try await eventually("\(command)") { try await self.desktop.focusctl(["run"] + command).succeeded }
    try await eventually("'\(text)' in the file") {
      _ = try await self.desktop.focusctl("run", "Document.Save")
      return try String(contentsOfFile: file, encoding: .utf8) == text
    }
  }
}

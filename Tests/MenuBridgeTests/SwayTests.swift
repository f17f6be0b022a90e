import BusSupport
import Foundation
import TestSupport
import Testing

/// Wayland, where no window tells where its menus are: the bridge finds them by the window's process.
@Suite(.serialized) struct SwayTests {
  private static let canRun = SwaySession.canRun("mousepad", Products.windowBridge)

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
      if: canRun && SwaySession.canRun(AccessibilityLauncher.path),
      "needs sway, mousepad and at-spi2-core, and as root setpriv: .ci/setup test"))
  func twoWindowsOfOneProgram() async throws {
    try await SwayStage.with { stage in
      let launcher = try await stage.startAccessibility()
      let names = ["first", "second"]
      let files = try names.map { try stage.file($0) }
      let program = try await stage.start(["/usr/bin/mousepad", "--opening-mode=window"] + files)
      // Each window takes the focus when it comes.
      try await stage.front(names[1])
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
  let session: SwaySession

  /// Runs `body` with all of it; both bridges must live until the end.
  static func with(_ body: (SwayStage) async throws -> Void) async throws {
    try await TestDesktop.with { desktop in
      try await SwaySession.with(desktop) { session in
        let windows = try await desktop.start(
          [Products.windowBridge, "--address", desktop.bus.address], extra: session.environment)
        let bridge = try await desktop.startMenus()
        let stage = SwayStage(desktop: desktop, session: session)
        do {
          try await body(stage)
        } catch {
          let shown = try? await desktop.focusctl("list").text
          Issue.record("bridge \(bridge.progress.now.errors.suffix(20)); fields \(shown ?? ""); \(stage.texts)")
          throw error
        }
        for process in [bridge, windows] {
          process.terminate()
          #expect(try await process.finish() == .status(0), "\(process.progress.now.errors.suffix(5))")
        }
      }
    }
  }

  /// A new file with two lines, whose name begins so.
  func file(_ name: String) throws -> String {
    let file = desktop.bus.directory + "/\(name).txt"
    try "one\ntwo\n".write(toFile: file, atomically: true, encoding: .utf8)
    return file
  }

  /// What the files hold, by their names.
  private var texts: [String: String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: desktop.bus.directory)) ?? []
    let names = all.filter { $0.hasSuffix(".txt") }
    return Dictionary(
      uniqueKeysWithValues: names.map { name in
        (name, (try? String(contentsOfFile: desktop.bus.directory + "/" + name, encoding: .utf8)) ?? "")
      })
  }

  func start(_ arguments: [String], _ extra: [String: String] = [:]) async throws -> ManagedProcess {
    try await desktop.start(arguments, extra: session.accessible.merging(extra) { $1 })
  }

  /// Starts what programs need for accessibility, and waits until it is there.
  func startAccessibility() async throws -> AccessibilityLauncher {
    try await AccessibilityLauncher(desktop, session.accessible)
  }

  /// Brings a window to the front, whose title has `title` in it.
  func front(_ title: String) async throws {
    try await eventually("\(title) is in front") {
      _ = try await self.session.command("[title=\"\(title)\"]", "focus")
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

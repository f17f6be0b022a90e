import BusSupport
import Foundation
import TestSupport
import Testing

/// Wayland, where no window tells where its menus are: the bridge finds them by the window's process.
@Suite struct SwayTests {
  private static let programs = ["/usr/bin/sway", "/usr/bin/mousepad", Products.windowBridge]
  private static var canRun: Bool { programs.allSatisfy(FileManager.default.isExecutableFile) }

  @Test(.enabled(if: canRun, "needs sway and mousepad, and as root setpriv: .ci/setup test"))
  func mousepadUndoesInSway() async throws {
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
      try await eventually("sway") {
        guard sway.progress.now.exit == nil else { throw BridgeDied(said: sway.progress.now.errors) }
        return try await desktop.run(["/usr/bin/swaymsg", "-s", directory + "/sway.sock", "-t", "get_version"])
          .succeeded
      }
      let windows = try await desktop.start([Products.windowBridge, "--address", desktop.bus.address], extra: session)
      let bridge = try await desktop.startMenus()
      let file = desktop.bus.directory + "/document.txt"
      try "one\ntwo\n".write(toFile: file, atomically: true, encoding: .utf8)
      let environment = RealStage.environment.merging(["GDK_BACKEND": "wayland", "NO_AT_BRIDGE": "1"]) { $1 }
      let program = try await desktop.start(
        ["/usr/bin/mousepad", file], extra: session.merging(environment) { $1 })

      try await desktop.saves(file, "two\n", after: "Menu.Activate", "win.edit.delete-line")
      try await desktop.saves(file, "one\ntwo\n", after: "Edit.Undo")

      for process in [bridge, windows] {
        process.terminate()
        #expect(try await process.finish() == .status(0), "\(process.progress.now.errors.suffix(5))")
      }
      try await program.stop()
      sway.terminate()
      try await sway.finish()
    }
  }
}

extension TestDesktop {
  /// Runs a command once the program in front has it, and saves until the file holds `text`.
  fileprivate func saves(_ file: String, _ text: String, after command: String...) async throws {
    try await eventually("\(command)") { try await self.focusctl(["run"] + command).succeeded }
    try await eventually("'\(text)' in the file") {
      _ = try await self.focusctl("run", "Document.Save")
      return try String(contentsOfFile: file, encoding: .utf8) == text
    }
  }
}

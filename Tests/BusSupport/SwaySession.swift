internal import Foundation
package import TestSupport

/// sway without a screen, in a directory of its own; as nobody if the tests are root's, whose sway refuses to start.
package struct SwaySession: Sendable {
  package let desktop: TestDesktop
  package let directory: String
  /// Of sway itself.
  package var socket: String { directory + "/sway.sock" }
  /// Of programs that show windows in it.
  package var environment: [String: String] {
    ["XDG_RUNTIME_DIR": directory, "WAYLAND_DISPLAY": "wayland-1", "SWAYSOCK": socket]
  }
  /// The same, for accessible ones.
  package var accessible: [String: String] {
    environment.merging(AccessibilityLauncher.environment) { $1 }.merging(["GDK_BACKEND": "wayland"]) { $1 }
  }

  /// Whether sway and `programs` are here, and what starts them as nobody.
  package static func canRun(_ programs: String...) -> Bool {
    (["sway", "swaymsg", "setpriv"] + programs).allSatisfy {
      FileManager.default.isExecutableFile(atPath: $0.hasPrefix("/") ? $0 : "/usr/bin/" + $0)
    }
  }

  /// Runs `body` with sway, which must be there at the end.
  package static func with(
    _ desktop: TestDesktop, isolation: isolated (any Actor)? = #isolation,
    _ body: (SwaySession) async throws -> Void
  ) async throws {
    var template = Array("/tmp/focusd-sway.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw SwayGone(said: ["mkdtemp: " + String(cString: strerror(errno))])
    }
    let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try "xwayland disable\n".write(toFile: directory + "/config", atomically: false, encoding: .utf8)
    chmod(directory + "/config", 0o644)
    if geteuid() == 0 { chown(directory, 65534, 65534) }
    let session = SwaySession(desktop: desktop, directory: directory)
    let sway = try await session.startAsNobody(["/usr/bin/sway", "-c", directory + "/config"])
    try await eventually("sway") {
      guard sway.progress.now.exit == nil else { throw SwayGone(said: sway.progress.now.errors.suffix(5)) }
      return try await session.command("-t", "get_version").succeeded
    }
    try await body(session)
    // Asked to end it cleans up within the signal's handler, and may hang there.
    try await sway.stop()
  }

  /// Starts a program in the session, as nobody if the tests are root's.
  package func startAsNobody(_ arguments: [String]) async throws -> ManagedProcess {
    let nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    let headless = ["WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"]
    return try await desktop.start(
      (geteuid() == 0 ? nobody : []) + arguments,
      extra: environment.merging(headless) { $1 }.merging(["HOME": directory]) { $1 })
  }

  /// Runs `swaymsg`.
  package func command(_ arguments: String...) async throws -> CommandResult {
    try await desktop.run(["/usr/bin/swaymsg", "-s", socket] + arguments)
  }
}

private struct SwayGone: Error { let said: ArraySlice<String> }

import BusSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// Nothing of what the daemon holds in memory gets to a disk or to another process.
@Suite struct SecrecyTests {
  /// Processes of root without any capability are to each other what those of a user are.
  private static let asUser =
    geteuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"] : []

  @Test func anotherProcessOfTheUserSeesNothingOfItsMemory() async throws {
    try await TestDesktop.with(environment: ["FOCUSD_ALLOW_TRACING": "0"], prefix: Self.asUser, isServed: false) {
      desktop in
      func look() async throws -> CommandResult {
        try await desktop.run(Self.asUser + ["/usr/bin/head", "-c1", "/proc/\(desktop.daemon.processID)/environ"])
      }
      // What may be traced can be read: else the test would tell nothing.
      try await desktop.start(environment: ["FOCUSD_ALLOW_TRACING": "1"])
      #expect(try await look().succeeded)
      try await desktop.crash()
      let refused = try await look()
      #expect(!refused.succeeded && refused.errorText.contains("Permission denied"), "\(refused)")
    }
  }

  @Test func aCrashLeavesNoCore() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let prefix = ["/usr/bin/env", "--chdir", desktop.bus.directory, "/usr/bin/prlimit", "--core=unlimited"]
      try await desktop.start(environment: ["SWIFT_BACKTRACE": "enable=no"], prefix: prefix)
      let limits = try String(contentsOfFile: "/proc/\(desktop.daemon.processID)/limits", encoding: .utf8)
      let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
      #expect(core?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(core ?? "")")
      desktop.daemon.terminate(SIGSEGV)
      // A sanitizer reports the signal and ends the process itself.
      let end = try await desktop.ended()
      #expect(isSanitized || end == .signal(SIGSEGV))
      let left = try FileManager.default.contentsOfDirectory(atPath: desktop.bus.directory)
      #expect(!left.contains { $0.hasPrefix("core") }, "\(left)")
    }
  }
}

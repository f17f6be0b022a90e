import BusSupport
import DBus
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
    try await PrivateBus.with { bus in
      let environ = { (daemon: ManagedProcess) in "/proc/\(daemon.processID)/environ" }
      // What may be traced can be read: else the test would tell nothing.
      let open = try await Focus1.start(on: bus, extra: ["FOCUSD_ALLOW_TRACING": "1"], prefix: Self.asUser)
      #expect(try await bus.run(Self.asUser + ["/usr/bin/head", "-c1", environ(open)]).succeeded)
      try await open.stop()

      let daemon = try await Focus1.start(on: bus, extra: ["FOCUSD_ALLOW_TRACING": "0"], prefix: Self.asUser)
      let refused = try await bus.run(Self.asUser + ["/usr/bin/head", "-c1", environ(daemon)])
      #expect(!refused.succeeded && refused.errorText.contains("Permission denied"), "\(refused)")
      try await daemon.stop()
    }
  }

  @Test func aCrashLeavesNoCore() async throws {
    try await PrivateBus.with { bus in
      let prefix = ["/usr/bin/env", "--chdir", bus.directory, "/usr/bin/prlimit", "--core=unlimited"]
      let daemon = try await Focus1.start(on: bus, extra: ["SWIFT_BACKTRACE": "enable=no"], prefix: prefix)
      let limits = try String(contentsOfFile: "/proc/\(daemon.processID)/limits", encoding: .utf8)
      let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
      #expect(core?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(core ?? "")")
      daemon.terminate(SIGSEGV)
      // A sanitizer reports the signal and ends the process itself.
      let end = try await daemon.finish()
      #expect(isSanitized || end == .signal(SIGSEGV))
      let left = try FileManager.default.contentsOfDirectory(atPath: bus.directory)
      #expect(!left.contains { $0.hasPrefix("core") }, "\(left)")
    }
  }
}

import BusSupport
import DBusTypes
import Glibc
import TestSupport
import Testing

/// Programs in sandboxes, where processes have other numbers.
@Suite struct SandboxTests {
  @Test(.enabled(if: SandboxedProgram.canRun, "needs root for a process namespace"))
  func noSandboxedProgramKeepsTheBridgeOutOfAnother() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(entry: "abc")
      // The stub is in the process of the tests.
      let sandboxed = try await SandboxedProgram(on: desktop.desktop, holding: "sandboxed", claiming: getpid())
      // The bridge is told of the field, and asks the bus whose it is.
      for _ in 0..<3 { try await desktop.session.settle("org.focusd.Bridge1.Accessibility") }
      program.set("/other", .entry("other"))
      program.focus("/other")
      try await desktop.waits(for: "Text.Content", .string("other"))
      withExtendedLifetime(sandboxed) {}
    }
  }
}

import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// Programs in sandboxes, where processes have other numbers.
@Suite struct SandboxTests {
  @Test(.enabled(if: SandboxedProgram.canRun, "needs root for a process namespace"))
  func whatASandboxedProgramSaysOfItsProcessDoesNotCount() async throws {
    try await TestDesktop.with { desktop in
      let stub = StubManager(in: desktop.bus.directory)
      let bridge = try await desktop.windowBridge(stub)
      let peer = try await desktop.peer()
      let sandboxed = try await SandboxedProgram(on: desktop, holding: "sandboxed", claiming: getpid())
      stub.set(8, .init(title: "sandboxed", process: Int(sandboxed.process)))
      stub.set(9, .init(title: "claimed", process: Int(getpid())))
      try await eventually("in its own window") { try await peer.parent(of: "sandboxed") == "w8" }

      // The connections of a process for which a free one speaks are in its windows.
      let (free, program) = (try await desktop.peer(), try await desktop.witness())
      guard
        case .uint32(let process)? = try await peer.askBus(
          "GetConnectionUnixProcessID", [.string(program.uniqueName)]
        ).first
      else { throw UnexpectedReply(reply: []) }
      stub.set(10, .init(title: "free", process: Int(process)))
      try await free.register("free", process: Int(process))
      try await eventually("in the window of whom it speaks for") { try await peer.parent(of: "free") == "w10" }
      try await eventually("the connection of that process too") {
        try await peer.adopted(by: "w10") == [free.name, program.uniqueName]
      }
      try await peer.settle(TestDesktop.bridge)
      #expect(try await peer.adopted(by: "w9").isEmpty)
      withExtendedLifetime((bridge, sandboxed)) {}
    }
  }
}

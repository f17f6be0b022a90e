import BusSupport
import TestSupport
import Testing

/// What the bridge has the bus send to it.
@Suite struct ListeningTests {
  @Test func aWindowThatIsGoneIsNotHeard() async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      let monitor = try await stage.desktop.start(
        ["/usr/bin/dbus-monitor", "--address", stage.desktop.bus.address])
      try await monitor.line("monitor")
      try await stage.windows.field("w1", "Unregister")
      _ = try await monitor.progress.wait(for: "the end of the rule") { progress in
        zip(progress.output, progress.output.dropFirst()).contains { call, rule in
          call.contains("member=RemoveMatch") && rule.contains("'\(program.peer.name)'")
            && rule.contains("'org.gtk.Actions'")
        } ? () : nil
      }
      try await monitor.stop()
    }
  }
}

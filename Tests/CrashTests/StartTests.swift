import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// What the daemon sets up when it starts.
@Suite struct StartTests {
  /// Calls that wait may bring hundreds of descriptors.
  @Test func itMayHaveAsManyDescriptorsAsTheSystemAllows() async throws {
    try await TestDesktop.with(prefix: ["/usr/bin/prlimit", "--nofile=256:2048"]) { desktop in
      let limits = try String(contentsOfFile: "/proc/\(desktop.daemon.processID)/limits", encoding: .utf8)
      let files = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
      #expect(files.split(separator: " ").dropFirst(3).prefix(2) == ["2048", "2048"], "\(files)")
    }
  }

  /// Who owns a bridge's name that was there before is asked for when it matters, and not at all for the first of several.
  @Test func bridgesThatWereThereBeforeAreKnown() async throws {
    try await TestDesktop.with { desktop in
      let (crowd, bridge) = (try await desktop.peer(), try await desktop.peer())
      for number in 0..<200 { try await crowd.own("org.focusd.Bridge1.N\(number)") }
      try await bridge.own("org.focusd.Bridge1.Test")
      let program = Exported(try await desktop.peer(), Self.xml)
      try await desktop.crash()
      let service: Named = [("service", .string(program.owner.name))]
      let stranger = try await desktop.peer()
      #expect(
        try await refusal { try await stranger.register("a", object: program.path, service) } == "AccessDenied")
      try await bridge.register("b", object: program.path, service)
      #expect(try await stranger.fields() == ["b"])
      // A name that comes and goes counts as long as it is there.
      try await stranger.own("org.focusd.Bridge1.Late")
      try await stranger.register("c", object: program.path, service)
      try await stranger.askBus("ReleaseName", [.string("org.focusd.Bridge1.Late")])
      #expect(
        try await refusal { try await stranger.register("d", object: program.path, service) } == "AccessDenied")
      for number in 0..<199 { try await crowd.askBus("ReleaseName", [.string("org.focusd.Bridge1.N\(number)")]) }
      try await crowd.register("e", object: program.path, service)
      try await crowd.askBus("ReleaseName", [.string("org.focusd.Bridge1.N199")])
      #expect(try await refusal { try await crowd.register("f", object: program.path, service) } == "AccessDenied")
    }
  }

  private static let xml = "<node><interface name='demo.I'><method name='Act'/></interface></node>"
}

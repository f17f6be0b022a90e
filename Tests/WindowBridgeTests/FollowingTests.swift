import BusSupport
import Foundation
import TestSupport
import Testing

/// The bridge as a service, which waits for a desktop, with window managers that the test plays.
@Suite struct FollowingTests {
  /// A window manager whose socket has the name that sway gives it.
  private static func sway(_ number: Int, _ desktop: TestDesktop) -> StubManager {
    StubManager(
      in: desktop.bus.directory, name: "sway-ipc.0.\(number).sock",
      .init(views: [number: .init(title: "\(number)", process: 4000 + number)], front: number))
  }

  private static func service(
    _ desktop: TestDesktop, _ arguments: [String] = [], _ environment: [String: String] = [:]
  ) async throws -> ManagedProcess {
    let directory = desktop.bus.directory
    let service = ["NOTIFY_SOCKET": directory + "/nobody", "XDG_RUNTIME_DIR": directory]
    return try await desktop.windowBridge(arguments, service.merging(environment) { $1 })
  }

  @Test func aSocketThatAppearsIsFollowedAndSoIsTheNext() async throws {
    try await TestDesktop.with { desktop in
      let (bridge, peer) = (try await Self.service(desktop), try await desktop.peer())
      try await bridge.says("Waiting for a desktop")
      let first = Self.sway(5, desktop)
      try await peer.reached(["w5"])
      first.end()
      let second = Self.sway(6, desktop)
      try await peer.reached(["w6"])
      #expect(try await peer.fields() == ["w6"])
      // One that comes later hides no other.
      let third = Self.sway(7, desktop)
      second.set(6, .init(title: "still", process: 4006))
      _ = try await peer.window("still")
      #expect(third.state.now.connections == 0)
      bridge.terminate()
      #expect(try await bridge.finish() == .status(0))
      withExtendedLifetime((first, second, third)) {}
    }
  }

  @Test func withoutAUserManagerTheProcessesOwnVariablesCount() async throws {
    try await TestDesktop.with { desktop in
      let (peer, named) = (try await desktop.peer(), StubManager(in: desktop.bus.directory))
      named.state.update { state in
        state.views = [8: .init(title: "eight", process: 4008)]
        state.front = 8
      }
      let bridge = try await Self.service(desktop, [], ["SWAYSOCK": named.path])
      try await peer.reached(["w8"])
      // One that restarts has its windows again, and meanwhile they stay.
      named.breakOff()
      try await eventually("it is back") { named.state.now.connections == 2 }
      #expect(try await peer.fields() == ["w8"])
      withExtendedLifetime(bridge) {}
    }
  }

  @Test func onlyTheOneThatIsAskedForIsFollowed() async throws {
    try await TestDesktop.with { desktop in
      let stub = Self.sway(5, desktop)
      let bridge = try await Self.service(desktop, ["--source", "niri"])
      try await bridge.says("Waiting for a desktop: the environment does not name the socket or the display of niri")
      #expect(stub.state.now.connections == 0)
      withExtendedLifetime(bridge) {}
    }
  }
}

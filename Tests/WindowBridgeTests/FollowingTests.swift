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

  /// What accepts connections at a socket, says so, and closes them.
  private static func listener(_ path: String) -> [String] {
    [
      "/usr/bin/python3", "-c",
      "import socket; s = socket.socket(socket.AF_UNIX); s.bind('\(path)'); s.listen(); print('ready', flush=True)\n"
        + "while True: s.accept(); print('asked', flush=True)",
    ]
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

  /// sway, in a window of a compositor that has no socket but Wayland's.
  @Test func aCompositorWithinAnotherIsNotFollowed() async throws {
    try await TestDesktop.with { desktop in
      let (fake, peer) = (FakeCompositor(in: desktop.bus.directory, .wlr), try await desktop.peer())
      fake.state.update { state in
        state.views = [1: .init(title: "outer")]
        state.front = 1
      }
      let bridge = try await Self.service(desktop, [], ["WAYLAND_DISPLAY": fake.path])
      _ = try await peer.window("outer")
      let listener = try await desktop.start(Self.listener(desktop.bus.directory + "/sway-ipc.0.9.sock"))
      // The bridge looks whether somebody listens there.
      _ = try await listener.line { $0 == "asked" }
      fake.set(1, .init(title: "still"))
      _ = try await peer.window("still")
      #expect(!bridge.progress.now.errors.contains { $0.contains("a socket of its own") })
      try await listener.stop()
      // The same compositor's own.
      let own = StubManager(
        in: desktop.bus.directory, name: "sway-ipc.0.10.sock",
        .init(views: [5: .init(title: "own", process: 4005)], front: 5))
      try await peer.reached(["w5"])
      withExtendedLifetime((bridge, own)) {}
    }
  }

  @Test func ofTwoCompositorsTheOneThatAVariableNamesIsFollowed() async throws {
    try await TestDesktop.with { desktop in
      let (peer, names) = (try await desktop.peer(), ["wayland-0", "wayland-1"])
      let compositors = names.map { FakeCompositor(in: desktop.bus.directory, name: $0, .wlr) }
      for (name, compositor) in zip(names, compositors) {
        compositor.state.update { ($0.views, $0.front) = ([1: .init(title: name)], 1) }
      }
      let bridge = try await Self.service(desktop, [], ["WAYLAND_DISPLAY": names[1]])
      _ = try await peer.window(names[1])
      #expect(Array(try await peer.windows().keys) == [names[1]])
      withExtendedLifetime((bridge, compositors)) {}
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
      let start = SuspendingClock.now
      named.breakOff()
      try await eventually("it is back") { named.state.now.connections == 2 }
      let fields = try await peer.fields()
      // On a slow machine it is waited for no longer.
      #expect(fields == ["w8"] || SuspendingClock.now - start > .seconds(3), "\(fields)")
      try await peer.reached(["w8"])
      withExtendedLifetime(bridge) {}
    }
  }

  /// As at a greeter; the next login imports the variables of the one before, so that nothing changes.
  @Test func aDisplayThatRefusedIsAskedAgainOnceAProgramHasLeftTheBus() async throws {
    try await TestDesktop.with { desktop in
      let display = ":\(Int.random(in: 10_000..<50_000))"
      // Abstract, as X servers' first: Python's own escape.
      let server = try await desktop.start(Self.listener("\\0/tmp/.X11-unix/X\(display.dropFirst())"))
      _ = try await server.line { $0 == "ready" }
      func asked(_ count: Int) async throws {
        try await eventually("asked \(count) times") { server.progress.now.output.count { $0 == "asked" } >= count }
      }
      let bridge = try await Self.service(desktop, [], ["DISPLAY": display])
      // At once, and after each of the delays.
      try await asked(8)
      for count in 9...10 {
        try await desktop.peer().leave()
        try await asked(count)
      }
      withExtendedLifetime(bridge) {}
    }
  }

  /// As when an X server ends while it is written to.
  @Test func aPipeThatNobodyReadsEndsNothing() async throws {
    try await TestDesktop.with { desktop in
      let (peer, stub) = (try await desktop.peer(), Self.sway(5, desktop))
      let words = [
        "/bin/bash", "-c", #"exec 3> >(:); wait $!; exec "$0" "$@" 2>&3"#,
        Products.windowBridge, "--verbose", "--address", desktop.bus.address,
      ]
      let bridge = try await desktop.start(words, extra: ["SWAYSOCK": stub.path])
      try await peer.reached(["w5"])
      withExtendedLifetime((bridge, stub)) {}
    }
  }

  @Test func aSocketThatWasLeftBehindHidesNoReason() async throws {
    try await TestDesktop.with { desktop in
      let compositor = FakeCompositor(in: desktop.bus.directory, .none)
      let path = desktop.bus.directory + "/sway-ipc.0.9.sock"
      let left = try await desktop.run(
        ["/usr/bin/python3", "-c", "import socket; socket.socket(socket.AF_UNIX).bind('\(path)')"])
      #expect(left.succeeded, "\(left)")
      let bridge = try await Self.service(desktop, [], ["WAYLAND_DISPLAY": compositor.path, "SWAYSOCK": path])
      try await bridge.says("Waiting for a desktop: the Wayland compositor does not tell other programs which window")
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

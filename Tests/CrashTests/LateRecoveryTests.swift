import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// The state file can be opened only when the daemon serves already: it goes on serving, and nothing is lost or left.
@Suite struct LateRecoveryTests {
  /// An invalid place for the state, until it is linked to the state of another daemon.
  private struct Place {
    let path: String
    let desktop: TestDesktop

    init(on desktop: TestDesktop) throws {
      self.desktop = desktop
      path = desktop.bus.directory + "/place"
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: desktop.bus.directory + "/nowhere")
    }

    /// In one step: the daemon may try at any moment.
    func open() throws {
      let (new, state) = (path + ".new", desktop.stateHome)
      try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(atPath: new, withDestinationPath: state)
      guard rename(new, path) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }

    /// Has the daemon want a change to be saved, which it refuses, and tries the file again from then on.
    func ask(_ client: Peer) async throws {
      #expect(try await refusal { try await client.register("refused") } == "IOError")
    }
  }

  /// How one that leaves has registered.
  enum Registrant: CaseIterable, CustomTestStringConvertible {
    case stored, bound, lingering

    var testDescription: String { "a \(self) field" }

    func registration(_ id: String) -> DaemonCall {
      switch self {
      case .stored: .register(id)
      case .bound: .register(id, object: "/object")
      case .lingering: .register(id, [], [("linger", .boolean(true))])
      }
    }
  }

  @Test("Departures wait in line with the calls before them", arguments: Registrant.allCases)
  func departuresWaitInLine(_ registrant: Registrant) async throws {
    try await TestDesktop.with { desktop in
      let owner = try await BoundOwner(on: desktop)
      try await desktop.kill()
      let place = try Place(on: desktop)
      try await desktop.start(environment: ["XDG_STATE_HOME": place.path])
      let (judge, leaver) = (try await desktop.peer(), try await desktop.peer())
      owner.fallSilent()
      try await place.ask(judge)
      try place.open()
      // While its object is asked for, everything else is held.
      _ = try await owner.object.state.wait(for: "question to the owner") { $0.calls.isEmpty ? nil : true }
      leaver.begin(registrant.registration("stray"))
      try await leaver.flush()
      try await leaver.leave()
      try await judge.waitForDeparture(of: leaver.name)
      owner.answerAgain()
      let left = registrant == .lingering ? ["stray": ""] : [:]
      #expect(try await judge.owners() == left.merging([BoundOwner.id: owner.object.owner.name]) { $1 })
      // Nor is the id kept for anyone.
      if registrant != .lingering { try await judge.register("stray") }
      let slider = Focus1.field(BoundOwner.id)
      try await judge.restored(BoundOwner.levelKey, at: slider)
      #expect(try await judge.read(BoundOwner.levelKey, at: slider).value == .int32(1))
    }
  }

  @Test func whatTwoClientsWriteMeanwhileIsToldAsTwoChanges() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await BoundOwner(on: desktop)
      try await desktop.peer().register("form", [("demo.Form.Number", .int32(0))], [("linger", .boolean(true))])
      try await desktop.kill()
      let place = try Place(on: desktop)
      try await desktop.start(environment: ["XDG_STATE_HOME": place.path])
      let (judge, other) = (try await desktop.peer(), try await desktop.peer())
      try await judge.subscribe()
      owner.fallSilent()
      try await place.ask(judge)
      try place.open()
      _ = try await owner.object.state.wait(for: "question to the owner") { $0.calls.isEmpty ? nil : true }
      let form = Focus1.field("form")
      let first = judge.begin(.set("demo.Form.Number", .int32(1), at: form))
      // The bus has passed it on when it answers.
      try await judge.askBus("GetId", [])
      let second = other.begin(.set("demo.Form.Number", .int32(2), at: form))
      try await other.flush()
      owner.answerAgain()
      for write in [first, second] { try await write.values() }
      let told = try await judge.signals("both changes") { signals -> [DBusValue?]? in
        let told = signals.values(of: "demo.Form.Number", at: form)
        return told.last == .int32(2) ? told : nil
      }
      #expect(told == [.int32(1), .int32(2)])
    }
  }

  @Test("Calls with file descriptors past the limit are refused while it lasts, and no others")
  func descriptorsThatWait() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await BoundOwner(on: desktop)
      try await desktop.kill()
      let place = try Place(on: desktop)
      try await desktop.start(environment: ["XDG_STATE_HOME": place.path])
      let client = try await desktop.peer()
      owner.fallSilent()
      try await place.ask(client)
      try place.open()
      _ = try await owner.object.state.wait(for: "question to the owner") { $0.calls.isEmpty ? nil : true }
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      let pipe = ends.map { UnixFD(owning: $0) }
      let many = Array(repeating: DBusValue.unixFD(pipe[0]), count: 16)
      let calls = (0..<40).map { _ in client.begin(DaemonCall(Focus1.focused, "demo.No", "Such", many)) }
      let other = client.begin(.get("demo.No.Such"))
      var refused = 0
      for call in calls where try await call.refusal() == "LimitsExceeded" { refused += 1 }
      // On a slow machine it is over before.
      #expect(refused <= 8)
      #expect(try await other.refusal() == "NotFocused")
      owner.answerAgain()
    }
  }

  /// The bus stands still when the daemon tries the file again: it waits for the bus no more than for anyone else.
  @Test(.disabled(if: PrivateBus.isBroker, "only dbus-daemon can be stopped from here"))
  func aBusThatStandsStillStopsNothing() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let manager = try NotifySocket(path: desktop.bus.directory + "/notify")
      let place = try Place(on: desktop)
      try await desktop.start(
        environment: [
          "XDG_STATE_HOME": place.path, "NOTIFY_SOCKET": desktop.bus.directory + "/notify", "WATCHDOG_USEC": "200000",
        ])
      let client = try await desktop.peer()
      try await place.ask(client)
      desktop.bus.pause()
      defer { desktop.bus.resume() }
      // It sends ten before it tries.
      let enough = manager.told.now.count + 13
      _ = try await manager.told.wait(for: "signs of life", within: .seconds(22)) { $0.count >= enough ? true : nil }
      desktop.bus.resume()
      try place.open()
      try await desktop.said("can be saved again")
      try await client.register("a")
      manager.close()
    }
  }
}

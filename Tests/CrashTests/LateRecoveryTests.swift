import BusSupport
import DBus
import DBusTypes
import Foundation
import TestSupport
import Testing

/// The state file can be opened only when the daemon serves already: it goes on serving, and nothing is lost or left.
@Suite struct LateRecoveryTests {
  /// An invalid place for the state, until it is linked to the state of another daemon.
  private struct Place {
    let path: String
    let bus: PrivateBus

    init(on bus: PrivateBus) throws {
      self.bus = bus
      path = bus.directory + "/place"
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: bus.directory + "/nowhere")
    }

    /// In one step: the daemon may try at any moment.
    func open() throws {
      let (new, state) = (path + ".new", bus.directory + "/state")
      try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(atPath: new, withDestinationPath: state)
      guard rename(new, path) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }

    /// Has the daemon want a change to be saved, which it refuses, and tries the file again from then on.
    func ask(_ client: Caller) throws {
      do {
        try client.register("refused")
        Issue.record("there is a state file already")
      } catch let error as CallError {
        #expect(error.name == "org.freedesktop.DBus.Error.IOError")
      }
    }
  }

  /// How one that leaves has registered.
  enum Registrant: CaseIterable, CustomTestStringConvertible {
    case stored, bound, lingering

    var testDescription: String { "a \(self) field" }

    func options() throws -> [(name: String, value: DBusValue)] {
      switch self {
      case .stored: []
      case .bound: [(name: "object", value: .objectPath(try ObjectPath("/object")))]
      case .lingering: [(name: "linger", value: .boolean(true))]
      }
    }
  }

  @Test("Departures wait in line with the calls before them", arguments: Registrant.allCases)
  func departuresWaitInLine(_ registrant: Registrant) async throws {
    try await PrivateBus.with { bus in
      var daemon = try await Focus1.start(on: bus)
      let owner = try await BoundOwner(on: bus)
      try await daemon.stop()
      let place = try Place(on: bus)
      daemon = try await Focus1.start(on: bus, extra: ["XDG_STATE_HOME": place.path])
      let judge = try Caller(on: bus)
      owner.fallSilent()
      try await onThread { try place.ask(judge) }
      try place.open()
      // While its object is asked for, everything else is held.
      _ = try await owner.unanswered.wait(for: "question to the owner") { $0 > 0 ? true : nil }
      try await onThread {
        let name = try Self.registerAndLeave("stray", registrant, on: bus)
        try judge.waitForDeparture(of: name)
      }
      try owner.answerAgain(with: judge)
      try await onThread { () throws in
        let left = registrant == .lingering ? ["stray": ""] : [:]
        #expect(try judge.owners() == left.merging([BoundOwner.id: owner.busName]) { $1 })
        // Nor is the id kept for anyone.
        if registrant != .lingering { try judge.register("stray") }
        #expect(try judge.read(BoundOwner.levelKey, at: Focus1.field(BoundOwner.id)).value == .int32(1))
      }
      try await owner.stop(with: judge)
      try await daemon.stop()
    }
  }

  /// - Returns: the name of who has left.
  private static func registerAndLeave(_ id: String, _ registrant: Registrant, on bus: PrivateBus) throws -> String {
    let leaver = try Caller(on: bus)
    try leaver.send(
      try Caller.message(
        Focus1.manager, Focus1.managerInterface, "Register",
        [.string(id), .properties([]), .properties(try registrant.options())]))
    leaver.flush()
    return leaver.name
  }

  /// The bus stands still when the daemon tries the file again: it waits for the bus no more than for anyone else.
  @Test(.disabled(if: PrivateBus.isBroker, "only dbus-daemon can be stopped from here"))
  func aBusThatStandsStillStopsNothing() async throws {
    try await PrivateBus.with { bus in
      let manager = try NotifySocket(path: bus.directory + "/notify")
      let place = try Place(on: bus)
      let daemon = try await Focus1.start(
        on: bus,
        extra: [
          "XDG_STATE_HOME": place.path, "NOTIFY_SOCKET": bus.directory + "/notify", "WATCHDOG_USEC": "200000",
        ])
      let client = try Caller(on: bus)
      try await onThread { try place.ask(client) }
      bus.pause()
      defer { bus.resume() }
      // Three times as many as it sends before it tries.
      let enough = manager.told.now.count + 30
      _ = try await manager.told.wait(for: "signs of life", within: .seconds(15)) { $0.count >= enough ? true : nil }
      bus.resume()
      try place.open()
      _ = try await daemon.progress.wait(for: "recovery") { progress in
        progress.errors.first { $0.contains("can be saved again") }
      }
      try await onThread { try client.register("a") }
      try await daemon.stop()
      manager.close()
    }
  }
}

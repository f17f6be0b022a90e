import BusSupport
import DBusTypes
import Glibc
import TestSupport
import Testing

/// Owners that leave while their objects are looked at: nothing remains of them.
@Suite struct LeavingTests {
  private static let moments: [Liar.Lie] =
    ["Introspect", "GetAll", "Get", "Set", "Do"].flatMap { [.leaves(at: $0), .leavesAfter($0)] }

  /// What others see of it is gone: fields, ids, focus, and what the bus passes on to the daemon.
  private static func nothingRemains(of names: [String], _ judge: Peer, since rules: [String]?) async throws {
    for name in names { try await judge.waitForDeparture(of: name) }
    #expect(try await judge.owners() == [:])
    #expect(try await judge.fields("FocusPath") == [])
    #expect(try await judge.fields("History") == [])
    for id in ["leaver", "f0"] {
      try await judge.register(id)
      try await judge.field(id, "Unregister")
    }
    // An answer of the bus may be under way still.
    try await eventually("the bus has the rules that it had") { try await matchRules(judge) == rules }
  }

  /// The daemon's match rules as the bus tells them; nil for dbus-broker, which does not.
  private static func matchRules(_ judge: Peer) async throws -> [String]? {
    guard !PrivateBus.isBroker else { return nil }
    let name = try await judge.askBus("GetNameOwner", [.string(Focus1.name)]).first
    let answer = try await judge.askBus("GetAllMatchRules", of: "org.freedesktop.DBus.Debug.Stats").first
    guard case .dictionary(let all)? = answer,
      case .array(let rules)? = all.entries.first(where: { $0.key == name })?.value
    else { return [] }
    return rules.compactMap(\.basicText).sorted()
  }

  @Test("Who leaves while its object is asked", arguments: moments)
  func leavesWhenAsked(_ moment: Liar.Lie) async throws {
    try await TestDesktop.with { desktop in
      let judge = try await desktop.peer()
      let rules = try await Self.matchRules(judge)
      let liar = try await Liar(on: desktop, telling: moment)
      let outcome = try await liar.register("leaver", [("focus", .boolean(true))])
      // Where it is there still, it is asked for all that makes it leave.
      let path = Focus1.field("leaver")
      for call in [.write(Liar.key, .int32(3), at: path), DaemonCall(path, "demo.Liar", "Do")]
      where outcome == .registered {
        _ = try? await judge.call(call)
      }
      try await Self.nothingRemains(of: [liar.name], judge, since: rules)
    }
  }

  /// The daemon finds the call and the departure in one reading: the caller has left before the bus is asked anything.
  @Test func whoLeavesBeforeTheMatchIsTaken() async throws {
    try await TestDesktop.with { desktop in
      let judge = try await desktop.peer()
      let rules = try await Self.matchRules(judge)
      for round in 0..<10 {
        let liars = [try await Liar(on: desktop, telling: nil), try await Liar(on: desktop, telling: nil)]
        desktop.daemon.terminate(SIGSTOP)
        for (number, liar) in liars.enumerated() {
          // Two fields of one object wait for one answer of the bus.
          for id in ["leaver", "other"] { _ = liar.beginRegister(round % 2 == 0 ? id : "\(id)\(number)") }
          try await liar.leave()
        }
        for liar in liars { try await judge.waitForDeparture(of: liar.name) }
        desktop.daemon.terminate(SIGCONT)
        try await Self.nothingRemains(of: liars.map(\.name), judge, since: rules)
      }
    }
  }

  /// Whatever is counted of an owner goes with it.
  @Test func manyThatLeave() async throws {
    try await TestDesktop.with { desktop in
      let judge = try await desktop.peer()
      let rules = try await Self.matchRules(judge)
      let count = isSlow ? 500 : 50
      try await desktop.daemon.needsNoMore("\(count) owners that leave while they are looked at") {
        for number in 0..<count {
          let liar = try await Liar(on: desktop, telling: Self.moments[number % 4])
          for field in 0..<16 { _ = liar.beginRegister("f\(field)") }
          try await liar.asked()
          try await liar.leave()
          try await judge.waitForDeparture(of: liar.name)
        }
        try await Self.nothingRemains(of: [], judge, since: rules)
      }
    }
  }
}

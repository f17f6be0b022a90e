import BusSupport
import DBus
import DBusTypes
import Glibc
import TestSupport
import Testing

/// Owners that leave while their objects are looked at: nothing remains of them.
@Suite struct LeavingTests {
  private static let moments: [Liar.Lie] =
    ["Introspect", "GetAll", "Get", "Set", "Do"].flatMap { [.leaves(at: $0), .leavesAfter($0)] }

  /// What others see of it is gone: fields, ids, focus, and what the bus passes on to the daemon.
  private static func nothingRemains(of names: [String], _ judge: Caller, since rules: [String]?) throws {
    for name in names { try judge.waitForDeparture(of: name) }
    #expect(try judge.owners() == [:])
    #expect(try judge.fields("FocusPath") == [])
    #expect(try judge.fields("History") == [])
    for id in ["leaver", "f0"] {
      try judge.register(id)
      try judge.field(id, "Unregister")
    }
    // An answer of the bus may be under way still.
    let deadline = SuspendingClock.now + .seconds(60)
    while let now = try matchRules(judge), now != rules {
      try #require(SuspendingClock.now < deadline, "the bus has the rules \(now)")
    }
  }

  /// The daemon's match rules as the bus tells them; nil for dbus-broker, which does not.
  private static func matchRules(_ judge: Caller) throws -> [String]? {
    guard !PrivateBus.isBroker else { return nil }
    let name = try judge.askBus("GetNameOwner", [.string(Focus1.name)]).first
    let answer = try judge.askBus("GetAllMatchRules", of: "org.freedesktop.DBus.Debug.Stats").first
    guard case .dictionary(let all)? = answer,
      case .array(let rules)? = all.entries.first(where: { $0.key == name })?.value
    else { return [] }
    return rules.compactMap(\.basicText).sorted()
  }

  @Test("Who leaves while its object is asked", arguments: moments)
  func leavesWhenAsked(_ moment: Liar.Lie) async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus)
      let judge = try Caller(on: bus)
      let rules = try await onThread { try Self.matchRules(judge) }
      let liar = try await Liar(on: bus, telling: moment)
      let outcome = try await liar.register("leaver", [(name: "focus", value: .boolean(true))])
      try await onThread {
        // Where it is there still, it is asked for all that makes it leave.
        for (interface, member, arguments) in [
          (Focus1.bindings, "Write", [.string(Liar.key), .variant(.int32(3)), .properties([])]),
          ("demo.Liar", "Do", []),
        ] as [(String, String, [DBusValue])] where outcome == .registered {
          _ = try? judge.call(Focus1.field("leaver"), interface, member, arguments)
        }
        try Self.nothingRemains(of: [liar.name], judge, since: rules)
      }
      try await daemon.stop()
    }
  }

  /// The daemon finds the call and the departure in one reading: the caller has left before the bus is asked anything.
  @Test func whoLeavesBeforeTheMatchIsTaken() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus)
      let judge = try Caller(on: bus)
      let rules = try await onThread { try Self.matchRules(judge) }
      for round in 0..<10 {
        let liars = [try await Liar(on: bus, telling: nil), try await Liar(on: bus, telling: nil)]
        daemon.terminate(SIGSTOP)
        for (number, liar) in liars.enumerated() {
          // Two fields of one object wait for one answer of the bus.
          for id in ["leaver", "other"] { _ = liar.beginRegister(round % 2 == 0 ? id : "\(id)\(number)") }
          try await liar.leave()
        }
        try await onThread { for liar in liars { try judge.waitForDeparture(of: liar.name) } }
        daemon.terminate(SIGCONT)
        try await onThread { try Self.nothingRemains(of: liars.map(\.name), judge, since: rules) }
      }
      try await daemon.stop()
    }
  }

  /// Whatever is counted of an owner goes with it.
  @Test func manyThatLeave() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus)
      let judge = try Caller(on: bus)
      let rules = try await onThread { try Self.matchRules(judge) }
      let count = isSlow ? 500 : 50
      try await daemon.needsNoMore("\(count) owners that leave while they are looked at") {
        for number in 0..<count {
          let liar = try await Liar(on: bus, telling: Self.moments[number % 4])
          for field in 0..<16 { _ = liar.beginRegister("f\(field)") }
          _ = try await liar.calls.wait(for: "question to the liar") { $0.isEmpty ? nil : true }
          try await liar.leave()
          try await onThread { try judge.waitForDeparture(of: liar.name) }
        }
        try await onThread { try Self.nothingRemains(of: [], judge, since: rules) }
      }
      try await daemon.stop()
    }
  }
}

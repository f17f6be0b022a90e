import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Owners whose objects lie: whoever else is there is served as if they were not.
@Suite(.serialized) struct LiarTests {
  /// An honest owner's field.
  private static let honest = "honest"

  @Test("Others are served while an owner lies, and nothing is left of it", arguments: Liar.Lie.all)
  func lie(_ lie: Liar.Lie) async throws {
    try await TestDesktop.with(prefix: TestDesktop.journaled) { desktop in
      let judge = try await desktop.peer()
      let honest = try await Liar(on: desktop, telling: nil)
      #expect(try await honest.register(Self.honest) == .registered)
      try await desktop.daemon.needsNoMore(times: 1, "\(lie)") {
        let liar = try await Liar(on: desktop, telling: lie)
        let start = SuspendingClock.now
        let registration = liar.beginRegister("liar", [("focus", .boolean(true))])
        try await liar.asked()
        try await Self.othersAreServed(judge)
        // On a slow machine the answer comes when the daemon does not wait any more.
        let isLate = lie == .answersLate && SuspendingClock.now - start > .seconds(4)
        liar.answer()
        let outcome = try await Liar.outcome(of: registration)
        #expect(Self.isExpected(outcome, of: lie) || (isLate && outcome == .refused("Timeout")), "\(outcome)")
        liar.tellChanges()
        try await Self.othersAreServed(judge)
        try await Self.everyCallIsAnswered(judge)
        try await Self.othersAreServed(judge)
        try await liar.leave()
        try await judge.waitForDeparture(of: liar.name)
        #expect(try await judge.owners() == [Self.honest: honest.name], "after a registration that is \(outcome)")
        #expect(try await judge.fields("FocusPath") == [])
      }
      #expect(desktop.daemon.progress.now.exit == nil)
      #expect(desktop.log("<3>") == [])
      try await honest.leave()
    }
  }

  private static func isExpected(_ outcome: Liar.Outcome, of lie: Liar.Lie) -> Bool {
    switch lie {
    case .strayProperties, .hugeChanges, .answersLate, .answersTwice: outcome == .registered
    case .description:
      // The bus may take longer to carry it than the daemon waits.
      ["InvalidArgs", "LimitsExceeded", "Timeout"].map(Liar.Outcome.refused).contains(outcome)
    case .leaves(let member) where ["Introspect", "GetAll"].contains(member): outcome == .left
    case .leaves: outcome == .registered
    // How much is taken is for the limits to say, and who leaves at once may hear of it or not.
    case .otherTypes, .hugeProperties, .leavesAfter: true
    }
  }

  /// Fields are registered, read and written, those of an honest owner's object too.
  private static func othersAreServed(_ judge: Peer) async throws {
    try await judge.register("mine", [("demo.Mine.Value", .int32(1))])
    #expect(try await judge.read("demo.Mine.Value", at: Focus1.field("mine")).value == .int32(1))
    try await judge.write("demo.Mine.Value", .int32(2), at: Focus1.field("mine"))
    #expect(try await judge.get("demo.Mine.Value", at: Focus1.field("mine")) == .int32(2))
    try await judge.field("mine", "Unregister")
    #expect(try await judge.get(Liar.key, at: Focus1.field(honest)) == .int32(1))
    // The owner is asked, and makes 1 of it; what the liar tells may keep the bus busy for longer than the daemon waits.
    try await eventually("the honest owner's answer") {
      let refusal = try await refusal { try await judge.write(Liar.key, .int32(5), at: Focus1.field(honest)) }
      #expect(refusal == nil || refusal == "Timeout")
      return refusal == nil
    }
    #expect(try await judge.read(Liar.key, at: Focus1.field(honest)).value == .int32(1))
  }

  /// Whatever the liar makes of them, calls that are for it are answered, and so are those that show what it tells.
  private static func everyCallIsAnswered(_ judge: Peer) async throws {
    for path in [Focus1.field("liar"), Focus1.focused] {
      for call in [
        .readAll(at: path), .getAll("demo.Liar", at: path), .write(Liar.key, .int32(3), at: path),
        .set(Liar.key, .string("three"), at: path), .read(Liar.key, at: path), DaemonCall(path, "demo.Liar", "Do"),
        .introspect(path),
      ] {
        guard case .failure(let error) = try await judge.begin(call, patience: .seconds(60)).outcome() else { continue }
        #expect(error.isRemote, "\(call.member) is not answered")
      }
    }
  }
}

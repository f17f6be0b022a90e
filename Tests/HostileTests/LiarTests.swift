import BusSupport
import DBus
import DBusTypes
import TestSupport
import Testing

/// Owners whose objects lie: whoever else is there is served as if they were not.
@Suite(.serialized) struct LiarTests {
  /// An honest owner's field.
  private static let honest = "honest"

  @Test("Others are served while an owner lies, and nothing is left of it", arguments: Liar.Lie.all)
  func lie(_ lie: Liar.Lie) async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus, extra: ["JOURNAL_STREAM": "8:1"])
      let judge = try Caller(on: bus)
      let honest = try await Liar(on: bus, telling: nil)
      #expect(try await honest.register(Self.honest) == .registered)
      try await daemon.needsNoMore(times: 1, "\(lie)") {
        let liar = try await Liar(on: bus, telling: lie)
        let registration = liar.beginRegister("liar", [(name: "focus", value: .boolean(true))])
        _ = try await liar.calls.wait(for: "question to the liar") { $0.isEmpty ? nil : true }
        try await onThread { try Self.othersAreServed(judge) }
        liar.answer()
        let outcome = try await registration.wait(for: "outcome of the registration") { $0 }
        #expect(Self.isExpected(outcome, of: lie), "\(outcome)")
        liar.tellChanges()
        try await onThread {
          try Self.othersAreServed(judge)
          try Self.everyCallIsAnswered(judge)
          try Self.othersAreServed(judge)
        }
        try await liar.leave()
        try await onThread {
          try judge.waitForDeparture(of: liar.name)
          #expect(try judge.owners() == [Self.honest: honest.name], "after a registration that is \(outcome)")
          #expect(try judge.fields("FocusPath") == [])
        }
      }
      #expect(daemon.progress.now.exit == nil)
      #expect(daemon.progress.now.errors.filter { $0.hasPrefix("<3>") } == [])
      try await honest.leave()
      try await daemon.stop()
    }
  }

  private static func isExpected(_ outcome: Liar.Outcome, of lie: Liar.Lie) -> Bool {
    switch lie {
    case .strayProperties, .hugeChanges, .answersLate, .answersTwice: outcome == .registered
    case .description:
      [.refused("org.freedesktop.DBus.Error.InvalidArgs"), .refused("org.freedesktop.DBus.Error.LimitsExceeded")]
        .contains(outcome)
    case .leaves(let member) where ["Introspect", "GetAll"].contains(member): outcome == .left
    case .leaves: outcome == .registered
    // How much is taken is for the limits to say, and who leaves at once may hear of it or not.
    case .otherTypes, .hugeProperties, .leavesAfter: true
    }
  }

  /// Fields are registered, read and written, those of an honest owner's object too.
  private static func othersAreServed(_ judge: Caller) throws {
    try judge.register("mine", [(name: "demo.Mine.Value", value: .int32(1))])
    #expect(try judge.read("demo.Mine.Value", at: Focus1.field("mine")).value == .int32(1))
    try judge.write("demo.Mine.Value", .int32(2), at: Focus1.field("mine"))
    #expect(try get("demo.Mine", "Value", at: Focus1.field("mine"), judge) == .int32(2))
    try judge.field("mine", "Unregister")
    #expect(try get("demo.Liar", "Number", at: Focus1.field(honest), judge) == .int32(1))
    // The owner is asked, and makes 1 of it.
    try judge.write(Liar.key, .int32(5), at: Focus1.field(honest))
    #expect(try judge.read(Liar.key, at: Focus1.field(honest)).value == .int32(1))
  }

  private static func get(_ interface: String, _ member: String, at path: String, _ judge: Caller) throws -> DBusValue?
  {
    try judge.call(path, Focus1.properties, "Get", [.string(interface), .string(member)]).first?.variantContent
  }

  /// Whatever the liar makes of them, calls that are for it are answered, and so are those that show what it tells.
  private static func everyCallIsAnswered(_ judge: Caller) throws {
    for path in [Focus1.field("liar"), Focus1.focused] {
      for (interface, member, arguments) in [
        (Focus1.bindings, "ReadAll", []), (Focus1.properties, "GetAll", [.string("demo.Liar")]),
        (Focus1.bindings, "Write", [.string(Liar.key), .variant(.int32(3)), .properties([])]),
        (Focus1.properties, "Set", [.string("demo.Liar"), .string("Number"), .variant(.string("three"))]),
        (Focus1.bindings, "Read", [.string(Liar.key)]), ("demo.Liar", "Do", []),
        ("org.freedesktop.DBus.Introspectable", "Introspect", []),
      ] as [(String, String, [DBusValue])] {
        do {
          try judge.call(path, interface, member, arguments)
        } catch let error as CallError {
          #expect(error.name != nil, "\(member) is not answered")
        }
      }
    }
  }
}

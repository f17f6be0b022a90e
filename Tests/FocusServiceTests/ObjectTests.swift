import BusSupport
import DBusTypes
import Testing

/// What objects tell in a turn that binds them to fields, or that takes their fields away, whether that can be saved or not.
@Suite struct ObjectTests {
  /// What is left of the field `dial` after a turn.
  enum Outcome: Sendable {
    /// It has its object, which tells this.
    case level(Int32)
    /// It is not there, and its object is not followed any more.
    case gone
    /// It is there, and is another, without an object.
    case other
    /// It is there, without its object, and its key is read so.
    case kept(String)
    /// It has its object, but this value of its own.
    case own(Int32)
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let turn: [Letter]
    let saved: Outcome
    let refused: Outcome

    init(_ turn: [Letter], saved: Outcome, refused: Outcome) {
      (self.turn, self.saved, self.refused) = (turn, saved, refused)
      testDescription = turn.map(\.name).joined(separator: ", ")
    }
  }

  /// A change of another field, so that there is something to save.
  private static let change = Letter.call(anna, .write("demo.I.K", .int32(2), at: Focus1.field("a")))
  private static let unregister = Letter.call(carl, .field("dial", "Unregister"))
  private static let dial = Focus1.field("dial")

  private static let before: [Letter] = [
    .call(anna, .register("a", [("demo.I.K", .int32(1))])), .call(carl, .register("dial", object: OwnersObject.path)),
  ]
  private static let focus = Letter.call(carl, .field("dial", "Focus"))

  /// Checks that the field `dial` is as it should be, and that it goes on so.
  private static func check(_ stage: Stage, _ outcome: Outcome, matches: Int) throws {
    try stage.shown()
    let read = Letter.call(bert, .read(OwnersObject.levelKey, at: dial))
    switch outcome {
    case .level(let level):
      #expect(matches == 0)
      let seen = try stage.settle([read]).lines
      #expect(seen == ["Read = [\(level)] dial #"])
      let told = try stage.settle([.told(carl, level: 77)]).lines
      #expect(told == ["dial: demo.Bound Level=77", "focused: demo.Bound Level=77"])
      let written = try stage.settle([.call(bert, .write(OwnersObject.levelKey, .int32(78), at: dial))])
      #expect(written.lines.first == ":1.3: Set demo.Bound Level 78")
      #expect(written.lines.last == "Write = 78 dial #")
    case .gone, .other:
      #expect(matches == 1)
      let isGone = if case .gone = outcome { true } else { false }
      #expect(try stage.settle([read]).lines == [isGone ? "Read: UnknownObject" : "Read: UnknownProperty"])
      #expect(try stage.settle([.told(carl, level: 77)]).lines == [])
    case .own(let level):
      #expect(matches == 0)
      #expect(try stage.settle([read]).lines == ["Read = [\(level)] dial #"])
      #expect(try stage.settle([.told(carl, level: 77)]).lines == [])
    case .kept(let line):
      #expect(matches == 1)
      #expect(try stage.settle([read]).lines == [line])
      #expect(try stage.settle([.told(carl, level: 77)]).lines == [])
    }
    try stage.shown()
  }

  /// Delivers the turn, and checks what is left of it.
  private static func run(_ each: Case, isSaved: Bool, on stage: Stage) throws {
    if !isSaved { try stage.breakState() }
    let sent = try stage.turn([change] + each.turn) + stage.settle()
    #expect(sent.lines.contains("Write: IOError") == !isSaved)
    try check(stage, isSaved ? each.saved : each.refused, matches: sent.lines.count { $0 == "bus: RemoveMatch" })
    if !isSaved { try stage.mendState() }
    #expect(try stage.settle([change]).lines.contains("Write: IOError") == false)
  }
}

/// Objects of fields that are removed.
extension ObjectTests {
  private static let removals = [
    Case([unregister], saved: .gone, refused: .level(1)),
    Case([.told(carl, level: 2), unregister], saved: .gone, refused: .level(2)),
    Case([unregister, .told(carl, level: 2)], saved: .gone, refused: .level(2)),
    Case([.told(carl, level: 2), unregister, .told(carl, level: 3)], saved: .gone, refused: .level(3)),
    Case([unregister, .call(anna, .register("dial"))], saved: .other, refused: .level(1)),
    Case([unregister, .departure(carl)], saved: .gone, refused: .gone),
    Case([unregister, .told(carl, level: 2), .departure(carl)], saved: .gone, refused: .gone),
    Case([.departure(carl)], saved: .gone, refused: .gone),
  ]

  @Test("The object of a field that is removed, and may be back", arguments: removals, [true, false])
  func removal(_ each: Case, isSaved: Bool) async throws {
    try await Stage.with { stage in
      try stage.settle(Self.before)
      try stage.settle([Self.focus])
      try Self.run(each, isSaved: isSaved, on: stage)
    }
  }
}

/// Objects at which something is under way.
extension ObjectTests {
  @Test("The object of a field that is removed is followed until what has begun there has ended")
  func busyObject() async throws {
    try await Stage.with { stage in
      try stage.settle(Self.before)
      let write = Letter.call(bert, .write(OwnersObject.levelKey, .int32(5), at: Self.dial))
      let begun = try stage.turn([write, Self.unregister])
      #expect(begun.lines.contains(":1.3: Set demo.Bound Level 5"))
      #expect(!begun.lines.contains("bus: RemoveMatch"))
      #expect(try stage.settle().lines.count { $0 == "bus: RemoveMatch" } == 1)
    }
  }
}

/// Objects of saved fields that are bound again.
extension ObjectTests {
  private static let bind = Letter.answer(carl, "GetAll")
  private static let rebindings = [
    Case([bind], saved: .level(1), refused: .level(1)),
    Case([.told(carl, level: 2), bind], saved: .level(2), refused: .level(2)),
    Case([bind, .told(carl, level: 2)], saved: .level(2), refused: .level(2)),
    Case([bind, .told(carl, level: 2), .told(carl, level: 3)], saved: .level(3), refused: .level(3)),
    Case([bind, unregister], saved: .gone, refused: .level(1)),
    Case([bind, .told(carl, level: 2), unregister], saved: .gone, refused: .level(2)),
    Case([bind, unregister, .told(carl, level: 2)], saved: .gone, refused: .level(2)),
    Case([unregister, bind], saved: .gone, refused: .level(1)),
    Case([unregister, bind, .told(carl, level: 2)], saved: .gone, refused: .level(2)),
    Case([unregister, .call(anna, .register("dial")), bind], saved: .other, refused: .level(1)),
    Case(
      [.call(carl, .publish("dial", [(OwnersObject.levelKey, .int32(5))])), bind], saved: .own(5),
      refused: .level(1)),
    Case(
      [.call(carl, .publish("dial", [(OwnersObject.levelKey, .int32(5))])), bind, .told(carl, level: 2)],
      saved: .own(5), refused: .level(2)),
    Case([.refusal(carl, "GetAll")], saved: .kept("Read: UnknownProperty"), refused: .kept("Read: UnknownProperty")),
    Case([unregister, .refusal(carl, "GetAll")], saved: .gone, refused: .kept("Read: UnknownProperty")),
    Case([bind, .departure(carl)], saved: .gone, refused: .gone),
    Case([.departure(carl)], saved: .gone, refused: .gone),
  ]

  @Test("The object of a saved field, bound in a turn with others", arguments: rebindings, [true, false])
  func rebinding(_ each: Case, isSaved: Bool) async throws {
    try await Stage.with { stage in
      try stage.settle(Self.before)
      try stage.settle([Self.focus])
      try stage.restart(withoutWaitingFor: [carl])
      try stage.turn([.answer(carl, "Introspect")])
      try Self.run(each, isSaved: isSaved, on: stage)
    }
  }
}

/// What a saved field's owner is told when its object cannot back the field any more.
extension ObjectTests {
  @Test("A key that the object has, too, is named") func collision() async throws {
    try await Stage.with { stage in
      try stage.settle(Self.before)
      try stage.settle([.call(carl, .publish("dial", [("demo.Bound.More", .int32(1))]))])
      let xml = document(("demo.Bound", property("Level", "i") + property("More", "i")))
      try stage.restart(withoutWaitingFor: [carl])
      try stage.turn([.answered(carl, "Introspect", [.string(xml)])])
      try stage.turn([.answered(carl, "GetAll", [.properties([("Level", .int32(1)), ("More", .int32(2))])])])
      try stage.turn([.call(carl, .field("dial", "Examine"))])
      try stage.wait(for: "Introspect", of: carl)
      try stage.turn([.answered(carl, "Introspect", [.string(xml)])])
      let sent = try stage.turn([.answered(carl, "GetAll", [.properties([("Level", .int32(1))])])])
      #expect(sent.lines.last == "Examine: InvalidArgs")
      #expect(sent.last?.arguments.first?.basicText?.contains("demo.Bound.More") == true, "\(sent)")
    }
  }
}

/// What nobody waits for is not kept.
extension ObjectTests {
  @Test("What objects tell that the turn lets go of does not count for their owner", arguments: [false, true])
  func nothingIsKept(isRebinding: Bool) async throws {
    try await Stage.with { stage in
      let ids = (0..<16).map { "f\($0)" }
      try stage.settle(ids.map { .call(carl, .register($0, object: OwnersObject.path)) })
      var turn = ids.map { Letter.call(carl, .field($0, "Unregister")) }
      if isRebinding {
        try stage.restart(withoutWaitingFor: [carl])
        try stage.turn()
        try stage.turn(ids.map { _ in .answer(carl, "Introspect") })
        turn += ids.map { _ in .answer(carl, "GetAll") }
      }
      // Sixteen times that is what an owner may have waiting.
      turn.append(.told(carl, [("Text", .string(String(repeating: "x", count: (1 << 20) - 1000)))]))
      #expect(try stage.turn(turn).lines.filter { $0 == "Unregister" }.count == ids.count)
      try stage.settle(Self.before)
      try stage.settle([.told(carl, [("Text", .string("x"))])])
      let write = DaemonCall.write("demo.Bound.Text", .string(String(repeating: "y", count: 1 << 16)), at: Self.dial)
      #expect(try stage.settle([.call(bert, write)]).first?.member == "Set")
    }
  }
}

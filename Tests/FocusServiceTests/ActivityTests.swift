import BusSupport
import DBusTypes
import Testing

/// When the owner of a session field is asked whether that is active, since players forget to tell.
@Suite struct ActivityTests {
  private static let active: Named = [
    ("scope", .string("session")),
    ("active", .structure([.string(OwnersObject.levelKey), .variant(.int32(2))])),
  ]
  private static let dial = Focus1.field("dial")
  private static let up = DaemonCall(dial, OwnersObject.interface, "Up")
  private static var upUnanswered: DaemonCall {
    var call = up
    call.wantsReply = false
    return call
  }

  private static let turns: [(turn: [Letter], asked: String)] = [
    ([.call(bert, up)], carl), ([.call(bert, .invoke("demo.Bound.Up", at: dial))], carl),
    ([.call(bert, upUnanswered)], carl), ([.call(bert, .write("demo.Bound.Text", .string("y"), at: dial))], carl),
    ([.told(dora, level: 2)], carl),
  ]

  @Test func itIsAskedWhenAnotherIsActiveFromTheStart() async throws {
    try await Stage.with { stage in
      stage.bus.setLevel(2, of: carl)
      stage.bus.setLevel(2, of: dora)
      try stage.settle([.call(carl, .register("dial", object: "/slider", Self.active))])
      let sent = try stage.settle([.call(dora, .register("knob", object: "/slider", Self.active))])
      #expect(sent.lines.contains("\(carl): Get demo.Bound Level"))
    }
  }

  @Test(arguments: turns.indices, [true, false]) func itIsAsked(_ index: Int, isActive: Bool) async throws {
    try await Stage.with { stage in
      for owner in [carl, dora] {
        try stage.settle([.call(owner, .register(owner == carl ? "dial" : "knob", object: "/slider", Self.active))])
        try stage.settle([.told(owner, [("Text", .string("x"))])])
      }
      // Whether it is active as far as it has told.
      if isActive { try stage.settle([.told(carl, level: 2)]) }
      let (turn, asked) = Self.turns[index]
      let sent = try stage.settle(turn)
      #expect(sent.lines.contains("\(asked): Get demo.Bound Level"))
    }
  }
}

extension ActivityTests {
  /// The owner may have become another before it refused.
  @Test func itIsAskedAfterAWriteThatIsRefused() async throws {
    try await Stage.with { stage in
      try stage.settle([.call(carl, .register("dial", object: "/slider", Self.active))])
      try stage.settle([.told(carl, [("Text", .string("x"))])])
      try stage.turn([.call(bert, .write("demo.Bound.Text", .string("y"), at: Self.dial))])
      #expect(try stage.turn([.refusal(carl, "Set", "Failed")]).lines.contains("\(carl): Get demo.Bound Level"))
    }
  }
}

/// What an owner has been asked for, and what happens meanwhile.
@Suite struct AskedTests {
  private static let dial = Focus1.field("dial")

  /// Registers the field `dial`, which has an object and focus, and `other`, which stores its key; the object's value is
  /// not known any more.
  private static func begin(_ stage: Stage) throws {
    try stage.settle([.call(carl, .register("dial", object: OwnersObject.path, [("focus", .boolean(true))]))])
    try stage.settle([.call(anna, .register("other", [(OwnersObject.levelKey, .int32(9))]))])
    try stage.turn([.invalidated(carl, ["Level"])])
    while !stage.bus.questions.isEmpty { try stage.turn([.refusal(carl, "Get", "Failed")]) }
  }

  /// What an owner does not tell says nothing of another field's value.
  @Test func aValueOfAnotherFieldIsRead() async throws {
    try await Stage.with { stage in
      try Self.begin(stage)
      #expect(try stage.turn([.call(bert, .readAll())]).lines == ["\(carl): Get demo.Bound Level"])
      try stage.turn([.call(anna, .field("other", "Focus"))])
      let lines = try stage.turn([.refusal(carl, "Get", "Failed")]).lines
      #expect(lines.count == 1 && lines[0].contains("demo.Bound.Level") && lines[0].contains("9"), "\(lines)")
    }
  }

  @Test func aFieldThatGoesIsNotThere() async throws {
    try await Stage.with { stage in
      try Self.begin(stage)
      try stage.turn([.call(bert, .readAll(at: Self.dial))])
      try stage.turn([.call(carl, .field("dial", "Unregister"))])
      let lines = try stage.turn([.refusal(carl, "Get", "Failed")]).lines
      #expect(lines.last == "ReadAll: UnknownObject", "\(lines)")
    }
  }
}

/// Focus that others want.
@Suite struct ResponderTests {
  private static let xml = document(
    ("demo.A", property("X", "i")), ("org.focusd.Focus1.Responder", method("RequestFocus", in: ["o"])))

  @Test("The owner focuses its field; for others, the field's object decides") func responder() async throws {
    try await Stage.with { stage in
      let focus = DaemonCall.field("dial", "Focus")
      try stage.turn([.call(carl, .register("dial", object: OwnersObject.path))])
      try stage.wait(for: "Introspect", of: carl)
      try stage.turn([.answered(carl, "Introspect", [.string(Self.xml)])])
      try stage.turn([.answered(carl, "GetAll", [.properties([("X", .int32(1))])])])
      #expect(try stage.turn([.call(bert, focus)]).lines == ["\(carl): RequestFocus dial"])
      #expect(try stage.turn([.refusal(carl, "RequestFocus")]).lines == ["Focus: UnknownObject"])
      try stage.turn([.call(bert, focus)])
      #expect(try stage.turn([.answered(carl, "RequestFocus", [])]).lines == ["Focus"])
      #expect(try stage.turn([.call(carl, focus)]).lines.last == "Focus")
      try stage.shown()
    }
  }
}

/// Arguments that no method takes.
@Suite struct ArgumentTests {
  private static let twice = DBusValue.dictionary(
    DBusDictionary(
      known: .string, .variant,
      [1, 2].map { .init(key: .string("demo.I.K"), value: .variant(.int32($0))) }))

  private static let cases: [(call: DaemonCall, error: String)] = [
    (
      DaemonCall(Focus1.manager, Focus1.managerInterface, "Register", [.string("b"), twice, .properties([])]),
      "InvalidArgs"
    ),
    (.field("a", "Publish", [twice, .properties([])]), "InvalidArgs"),
    (.register("b", [], [("unknown", .boolean(true))]), "InvalidArgs"),
    (.register("b", [], [("linger", .int32(1))]), "InvalidArgs"),
    (.publish("a", [], [("linger", .boolean(true))]), "InvalidArgs"),
    (.write("demo.I.K", .int32(2), [("unknown", .int32(1))], at: Focus1.field("a")), "InvalidArgs"),
    (.write("demo.I.K", .int32(2), [("revision", .int32(1))], at: Focus1.field("a")), "InvalidArgs"),
  ]

  @Test(arguments: cases.indices) func refusal(_ index: Int) async throws {
    let (call, error) = Self.cases[index]
    try await Stage.with { stage in
      try stage.settle([.call(anna, .register("a", [("demo.I.K", .int32(1))]))])
      #expect(try stage.settle([.call(anna, call)]).lines == ["\(call.member): \(error)"])
    }
  }
}

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

  @Test(arguments: turns.indices) func itIsAsked(_ index: Int) async throws {
    try await Stage.with { stage in
      for owner in [carl, dora] {
        try stage.settle([.call(owner, .register(owner == carl ? "dial" : "knob", object: "/slider", Self.active))])
        try stage.settle([.told(owner, [("Text", .string("x"))])])
      }
      // It is active as far as it has told.
      try stage.settle([.told(carl, level: 2)])
      let (turn, asked) = Self.turns[index]
      let sent = try stage.settle(turn)
      #expect(sent.lines.contains("\(asked): Get demo.Bound Level"))
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

import BusSupport
import DBusTypes
import Testing

/// What arrives in one turn of the loop is saved, told and answered together.
@Suite struct TurnTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let turn: [Letter]
    /// What the service sends in the turn, in that order.
    let sent: [String]
    let commits: Int

    init(_ description: String, _ turn: [Letter], commits: Int, _ sent: [String]) {
      (testDescription, self.turn, self.sent, self.commits) = (description, turn, sent, commits)
    }
  }

  /// What is there before each turn.
  static let before: [Letter] = [
    .call(anna, .register("a", [("demo.I.K", .int32(1)), ("demo.I.L", .int32(1))])),
    .call(anna, .register("b", [("demo.J.K", .int32(1))], [("parent", Focus1.fieldPath("a"))])),
    .call(bert, .register("c", [("demo.I.K", .int32(7))])),
    .call(carl, .register("slider", object: OwnersObject.path)),
    .call(anna, .field("a", "Focus")),
  ]

  @Test(arguments: cases) func turn(_ each: Case) async throws {
    try await Stage.with { stage in
      try stage.settle(Self.before)
      let commits = try stage.commits()
      let sent = try stage.turn(each.turn)
      #expect(sent.lines == each.sent)
      #expect(try stage.commits() - commits == each.commits)
      #expect(try stage.turn().lines == [], "the next turn has something left")

      try stage.settle()
      try stage.shown()

      let serials = sent.filter(\.isReply).map(\.replySerial)
      #expect(serials == serials.sorted())
    }
  }

  @Test("Who has left is missed at once: that is saved when nothing else arrives, or with the next change")
  func departures() async throws {
    let read = Letter.call(carl, .read("demo.I.K"))
    try await Stage.with { stage in
      try stage.settle(Self.before + [.call(dora, .register("d"))])
      let commits = try stage.commits()
      #expect(try stage.turn([.departure(bert)]).lines == ["- c demo.I"])
      #expect(try stage.turn([read]).lines == ["Read = [1] a #"])
      #expect(try stage.commits() == commits)
      try stage.turn()
      #expect(try stage.commits() == commits + 1)
      #expect(
        try stage.turn([.departure(dora), .call(anna, .write("demo.I.K", .int32(2))), read]).lines == [
          "- d", "a: demo.I K=2", "focused: demo.I K=2", "Write = 2 a #", "Read = [2] a #",
        ])
      #expect(try stage.commits() == commits + 2)
      try stage.turn()
      #expect(try stage.commits() == commits + 2)
    }
  }

  @Test("Who has left is missed after a restart too, whether that was saved or not", arguments: [false, true])
  func departuresAndARestart(isSaved: Bool) async throws {
    try await Stage.with { stage in
      try stage.settle(Self.before + [.call(dora, .register("d", [], [("linger", .boolean(true))]))])
      try stage.turn([.departure(anna), .departure(dora)])
      if isSaved { try stage.turn() }
      let shown = try stage.shown()
      try stage.restart(names: everyone.subtracting([anna, dora]), answering: [carl: 1])
      #expect(try stage.shown() == shown)
    }
  }

  static let cases = [
    Case(
      "a field is registered, takes focus and is written",
      [
        .call(bert, .register("d", [("demo.D.K", .int32(1))])), .call(bert, .field("d", "Focus")),
        .call(carl, .write("demo.D.K", .int32(2))), .call(carl, .read("demo.D.K")),
      ], commits: 1,
      [
        "+ d demo.D", "manager: Manager FocusedField=d FocusPath=[d] History=[a]", "a: Field Focused=false",
        "+ focused demo.D", "focused: demo.D K=2", "focused: demo.I -K -L", "- focused demo.I",
        "focused: Bindings Keys=[demo.D.K]", "Register = d", "Focus", "Write = 2 d #", "Read = [2] d #",
      ]),
    Case(
      "a blur and the focus that follows are one change",
      [.call(anna, .field("a", "Blur")), .call(bert, .field("c", "Focus"))], commits: 1,
      [
        "manager: Manager FocusedField=c FocusPath=[c] History=[a]", "a: Field Focused=false", "c: Field Focused=true",
        "focused: demo.I K=7 -L", "focused: Bindings Keys=[demo.I.K]", "Blur", "Focus",
      ]),
    Case(
      "focus that comes back has left a trace in the history alone",
      [.call(bert, .field("c", "Focus")), .call(anna, .field("a", "Focus"))], commits: 1,
      ["manager: Manager History=[c]", "Focus", "Focus"]),
    Case(
      "keys that are published together are told together",
      [.call(anna, .publish("a", [("demo.I.K", .int32(2)), ("demo.I.M", .int32(2)), ("demo.J.M", .int32(2))]))],
      commits: 1,
      [
        "+ a demo.J", "a: demo.I K=2 M=2", "a: demo.J M=2",
        "a: Bindings Keys=[demo.I.K demo.I.L demo.I.M demo.J.M]", "+ focused demo.J", "focused: demo.I K=2 M=2",
        "focused: demo.J M=2", "focused: Bindings Keys=[demo.I.K demo.I.L demo.I.M demo.J.M]", "Publish",
      ]),
    Case(
      "keys that are withdrawn together are told together",
      [.call(anna, .field("a", "Withdraw", [.strings(["demo.I.K", "demo.I.L"])]))], commits: 1,
      [
        "a: demo.I -K -L", "- a demo.I", "a: Bindings Keys=[]", "focused: demo.I -K -L", "- focused demo.I",
        "focused: Bindings Keys=[]", "Withdraw",
      ]),
    Case(
      "what an owner tells is told once, with the last value",
      [.told(carl, level: 2), .told(carl, level: 3), .call(bert, .read(OwnersObject.levelKey, at: slider))],
      commits: 0, ["slider: demo.Bound Level=3", "Read = [3] slider #"]),
    Case(
      "what an owner tells and takes back is not told",
      [.told(carl, level: 2), .told(carl, level: 1), .call(bert, .read("demo.I.K"))],
      commits: 0, ["Read = [1] a #"]),
    Case(
      "an object's signal comes after the values that the object has told before it",
      [.told(carl, level: 2), .emitted(carl, "Moved"), .told(carl, level: 3)], commits: 0,
      ["slider: demo.Bound Level=2", "slider: demo.Bound.Moved", "slider: demo.Bound Level=3"]),
    Case(
      "an owner's fields are removed in one step",
      [.call(anna, .write("demo.I.K", .int32(2))), .departure(anna), .call(bert, .read("demo.I.K"))], commits: 1,
      [
        "a: demo.I K=2", "focused: demo.I K=2", "Write = 2 a #", "- b demo.J", "- a demo.I",
        "manager: Manager FocusedField=/ FocusPath=[]", "focused: demo.I -K -L", "- focused demo.I",
        "focused: Bindings Keys=[]", "Read = [] / #",
      ]),
    Case(
      "an object is let go of with its field",
      [.call(carl, .field("slider", "Unregister")), .call(carl, .register("slider"))], commits: 1,
      ["bus: RemoveMatch", "- slider demo.Bound", "+ slider", "Unregister", "Register = slider"]),
    Case(
      "reads save nothing",
      [.call(bert, .read("demo.I.K")), .call(anna, .get("demo.I.L")), .call(carl, .getAll("demo.I"))], commits: 0,
      ["Read = [1] a #", "Get = 1", "GetAll = {K: 1, L: 1}"]),
    Case(
      "refusals are replied to in line with the rest",
      [
        .call(bert, .write("demo.I.K", .int32(2))), .call(bert, .write("demo.I.K", .string("x"))),
        .call(bert, .field("a", "Focus")), .call(anna, .read("demo.I.K")), .call(carl, .register("a")),
        .call(anna, .write("demo.I.K", .int32(3))),
      ], commits: 1,
      [
        "a: demo.I K=2", "focused: demo.I K=2", "Write = 2 a #", "Write: TypeMismatch", "Focus: AccessDenied",
        "Read = [2] a #", "a: demo.I K=3", "focused: demo.I K=3", "Register: FieldExists", "Write = 3 a #",
      ]),
    Case(
      "what is read between two writes is told before the second",
      [
        .call(bert, .set("demo.I.K", .int32(2))), .call(anna, .get("demo.I.K")),
        .call(bert, .set("demo.I.K", .int32(3))),
        .call(anna, .getAll("demo.I")),
      ], commits: 1,
      [
        "a: demo.I K=2", "focused: demo.I K=2", "Set", "Get = 2", "a: demo.I K=3", "focused: demo.I K=3", "Set",
        "GetAll = {K: 3, L: 1}",
      ]),
    Case(
      "a move of focus is told before a read that follows it, and the next one after that",
      [
        .call(bert, .field("c", "Focus")), .call(anna, .get("demo.I.K")), .call(anna, .field("a", "Focus")),
        .call(anna, .get("demo.I.K")),
      ], commits: 1,
      [
        "manager: Manager FocusedField=c FocusPath=[c] History=[a]", "a: Field Focused=false", "c: Field Focused=true",
        "focused: demo.I K=7 -L", "focused: Bindings Keys=[demo.I.K]", "Focus", "Get = 7",
        "manager: Manager FocusedField=a FocusPath=[a] History=[c]", "c: Field Focused=false", "a: Field Focused=true",
        "focused: demo.I K=1 L=1", "focused: Bindings Keys=[demo.I.K demo.I.L]", "Focus", "Get = 1",
      ]),
    Case(
      "one client's Set calls for one binding are told once",
      [
        .call(bert, .set("demo.I.K", .int32(2))), .call(bert, .set("demo.I.K", .int32(4), at: Focus1.field("a"))),
        .call(bert, .set("demo.I.L", .int32(4))), .call(bert, .set("demo.I.L", .int32(5))),
      ], commits: 1,
      ["a: demo.I K=4 L=5", "focused: demo.I K=4 L=5", "Set", "Set", "Set", "Set"]),
    Case(
      "each Write is told, since its reply shows the value",
      [.call(bert, .write("demo.I.K", .int32(2))), .call(bert, .write("demo.I.K", .int32(3)))], commits: 1,
      [
        "a: demo.I K=2", "focused: demo.I K=2", "Write = 2 a #", "a: demo.I K=3", "focused: demo.I K=3",
        "Write = 3 a #",
      ]),
    Case(
      "what an owner tells comes with what others write",
      [.told(carl, level: 2), .call(bert, .set("demo.I.K", .int32(2))), .call(bert, .set("demo.I.K", .int32(3)))],
      commits: 1,
      ["a: demo.I K=3", "slider: demo.Bound Level=2", "focused: demo.I K=3", "Set", "Set"]),
    Case(
      "a field that came and went is not told, nor what had focus meanwhile",
      [
        .call(bert, .register("d", [("demo.D.K", .int32(1))], [("focus", .boolean(true))])),
        .call(bert, .field("d", "Unregister")),
      ], commits: 1,
      [
        "manager: Manager FocusedField=/ FocusPath=[] History=[a]", "a: Field Focused=false", "focused: demo.I -K -L",
        "- focused demo.I", "focused: Bindings Keys=[]", "Register = d", "Unregister",
      ]),
    Case(
      "an interface at focused that came and went is not told, nor keys",
      [
        .call(anna, .publish("a", [("demo.New.K", .int32(1)), ("demo.I.M", .int32(1))])),
        .call(anna, .field("a", "Withdraw", [.strings(["demo.New.K", "demo.I.M"])])),
      ], commits: 0, ["Publish", "Withdraw"]),
    Case(
      "what has focus and goes is not told of",
      [.call(bert, .field("c", "Focus")), .call(bert, .field("c", "Unregister"))], commits: 1,
      [
        "- c demo.I", "manager: Manager FocusedField=/ FocusPath=[] History=[a]", "a: Field Focused=false",
        "focused: demo.I -K -L",
        "- focused demo.I", "focused: Bindings Keys=[]", "Focus", "Unregister",
      ]),
    Case(
      "a blur and the focus that follow a read are one change",
      [.call(anna, .get("demo.I.K")), .call(anna, .field("a", "Blur")), .call(bert, .field("c", "Focus"))], commits: 1,
      [
        "Get = 1", "manager: Manager FocusedField=c FocusPath=[c] History=[a]", "a: Field Focused=false",
        "c: Field Focused=true", "focused: demo.I K=7 -L", "focused: Bindings Keys=[demo.I.K]", "Blur", "Focus",
      ]),
    Case(
      "and not at all if the last value is the one that was told before",
      [.call(bert, .set("demo.I.K", .int32(2))), .call(bert, .set("demo.I.K", .int32(1)))], commits: 1,
      ["Set", "Set"]),
    Case(
      "but not if another client's write comes between",
      [
        .call(bert, .set("demo.I.K", .int32(2))), .call(anna, .set("demo.I.K", .int32(3))),
        .call(bert, .set("demo.I.K", .int32(4))),
      ], commits: 1,
      [
        "a: demo.I K=2", "focused: demo.I K=2", "a: demo.I K=3", "focused: demo.I K=3", "a: demo.I K=4",
        "focused: demo.I K=4", "Set", "Set", "Set",
      ]),
    Case(
      "who wants no reply gets none, and the rest theirs",
      [
        .call(bert, .write("demo.I.K", .int32(2)).unanswered), .call(bert, .read("demo.I.K")),
        .call(bert, .field("a", "Focus").unanswered),
      ], commits: 1, ["a: demo.I K=2", "focused: demo.I K=2", "Read = [2] a #"]),
    Case(
      "who waits for an owner holds up nobody",
      [
        .call(anna, .write(OwnersObject.levelKey, .int32(5), at: slider)), .call(bert, .write("demo.I.K", .int32(2))),
        .call(anna, .read("demo.I.K")),
      ], commits: 1,
      [":1.3: Set demo.Bound Level 5", "a: demo.I K=2", "focused: demo.I K=2", "Write = 2 a #", "Read = [2] a #"]),
  ]

  static let slider = Focus1.field("slider")
}

extension DaemonCall {
  /// The call by someone who wants no reply.
  var unanswered: DaemonCall {
    var call = self
    call.wantsReply = false
    return call
  }
}

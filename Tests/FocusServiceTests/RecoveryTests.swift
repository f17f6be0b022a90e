import BusSupport
import DBusTypes
import Testing

/// What arrives while saved fields are being recovered waits in one line, and is handled when that has ended.
@Suite struct RecoveryTests {
  private static let before: [Letter] = [
    .call(anna, .register("slider", object: OwnersObject.path)), .call(bert, .register("c", [("demo.I.K", .int32(1))])),
    .call(dora, .register("e", [], [("linger", .boolean(true))])), .call(bert, .field("c", "Focus")),
  ]
  private static let inC = Focus1.field("c")
  private static let inSlider = Focus1.field("slider")

  /// What arrives when an owner's object is asked first.
  private static let first: [Letter] = [
    .call(carl, .write("demo.I.K", .int32(2), at: inC)), .call(carl, .read("demo.I.K", at: inC)), .departure(bert),
    .call(carl, .read("demo.I.K", at: inC)),
  ]
  /// What arrives when it is asked for its properties.
  private static let second: [Letter] = [
    .call(carl, .register("c")), .call(dora, .register("f")), .departure(dora), .call(carl, .field("f", "Focus")),
    .call(carl, .read(OwnersObject.levelKey, at: inSlider)),
  ]

  private static let begin = ["Hello", "AddMatch", "AddMatch", "GetId", "ListNames", "AddMatch"].map { "bus: \($0)" }
  private static let bertsReplies = ["c: demo.I K=2", "focused: demo.I K=2", "Write = 2 c #", "Read = [2] c #"]
  private static let bertHasLeft = [
    "- c demo.I", "manager: Manager FocusedField=/ FocusPath=[]",
    "focused: demo.I -K", "- focused demo.I", "focused: Bindings Keys=[]",
  ]
  private static let lastRead = ["Read: UnknownObject"]

  @Test("At a start, until owners have answered") func start() async throws {
    try await Stage.with { stage in
      try stage.settle(Self.before)
      let sent = try stage.start { bus in
        bus.setLevel(3, of: anna)
        bus.script(anna, "Introspect", Self.first + [.answer(anna, "Introspect")])
        bus.script(anna, "GetAll", Self.second + [.answer(anna, "GetAll")])
      }
      let asked = [":1.1: Introspect", ":1.1: GetAll demo.Bound"]
      let untilDoraLeaves =
        Self.bertsReplies + Self.bertHasLeft + ["+ c", "+ f"] + Self.lastRead + ["Register = c", "Register = f"]
      let then = ["- f", "e: Field Owner=", "Focus: UnknownObject", "Read = [3] slider #"]
      #expect(sent.lines == Self.begin + asked + untilDoraLeaves + then + ["bus: RequestName"])
      try stage.shown()
    }
  }

  @Test("At a start, until owners have left, or have had their time", arguments: [true, false])
  func noAnswer(leaves: Bool) async throws {
    try await Stage.with { stage in
      try stage.settle(Self.before)
      // Less than an owner has for each question.
      if !leaves { stage.ownersTime = .seconds(4) }
      let sent = try stage.start { $0.script(anna, "Introspect", Self.first + (leaves ? [.departure(anna)] : [])) }
      let asked = [":1.1: Introspect"] + (leaves ? ["bus: RemoveMatch"] : [])
      #expect(
        sent.lines == Self.begin + asked + Self.bertsReplies + Self.bertHasLeft + Self.lastRead + ["bus: RequestName"])
      try stage.shown()
      #expect(try stage.turn([.call(carl, .register("slider"))]).lines.last?.hasSuffix("FieldExists") == !leaves)
    }
  }
}

/// A recovery of a daemon that has served already: registrations that were begun before may end meanwhile.
extension RecoveryTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let letters: [Letter]
    let told: [String]

    init(_ letters: [Letter], _ told: [String]) {
      (self.letters, self.told) = (letters, told)
      testDescription = letters.map(\.name).joined(separator: ", ")
    }
  }

  /// Runs `body` when the objects of three fields are about to tell their properties: those of anna's and carl's fields,
  /// which are being recovered, and that of bert's `id`, which is being registered.
  private static func recoverLate(
    registering id: String, _ body: @escaping @Sendable (Stage) throws -> Void
  ) async throws {
    try await Stage.with { stage in
      try stage.settle(Self.before + [.call(carl, .register("dial", object: OwnersObject.path))])
      try stage.breakState()
      try stage.start()
      #expect(try stage.settle([.call(carl, .register("x"))]).told == ["Register: IOError"])
      try stage.mendState()
      try stage.turn([.call(bert, .register(id, object: OwnersObject.path))])
      for owner in [anna, bert, carl] { try stage.wait(for: "Introspect", of: owner) }
      #expect(try stage.turn([anna, bert, carl].map { .answer($0, "Introspect") }).told == [])
      try body(stage)
    }
  }

  private static let ends = Letter.answer(bert, "GetAll")
  private static let knob = Focus1.field("knob")
  private static let register = Letter.call(carl, .register("knob"))
  private static let read = Letter.call(carl, .read(OwnersObject.levelKey, at: knob))

  /// What everyone is told of the fields that are back.
  private static let recovered = [
    "+ c demo.I", "+ e", "+ slider demo.Bound", "+ dial demo.Bound", "manager: Manager FocusedField=c FocusPath=[c]",
    "+ focused demo.I", "focused: demo.I K=1", "focused: Bindings Keys=[demo.I.K]",
  ]

  private static let late = [
    Case([read, ends, read], ["+ knob demo.Bound", "Read: UnknownObject", "Register = knob", "Read = [1] knob #"]),
    Case([register, ends], ["+ knob demo.Bound", "Register: FieldExists", "Register = knob"]),
    Case(
      [ends, .departure(bert), read],
      ["+ knob demo.Bound", "Register = knob", "- knob demo.Bound"] + bertHasLeft + ["Read: UnknownObject"]),
    Case([.departure(bert), register], bertHasLeft + ["+ knob", "Register: OwnerGone", "Register = knob"]),
    Case(
      [ends, .call(bert, .field("knob", "Unregister")), register],
      ["+ knob", "Register = knob", "Unregister", "Register = knob"]),
  ]

  @Test("While it serves", arguments: late) func late(_ each: Case) async throws {
    try await Self.recoverLate(registering: "knob") { stage in
      let commits = try stage.commits()
      // A field that is back is not shown before the others are.
      let dial: [Letter] = [.answer(carl, "GetAll"), .told(carl, level: 2), .emitted(carl, "Moved")]
      #expect(try stage.turn(dial).told == [])
      #expect(try stage.turn(each.letters).told == [])
      #expect(try stage.commits() == commits)
      let told = try stage.turn([.answer(anna, "GetAll")]).told
      #expect(told.prefix(Self.recovered.count) == Self.recovered[...])
      #expect(told.dropFirst(Self.recovered.count) == each.told[...])
      try stage.shown()
    }
  }

  /// The registration has the id of a field that is recovered meanwhile.
  @Test("A field that a refused turn removed two times has its first object") func twice() async throws {
    let unregister = DaemonCall.field("slider", "Unregister")
    try await Self.recoverLate(registering: "slider") { stage in
      try stage.turn([.call(anna, unregister), Self.ends, .call(bert, unregister)])
      try stage.breakState()
      try stage.turn([.answer(carl, "GetAll")])
      let told = try stage.turn([.answer(anna, "GetAll")]).told
      #expect(told == Self.recovered + ["Unregister: IOError", "Register: IOError", "Unregister: IOError"])
      #expect(try stage.turn([.told(anna, level: 9)]).lines == ["slider: demo.Bound Level=9"])
      try stage.mendState()
      let write = DaemonCall.write(OwnersObject.levelKey, .int32(5), at: Self.inSlider)
      #expect(try stage.settle([.call(carl, write)]).lines.last == "Write = 5 slider #")
    }
  }
}

/// What objects tell while a registration that is complete is held.
extension RecoveryTests {
  @Test(
    "A registration that is held has the values that its object tells meanwhile, and counts for its owner no longer")
  func heldRegistration() async throws {
    try await Self.recoverLate(registering: "knob") { stage in
      try stage.turn([Self.ends, .told(bert, level: 5)])
      try stage.turn([.answer(carl, "GetAll"), .answer(anna, "GetAll")])
      #expect(try stage.settle([Self.read]).lines == ["Read = [5] knob #"])
      // Sixteen times that is what an owner may have waiting: nothing of it is left.
      for _ in 0..<2 {
        let text = DBusValue.string(String(repeating: "x", count: 1 << 19))
        let writes = (0..<31).map { _ in Letter.call(dora, .write("demo.Bound.Level", text, at: Self.knob)) }
        #expect(try stage.turn(writes).lines.allSatisfy { !$0.hasSuffix("LimitsExceeded") })
        try stage.settle()
      }
    }
  }
  @Test("Calls that wait carry 512 file descriptors in all: more are refused at once")
  func descriptors() async throws {
    try await Self.recoverLate(registering: "knob") { stage in
      let call = DaemonCall(Focus1.focused, "demo.No", "Such")
      for number in 0..<40 { try stage.call(from: number % 2 == 0 ? carl : dora, call, descriptors: 16) }
      #expect(try stage.turn().map(\.error) == Array(repeating: "LimitsExceeded", count: 8))
      let sent = try stage.turn([.answer(carl, "GetAll"), .answer(anna, "GetAll")])
      #expect(sent.count { $0.error == "NotFocused" } == 32)
    }
  }
}

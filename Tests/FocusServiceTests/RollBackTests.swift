import BusSupport
import DBusTypes
import Testing

/// A turn whose changes cannot be saved is taken back: who asked for them is told so, and nobody else anything.
@Suite struct RollBackTests {
  /// A change, by those who may make it.
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let call: Letter
    let member: String

    init(_ description: String, _ caller: String, _ call: DaemonCall) {
      (testDescription, self.call, member) = (description, .call(caller, call), call.member)
    }
  }

  /// What is there before.
  static let before: [Letter] = [
    .call(anna, .register("a", [("demo.I.K", .int32(1)), ("demo.I.L", .variants([.int32(1)]))])),
    .call(anna, .register("b", [("demo.J.K", .int32(1))], [("parent", Focus1.fieldPath("a"))])),
    .call(bert, .register("c", [("demo.I.K", .int32(7))], [("linger", .boolean(true))])),
    .call(carl, .register("slider", object: OwnersObject.path)),
    .call(anna, .field("b", "Focus")),
  ]

  static let fields = ["a", "b", "c", "slider"]
  static let slider = Focus1.field("slider")
}

/// One change at a time.
extension RollBackTests {
  static let singleChanges = [
    Change("Register", anna, .register("new", [("demo.I.K", .int32(1))])),
    Change("Register with focus", anna, .register("new", [("demo.I.K", .int32(1))], [("focus", .boolean(true))])),
    Change("Register in a parent", bert, .register("new", [], [("parent", Focus1.fieldPath("b"))])),
    Change("Register with an object", bert, .register("new", object: OwnersObject.path)),
    Change("Register with an object and focus", bert, .register("new", object: "/slider", [("focus", .boolean(true))])),
    Change("Focus", anna, .field("a", "Focus")),
    Change("Focus of an object's field", carl, .field("slider", "Focus")),
    Change("Blur", anna, .field("b", "Blur")),
    Change("Publish", anna, .publish("a", [("demo.New.K", .int32(1))])),
    Change("Publish of another value", anna, .publish("b", [("demo.J.K", .int32(2))])),
    Change("Publish as read-only", anna, .publish("a", [], [("read_only", .strings(["demo.I.K"]))])),
    Change("Publish beside an object's keys", carl, .publish("slider", [("demo.New.K", .int32(1))])),
    Change("Withdraw", anna, .field("b", "Withdraw", [.strings(["demo.J.K"])])),
    Change("SetEnabled", carl, .field("slider", "SetEnabled", [OwnersObject.disabled])),
    Change("Write at focused", bert, .write("demo.I.K", .int32(2))),
    Change("Write at a field", bert, .write("demo.I.K", .int32(2), at: Focus1.field("c"))),
    Change("Write of an element", bert, .write("demo.I.L/-", .variant(.int32(2)))),
    Change("Set", bert, .set("demo.J.K", .int32(2))),
    Change("Unregister of the focused field", anna, .field("b", "Unregister")),
    Change("Unregister of a parent", anna, .field("a", "Unregister")),
    Change("Unregister of a field that lingers", bert, .field("c", "Unregister")),
    Change("Unregister of an object's field", carl, .field("slider", "Unregister")),
  ]

  @Test(
    "A change is refused and leaves nothing; once it can be saved it is as if never refused", arguments: singleChanges)
  func change(_ change: Change) async throws {
    let expected = try await Stage.with { stage in
      try stage.settle(Self.before)
      return try stage.settle([change.call]).lines
    }
    try await Stage.with { stage in
      try stage.settle(Self.before)
      let shown = try stage.shown(Self.fields)
      try stage.breakState()
      for _ in 0..<2 { #expect(try stage.settle([change.call]).told == ["\(change.member): IOError"]) }
      #expect(try stage.shown(Self.fields) == shown)
      try stage.mendState()
      #expect(try stage.settle([change.call]).lines == expected)
      #expect(try stage.shown(Self.fields) != shown)
    }
  }
}

/// What else goes on meanwhile.
extension RollBackTests {
  private static let unsaved: [[Letter]] = [
    [.told(carl, level: 2)],
    [.told(carl, level: 2), .emitted(carl, "Moved"), .told(carl, level: 3)],
    [.call(bert, .write(OwnersObject.levelKey, .int32(2), at: slider))],
    [.call(bert, DaemonCall(slider, OwnersObject.interface, "Up"))],
    [.call(bert, .read("demo.I.K")), .call(bert, .readAll(at: slider)), .call(bert, .managedObjects)],
    [.departure(anna)], [.departure(bert)], [.departure(carl)],
  ]

  @Test("What needs no saving goes on while nothing can be saved", arguments: unsaved)
  func goesOn(_ letters: [Letter]) async throws {
    func run(isSaved: Bool) async throws -> [String] {
      try await Stage.with { stage in
        try stage.settle(Self.before)
        if !isSaved { try stage.breakState() }
        return try stage.settle(letters).lines + stage.shown()
      }
    }
    let expected = try await run(isSaved: true)
    #expect(try await run(isSaved: false) == expected)
  }

  @Test("What an owner tells is not taken back with the rest of its turn") func told() async throws {
    try await Stage.with { stage in
      try stage.settle(Self.before)
      try stage.breakState()
      let change = Letter.call(carl, .field("slider", "SetEnabled", [OwnersObject.disabled]))
      let sent = try stage.turn([.told(carl, level: 2), change, .told(carl, level: 3)])
      #expect(sent.lines == ["slider: demo.Bound Level=3", "SetEnabled: IOError"])
      try stage.shown()
    }
  }

  @Test("A write's reply follows what its owner told before, also in a turn that is taken back") func ownersWrite()
    async throws
  {
    try await Stage.with { stage in
      try stage.settle(Self.before)
      try stage.turn([.call(bert, .write(OwnersObject.levelKey, .int32(2), at: Self.slider))])
      try stage.wait(for: "Set", of: carl)
      try stage.breakState()
      let change = Letter.call(carl, .field("slider", "SetEnabled", [OwnersObject.disabled]))
      let sent = try stage.turn([.told(carl, level: 2), .answer(carl, "Set"), change]).lines
      #expect(sent.count == 3 && sent.first == "slider: demo.Bound Level=2", "\(sent)")
    }
  }

  @Test("Why an object cannot back a field is told, also in a turn that is taken back") func failedLook() async throws {
    try await Stage.with { stage in
      try stage.settle(Self.before)
      try stage.turn([.call(bert, .register("new", object: OwnersObject.path))])
      try stage.wait(for: "Introspect", of: bert)
      try stage.breakState()
      let change = Letter.call(carl, .field("slider", "SetEnabled", [OwnersObject.disabled]))
      let sent = try stage.turn([change, .refusal(bert, "Introspect")])
      #expect(sent.told == ["Register: InvalidArgs", "SetEnabled: IOError"])
    }
  }

  @Test("What a late answer completes shows nothing of a turn that is taken back", arguments: ["ReadAll", "GetAll"])
  func lateAnswer(_ member: String) async throws {
    try await Stage.with { stage in
      let live = (name: "live", value: DBusValue.strings([OwnersObject.levelKey]))
      try stage.settle([
        .call(anna, .register("a", [("demo.I.K", .int32(1))])),
        .call(carl, .register("dial", object: OwnersObject.path, [live, ("parent", Focus1.fieldPath("a"))])),
      ])
      try stage.settle([.call(carl, .field("dial", "Focus"))])
      let asked = try stage.turn([.call(bert, member == "ReadAll" ? .readAll() : .getAll())]).lines
      #expect(asked == ["\(carl): Get demo.Bound Level"])
      try stage.breakState()
      let write = Letter.call(anna, .write("demo.I.K", .int32(2), at: Focus1.field("a")))
      let sent = try stage.turn([write, .answer(carl, "Get")]).lines
      #expect(sent.contains("Write: IOError"))
      let all = try #require(sent.first { $0.hasPrefix(member) })
      #expect(all.contains("1") && !all.contains("2"), "\(all)")
    }
  }

  @Test("A refused change takes no state's revision, and none comes again") func revisions() async throws {
    try await Stage.with { stage in
      func revision(_ call: DaemonCall) throws -> UInt64? {
        guard case .uint64(let revision)? = try stage.settle([.call(bert, call)]).last?.arguments.last else {
          return nil
        }
        return revision
      }
      try stage.settle(Self.before)
      let known = try #require(try revision(.read("demo.I.K")))
      try stage.breakState()
      #expect(try stage.settle([.call(bert, .write("demo.I.K", .int32(2)))]).told == ["Write: IOError"])
      #expect(try revision(.read("demo.I.K")) == known)
      try stage.mendState()
      // A number that was never shown is used up.
      let new = try #require(try revision(.write("demo.I.K", .int32(2), [("revision", .uint64(known))])))
      #expect(new > known + 1)
    }
  }
}

/// Everything at once.
extension RollBackTests {
  /// What takes effect whether changes can be saved or not.
  private static let effects: [Letter] = [
    .answer(carl, "GetAll"), .told(carl, level: 6), .told(anna, [("Level", .int32(4)), ("Text", .string(""))]),
    .departure(dora),
  ]

  private static let changes: [Letter] = [
    .call(anna, .register("new", [("demo.New.K", .int32(1))])), .call(anna, .field("slider", "Unregister")),
    .call(bert, .field("c", "Focus")), .call(carl, .write("demo.I.K", .int32(5), at: Focus1.field("a"))),
  ]
  private static let knob = Letter.call(bert, .register("knob", object: OwnersObject.path))

  /// A field that is about to get its object back, and one that is about to be registered with one.
  private static func prepare(_ stage: Stage) throws {
    try stage.settle([
      .call(anna, .register("a", [("demo.I.K", .int32(1))])), .call(anna, .register("slider", object: "/slider")),
      .call(bert, .register("c", [("demo.I.K", .int32(7))])), .call(carl, .register("dial", object: "/slider")),
      .call(dora, .register("d")), .call(dora, .register("e", [], [("linger", .boolean(true))])),
      .call(anna, .field("a", "Focus")),
    ])
    try stage.restart(withoutWaitingFor: [anna, carl])
    try stage.turn([knob, .answer(anna, "Introspect")])
    try stage.turn([.answer(anna, "GetAll"), .answer(carl, "Introspect")])
    try stage.turn([.answer(bert, "Introspect")])
    #expect(stage.bus.questions.map(\.description) == [":1.3: GetAll demo.Bound", ":1.2: GetAll demo.Bound"])
  }

  @Test("Of a turn with changes of every kind, only those that are saved are made") func everything() async throws {
    let expected = try await Stage.with { stage in
      try Self.prepare(stage)
      try stage.turn(Self.effects)
      let effects = try stage.shown()
      try stage.settle(Self.changes)
      return [effects, try stage.shown()]
    }
    try await Stage.with { stage in
      try Self.prepare(stage)
      try stage.breakState()
      let turn = [
        Self.changes[0], Self.effects[0], Self.changes[1], Self.effects[1], .answer(bert, "GetAll"), Self.changes[2],
        Self.effects[2], Self.changes[3], Self.effects[3],
      ]
      let sent = try stage.turn(turn)
      #expect(
        sent.told == [
          "+ dial demo.Bound", "dial: demo.Bound Level=6",
          "dial: Bindings Keys=[demo.Bound.Level] Commands={demo.Bound.Up: true}",
          "Register: IOError", "Unregister: IOError", "Register: IOError", "Focus: IOError", "Write: IOError",
          "- d", "e: Field Owner=",
        ])
      try stage.settle()
      #expect(try stage.shown() == expected[0])

      try stage.mendState()
      try stage.settle(Self.changes + [Self.knob])
      #expect(try stage.shown() == expected[1])
      try stage.restart(names: everyone.subtracting([dora]), answering: [carl: 6, bert: 1])
      #expect(try stage.shown() == expected[1])
    }
  }
}

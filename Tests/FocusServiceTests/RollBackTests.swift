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
  static let changes = [
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

  @Test("A change is refused and leaves nothing; once it can be saved it is as if never refused", arguments: changes)
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

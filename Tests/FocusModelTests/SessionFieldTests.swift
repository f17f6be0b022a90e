import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

/// The contract's section *Session fields*: the order, and what the first of them supplies.
@Suite struct SessionFieldTests {
  private static let status = "demo.Player.Status"
  private static let title = "demo.Player.Title"

  /// Plays words: `+a1` and `-a1` have the player `a1` play or stop, `*a1` activates it, others are `WindowStage`'s.
  private static func play(_ words: String, on stage: WindowStage) throws {
    for word in words.split(separator: " ").map(String.init) {
      let rest = String(word.dropFirst())
      switch word.first {
      case "+", "-":
        let value: MarshalledValue = .string(word.first == "+" ? "Playing" : "Paused")
        _ = try stage.model.written(value, to: BindingPath(status), at: .field(FieldID(rest)), by: stage.owner(rest))
      case "*": try stage.model.activate(FieldID(rest))
      default: try stage.play(word)
      }
    }
    _ = stage.model.settle()
  }

  private static func stage(_ players: [String] = ["a1", "b1", "a2"]) throws -> WindowStage {
    let stage = try WindowStage()
    for player in players { try add(player, to: stage) }
    return stage
  }

  private static func add(_ player: String, to stage: WindowStage, in parent: String? = nil) throws {
    try stage.register(
      player, in: parent, [status: .string("Paused"), title: .string(player)], scope: .session,
      active: .init(key: Key(status), value: .string("Playing")))
  }

  @Test(
    "The order",
    arguments: [
      ("the newest registration first", "", "a2 b1 a1"),
      ("the active one first", "+a1", "a1 a2 b1"),
      ("the one that became active last", "+a1 +b1", "b1 a1 a2"),
      ("then the one that stopped last", "+a1 +b1 -b1", "a1 b1 a2"),
      ("the one that stopped last of several", "+a1 +b1 -b1 -a1", "a1 b1 a2"),
      ("the activated one before active ones", "+a1 *b1", "b1 a1 a2"),
      ("until another becomes active", "+a1 *b1 +a2", "a2 a1 b1"),
      ("but not when it becomes active itself", "+a1 *b1 +b1", "b1 a1 a2"),
      ("being activated counts as having been active", "+a1 *b1 +a2 -a2 -a1", "a1 a2 b1"),
      ("also if another is activated", "*a1 *b1", "b1 a1 a2"),
      ("one that is active stays so", "+a1 +b1 *a1 +a2", "a2 b1 a1"),
      ("those in the window in front first", "+b1 w1+A !w1", "a2 a1 b1"),
      ("in their order", "+b1 +a1 w1+A !w1", "a1 a2 b1"),
      ("only while it is in front", "+b1 w1+A !w1 !w2", "b1 a2 a1"),
      ("also if it is adopted later", "+b1 !w1 w1+A", "a2 a1 b1"),
      ("one that is gone", "+a1 *b1 ~b1", "a1 a2"),
    ])
  func order(_ what: String, _ words: String, _ order: String) throws {
    let stage = try Self.stage()
    try Self.play(words, on: stage)
    #expect(stage.model.sessionFields.map(\.text).joined(separator: " ") == order, "\(what)")
    #expect(stage.model.resolve(try Key(Self.title))?.text == order.split(separator: " ").first.map(String.init))
  }

  @Test("A change of the order tells of what differs, and of the order, and of nothing else")
  func changes() throws {
    let stage = try Self.stage()
    var observer = Observer()
    try observer.see(stage.model.everything, stage.model)
    let a1 = try FieldID("a1")
    let changes = try stage.model.written(
      .string("Playing"), to: BindingPath(Self.status), at: .field(a1), by: stage.owner("a1")
    ).changes
    try observer.see(changes, stage.model)
    try observer.check(against: stage.model)
    let player = try InterfaceName("demo.Player")
    let (status, title) = (try MemberName("Status"), try MemberName("Title"))
    #expect(
      changes == [
        .fieldChanged(a1, .active),
        .valuesChanged(.field(a1), player, changed: [.init(name: status, value: .string("Playing"))], invalidated: []),
        .valuesChanged(
          .focused, player,
          changed: [.init(name: status, value: .string("Playing")), .init(name: title, value: .string("a1"))],
          invalidated: []),
        .sessionFieldsChanged,
      ])
    // The same again changes nothing; what is first already stays so.
    #expect(
      try stage.model.written(.string("Playing"), to: BindingPath(Self.status), at: .field(a1), by: stage.owner("a1"))
        .changes == [])
    #expect(try stage.model.told(stage.model.activate(a1)) == [])
  }

  @Test(
    "The order is told when it changes, also if no value does",
    arguments: [("/a0 w1+A !w2", "*a1"), ("w1+A", "!w1"), ("w1+A !w1", "-w1")])
  func orderIsTold(_ before: String, _ word: String) throws {
    let stage = try WindowStage()
    for id in ["a1", "b1"] { try stage.register(id, scope: .session) }
    try Self.play(before, on: stage)
    let order = stage.model.sessionFields
    var changes: [Change] = []
    switch word.first {
    case "*": try stage.model.activate(FieldID("a1"))
    case "!": try stage.model.focus(FieldID("w1"), by: stage.bridge)
    default: try stage.model.blur(FieldID("w1"), by: stage.bridge)
    }
    changes += stage.model.settle()
    #expect(stage.model.sessionFields != order)
    #expect(changes.contains(.sessionFieldsChanged))
  }

  @Test("What makes a field active counts among what its owner may have")
  func limits() throws {
    let stage = try WindowStage(windows: [])
    let key = try Key("demo.P.S")
    let active = Activity.Condition(key: key, value: .string(String(repeating: "x", count: 1_000_000)))
    for number in 0..<16 { try stage.register("a\(number)", scope: .session, active: active) }
    #expect(throws: ModelError.self) { try stage.register("a16", scope: .session, active: active) }
    let large = Activity.Condition(key: key, value: .string(String(repeating: "x", count: 2_000_000)))
    #expect(throws: ModelError.self) { try stage.register("b1", scope: .session, active: large) }
  }

  @Test(
    "A turn that is taken back leaves what everyone has been shown",
    arguments: ["+a1", "*a1", "~a2", "+a1 ~a1", "xa", "/a9 a9", "w1+A !w1 +b1"])
  func rollBack(_ words: String) throws {
    let stage = try Self.stage()
    _ = stage.model.settle()
    stage.model.saved()
    stage.model.endTurn()
    let order = stage.model.sessionFields
    var observer = Observer()
    try observer.see(stage.model.everything, stage.model)
    try Self.play(words, on: stage)
    stage.model.rollBack()
    try observer.see(stage.model.settle(), stage.model)
    try observer.check(against: stage.model)
    #expect(stage.model.sessionFields == order)
    try observer.see(stage.model.told(stage.model.activate(FieldID("b1"))), stage.model)
    try observer.check(against: stage.model)
  }

  @Test("Interface by interface: what the first one lacks is nil, and what has focus hides all of it")
  func byInterface() throws {
    let stage = try Self.stage(["a1"])
    let (title, volume, other) = (try Key(Self.title), try Key("demo.Player.Volume"), try Key("demo.Other.Key"))
    try stage.register("b1", [volume.description: .double(1), other.description: .int32(1)], scope: .session)
    func resolved() -> [String?] { [title, volume, other].map { stage.model.resolve($0)?.text } }
    #expect(resolved() == [nil, "b1", "b1"])
    try stage.model.activate(FieldID("a1"))
    #expect(resolved() == ["a1", nil, "b1"])
    #expect(
      try stage.model.bindings(at: .focused).mapValues(\.field.text)
        == [title: "a1", try Key(Self.status): "a1", other: "b1"])
    try stage.register("a3", ["demo.Player.Rate": .double(1)])
    try stage.play("a3")
    #expect(resolved() == [nil, nil, "b1"])
    try stage.play("-a3")
    #expect(resolved() == ["a1", nil, "b1"])
  }

  @Test("A session-scoped field is scene-scoped in its scene")
  func inItsScene() throws {
    let stage = try Self.stage(["b1"])
    try stage.play("/a0")
    try Self.add("a1", to: stage, in: "a0")
    try stage.model.activate(FieldID("b1"))
    #expect(stage.model.resolve(try Key(Self.title))?.text == "b1")
    try stage.play("a0")
    #expect(stage.model.resolve(try Key(Self.title))?.text == "a1")
  }

  @Test(
    "Text, elements and shells are what has focus, or nothing",
    arguments: ["org.focusd.Text", "org.focusd.Element", "org.focusd.Shell"])
  func withheld(_ interface: String) throws {
    let stage = try WindowStage(windows: [])
    let key = try Key("\(interface).Anything")
    try stage.register("a1", [key.description: .string("x")], scope: .session)
    #expect(stage.model.resolve(key) == nil)
    #expect(try stage.model.bindings(at: .focused).isEmpty)
    #expect(stage.model.shownAtFocused.isEmpty)
    try stage.play("a1")
    #expect(stage.model.resolve(key)?.text == "a1")
  }

  @Test("A number is active by its value; only session-scoped fields are active, or can be activated")
  func conditions() throws {
    let stage = try WindowStage(windows: [])
    let key = try Key("demo.Number.Value")
    try stage.register("a1", [key.description: .double(5)], scope: .session, active: .init(key: key, value: .int32(5)))
    #expect(try stage.model.field(FieldID("a1")).activity?.isActive == true)
    try stage.register(
      "b1", [key.description: .variant(.variant(.int32(5)))], scope: .session,
      active: .init(key: key, value: .int32(5)))
    #expect(try stage.model.field(FieldID("b1")).activity?.isActive == true)
    #expect(throws: ModelError.self) {
      try stage.register("a2", scope: .scene, active: .init(key: key, value: .int32(5)))
    }
    try stage.register("a3", scope: .scene)
    #expect(throws: ModelError.self) { try stage.model.activate(FieldID("a3")) }
  }

  @Test("The order is there again after a restart, also of objects that are yet to answer")
  func restart() throws {
    let stage = try Self.stage()
    try Self.play("+a1 +b1 -b1 *a2 w1+A !w2", on: stage)
    var state = SavedState()
    (state.focusedField, state.history, state.front) = (
      stage.model.focusedField, stage.model.history, stage.model.front
    )
    let again = try FocusModel.restored(stage.model.fields.values.map(\.asSaved), state)
    #expect(again.sessionFields == stage.model.sessionFields)
    #expect(again.focusPath == stage.model.focusPath)
    #expect(again.fields.mapValues(\.parent) == stage.model.fields.mapValues(\.parent))
    again.setWindowBridge(stage.bridge)
    try again.focus(FieldID("w1"), by: stage.bridge)
    #expect(again.sessionFields.map(\.text) == ["a2", "a1", "b1"])
  }
}

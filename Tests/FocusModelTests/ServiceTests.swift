import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

@Suite("Fields with objects of other connections, and the processes of fields")
struct ServiceTests {
  private func field(_ stage: Stage, _ id: String, _ service: String?, process: UInt32? = nil, by owner: BusName) throws
  {
    var options = FieldOptions()
    options.object = try Stage.object(["demo.A.X:i"], ["demo.A.X": .int32(1)], size: 100)
    options.service = try service.map { try BusName($0) }
    options.process = process
    _ = try stage.model.register(FieldID(id), [:], options, owner: owner)
  }

  @Test("It goes with either connection, in one step, and counts for the registrant")
  func leaving() throws {
    for leaving in [":1.1", ":1.9"] {
      let stage = try Stage()
      try stage.register("stored", ["demo.A.X": .int32(1)], owner: stage.other)
      try field(stage, "served", ":1.9", by: stage.owner)
      try field(stage, "another", ":1.8", by: stage.other)
      #expect(stage.model.fields(endingWith: stage.owner) == [try FieldID("served")])
      #expect(stage.model.fields(endingWith: try BusName(":1.9")) == [try FieldID("served")])
      #expect(stage.model.fields(at: stage.owner).isEmpty)
      let connection = try BusName(leaving)
      let changes = stage.model.told(stage.model.ownerLeft(connection))
      #expect(changes.count == 1)
      #expect(stage.model.fields.keys.map(\.text).sorted() == ["another", "stored"])
      #expect(stage.model.table.connections.keys.sorted().map(\.text) == [":1.2", ":1.8"])
      #expect(stage.model.table.allowances == FieldTable(stage.model.fields).allowances)
    }
  }

  @Test("It counts among its registrant's fields, and not among those of the connection behind it")
  func allowance() throws {
    let stage = try Stage()
    for number in 0..<4095 { try stage.register("f\(number)") }
    try field(stage, "served", ":1.9", by: stage.owner)
    #expect(throws: ModelError.self) { try stage.register("more") }
    #expect(throws: ModelError.self) { try field(stage, "more", ":1.9", by: stage.owner) }
    try stage.register("own", owner: BusName(":1.9"))
    try field(stage, "more", ":1.1", by: stage.other)
    try stage.model.unregister(FieldID("served"), by: stage.owner)
    try stage.register("another")
  }

  @Test("It is in the windows of the connection behind it, and what its registrant focuses is remembered as that one's")
  func windows() throws {
    let stage = try WindowStage()
    /// Has `b` register a field with an object of `a`.
    func serve(_ id: String, in parent: String? = nil) throws {
      var options = FieldOptions()
      options.parent = try parent.map { try FieldID($0) }
      options.object = try Stage.object(["demo.A.X:i"])
      options.service = stage.owner("a")
      _ = try stage.model.register(FieldID(id), [:], options, owner: stage.owner("b"))
    }
    func parent(_ id: String) throws -> String? { try stage.model.field(FieldID(id)).parent?.text }
    try stage.play("/a0 /a1 w1+A !w1 a0")
    for id in ["b1", "b2"] {
      try serve(id)
      #expect(try parent(id) == "w1")
    }
    try stage.play("b1 b2 -b2")
    #expect(stage.path == "a0 w1")
    // Without the scene that it was in, it is one.
    try serve("b3", in: "a1")
    try stage.play("~a1")
    #expect(try parent("b3") == "w1")
  }

  @Test("The process is the claimed one, else that of the connection behind the field; none without an owner")
  func process() throws {
    let stage = try Stage()
    let model = stage.model
    try stage.register("stored", ["demo.A.X": .int32(1)], lingers: true)
    try field(stage, "own", nil, by: stage.owner)
    try field(stage, "served", ":1.9", by: stage.owner)
    try field(stage, "claimed", ":1.9", process: 7, by: stage.owner)
    _ = model.settle()
    func processes() throws -> [UInt32] {
      try ["stored", "own", "served", "claimed"].map { model.process(of: try model.field(FieldID($0))) }
    }
    #expect(try processes() == [0, 0, 0, 7])
    let server = try BusName(":1.9")
    #expect(model.told(model.found(3, of: server)) == [.fieldChanged(try FieldID("served"), .process)])
    #expect(model.told(model.found(3, of: server)).isEmpty)
    #expect(
      model.told(model.found(5, of: stage.owner)) == [
        .fieldChanged(try FieldID("own"), .process), .fieldChanged(try FieldID("stored"), .process),
      ])
    #expect(try processes() == [5, 5, 3, 7])
    // What is known is no part of a turn.
    model.rollBack()
    try stage.register("stored", ["demo.A.X": .int32(1)], lingers: true)
    #expect(model.process(of: try model.field(FieldID("stored"))) == 5)
    let changes = model.told(model.ownerLeft(stage.owner))
    #expect(changes == [.fieldChanged(try FieldID("stored"), .owner), .fieldChanged(try FieldID("stored"), .process)])
    #expect(model.process(of: try model.field(FieldID("stored"))) == 0)
  }

  @Test("A process that was told in a turn is told again after a roll-back")
  func processOfATurnThatIsTakenBack() throws {
    let stage = try Stage()
    let model = stage.model
    try stage.register("stored", ["demo.A.X": .int32(1)], lingers: true)
    _ = model.settle()
    model.endTurn()
    let told: [Change] = [.fieldChanged(try FieldID("stored"), .process)]
    #expect(model.told(model.found(5, of: stage.owner)) == told)
    model.rollBack()
    #expect(model.settle() == told)
    model.endTurn()
    model.rollBack()
    #expect(model.settle().isEmpty)
  }
}

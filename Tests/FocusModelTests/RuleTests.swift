import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

/// Rules that no other test would miss.
@Suite struct RuleTests {
  @Test("Publishing the value that is there changes no revision") func samePublished() throws {
    let stage = try Stage()
    let key = try Key("demo.Form.Number")
    let a = try stage.register("a", [key.description: .int32(1)])
    let revision = try stage.model.field(a).bindings[key]?.revision
    try stage.model.publish([key: .int32(1)], on: a, by: stage.owner)
    #expect(try stage.model.field(a).bindings[key]?.revision == revision)
    try stage.model.publish([key: .int32(2)], on: a, by: stage.owner)
    #expect(try stage.model.field(a).bindings[key]?.revision != revision)
  }

  @Test("A connection that leaves is in no window any more") func adoptedLeaves() throws {
    let stage = try WindowStage()
    try stage.play("/a1 /b1 w1+AB")
    let w1 = try FieldID("w1")
    stage.model.ownerLeft(stage.owner("a"))
    #expect(stage.model.fields[w1]?.window?.adopted.keys.map(\.text) == [":1.2"])
    #expect(stage.model.settle().contains(.fieldChanged(w1, .adopted)))
  }

  @Test("What a sensitive field shows of an interface comes and goes with its commands") func sensitiveInterfaces()
    throws
  {
    let stage = try Stage()
    let a = try stage.register(
      "a", properties: ["demo.A.X:i", "demo.B.Y:i"], commands: ["demo.A.Go", "demo.B.Stop"], sensitive: true)
    try stage.update("a", ["demo.A.X": .int32(1), "demo.B.Y": .int32(1)])
    #expect(stage.model.settle() == [])
    let object = try Stage.object(
      ["demo.A.X:i", "demo.B.Y:i"], ["demo.A.X": .int32(1), "demo.B.Y": .int32(1)], commands: ["demo.B.Stop"])
    try stage.model.renew(object, of: a)
    let gone = try InterfaceName("demo.A")
    #expect(stage.model.settle().contains(.interfacesRemoved(.field(a), [gone])))
  }

  @Test("A key that can only be written from now on is told") func writeOnlyFromNowOn() throws {
    let stage = try Stage()
    let a = try stage.register("a", properties: ["demo.A.X:i"], ["demo.A.X": .int32(1)])
    try stage.model.renew(Stage.object(["demo.A.X:i?"]), of: a)
    #expect(
      stage.model.settle() == [
        .valuesChanged(.field(a), try InterfaceName("demo.A"), changed: [], invalidated: [try MemberName("X")]),
        .membersChanged(.field(a), keys: true, commands: false),
      ])
  }

  @Test("A new key of one interface is told, whatever changes of the next") func keyBeforeValue() throws {
    let stage = try Stage()
    let a = try stage.register("a", ["demo.B.Y": .int32(1)])
    try stage.model.publish([Key("demo.A.X"): .int32(1), Key("demo.B.Y"): .int32(2)], on: a, by: stage.owner)
    #expect(stage.model.settle().contains(.membersChanged(.field(a), keys: true, commands: false)))
  }

  @Test("An examined object's property without a value is nil") func examinedNil() throws {
    let stage = try Stage()
    let a = try stage.register("a", properties: ["demo.A.X:i"], ["demo.A.X": .int32(1)])
    try stage.model.renew(Stage.object(["demo.A.X:i"]), of: a)
    #expect(try stage.model.field(a).bindings.isEmpty)
  }

  @Test("The next revision follows those of saved bindings") func restoredRevision() throws {
    let key = try Key("demo.A.X")
    var saved = Field(
      id: try FieldID("a"), label: "a", scope: .field, lingers: true, isSensitive: false, owner: nil, parent: nil,
      registration: 1)
    saved.bindings[key] = FieldBinding(value: .int32(1), revision: 41, isReadOnly: false)
    let model = try FocusModel.restored([saved])
    let client = try BusName(":1.1")
    let written = try model.written(.int32(2), to: BindingPath(key), at: .field(saved.id), by: client)
    #expect(written.reading.revision == 42)
  }

  @Test("Elements in order are each there once, however many come and go") func sortedRuns() {
    var list = SortedList<Int>()
    let numbers = (0..<3000).map { $0 * 7 % 3000 }
    for number in numbers { list.set(number, isThere: true) }
    #expect(Array(list) == Array(0..<3000))
    for number in numbers where number % 50 != 0 { list.set(number, isThere: false) }
    #expect(Array(list) == Array(stride(from: 0, to: 3000, by: 50)))
    #expect(list.count == 60)
  }

  @Test("Which fields are gone is told once, also to those that nobody was told of") func removedFields() throws {
    let stage = try Stage()
    let a = try stage.register("a")
    let b = try stage.model.register(FieldID("b"), [:], owner: stage.owner)
    stage.model.ownerLeft(stage.owner)
    #expect(Set(stage.model.takeRemoved()) == [a, b])
    #expect(stage.model.takeRemoved() == [])
  }

  @Test("What leads to a model tells of focus where there is or was any") func everythingTellsOfFocus() throws {
    let stage = try Stage()
    let a = try stage.register("a")
    #expect(stage.model.everything == [.fieldAdded(a)])
    try stage.focus("a")
    _ = stage.model.settle()
    #expect(stage.model.everything.last == .focusChanged(focusedField: true, focusPath: true, history: false))
    try stage.blur("a")
    _ = stage.model.settle()
    #expect(stage.model.everything.last == .focusChanged(focusedField: false, focusPath: false, history: true))
  }

  @Test("Fields that were saved 64 deep in a window are restored, and no deeper ones") func restoredDepth() throws {
    func chain(_ count: Int) throws -> [Field] {
      try (1...count).map { level in
        Field(
          id: try FieldID("f\(level)"), label: "", scope: .field, lingers: true, isSensitive: false, owner: nil,
          parent: level == 1 ? nil : try FieldID("f\(level - 1)"), registration: UInt64(level), object: nil)
      }
    }
    var fields = try chain(65)
    fields[0].window = Window()
    #expect(try FocusModel.restored(fields).fields.count == 65)
    #expect(throws: ModelError.self) { try FocusModel.restored(chain(66)) }
  }
}

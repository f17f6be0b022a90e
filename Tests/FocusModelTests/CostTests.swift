import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

/// What an operation costs is what it edits and tells, not how much is there: names that are resolved are counted.
@Suite struct CostTests {
  private static let form = "demo.Form"

  private static func values(_ count: Int, of interface: String = form) throws -> [Key: MarshalledValue] {
    var values: [Key: MarshalledValue] = [:]
    for number in 0..<count { values[try Key("\(interface).K\(number)")] = .int32(Int32(number)) }
    return values
  }

  /// A window in focus with an entry, and fields of the scene's scope with so many keys; another program's field beside it.
  private static func stage(keys: Int) throws -> Stage {
    let stage = try Stage()
    try stage.register("window", ["demo.Window.Title": .string("x")])
    try stage.register("entry", ["demo.Entry.Text": .string("x")], parent: "window")
    for (number, start) in stride(from: 0, to: keys, by: 256).enumerated() {
      var options = FieldOptions()
      (options.parent, options.scope) = (try FieldID("window"), .scene)
      let values = try values(min(256, keys - start), of: "demo.Tools\(number)")
      _ = try stage.model.register(FieldID("tools\(number)"), values, options, owner: stage.owner)
    }
    try stage.register(
      "foreign", properties: ["demo.Foreign.Level:i"], ["demo.Foreign.Level": .int32(0)], owner: stage.other)
    try stage.register("player", ["demo.Player.Title": .string("x")], scope: .session, owner: stage.other)
    try stage.focus("entry")
    _ = stage.model.settle()
    return stage
  }

  /// What each operation looks at, whatever else is there.
  private static let operations: [(name: String, names: Int, run: @Sendable (Stage) throws -> Void)] = [
    (
      "an object tells a value that nobody is shown at focused", 0,
      { try $0.update("foreign", ["demo.Foreign.Level": .int32(1)]) }
    ),
    ("a write to the focused field", 1, { try $0.model.write(.string("y"), to: "demo.Entry.Text", by: $0.other) }),
    ("a write to a field of the scene", 1, { try $0.model.write(.int32(9), to: "demo.Tools0.K3", by: $0.other) }),
    ("a write to a session field", 1, { try $0.model.write(.string("y"), to: "demo.Player.Title", by: $0.other) }),
    (
      "a publish of one key", 1,
      { try $0.model.publish([Key("demo.Entry.New"): .byte(1)], on: FieldID("entry"), by: $0.owner) }
    ),
    ("focus within the scene", 1, { try $0.focus("window") }),
    ("a field that nobody is shown comes", 0, { try $0.register("more", ["demo.More.K": .int32(1)]) }),
    ("and in the scene", 1, { try $0.register("more", ["demo.More.K": .int32(1)], parent: "window", scope: .scene) }),
    (
      "one interface is read", 2,
      {
        _ = try $0.model.readAll(at: .focused, of: InterfaceName("demo.Entry"), by: $0.other)
        _ = try $0.model.readAll(at: .focused, of: InterfaceName("demo.Player"), by: $0.other)
      }
    ),
    ("a session field goes", 1, { try $0.model.unregister(FieldID("player"), by: $0.other) }),
  ]

  @Test("What is looked at is what is edited, beside 10 keys and beside 16,000", arguments: operations.indices)
  func names(_ index: Int) throws {
    let operation = Self.operations[index]
    for keys in [10, 16_000] {
      let stage = try Self.stage(keys: keys)
      let before = stage.model.resolutions
      try operation.run(stage)
      _ = stage.model.settle()
      #expect(stage.model.resolutions - before == operation.names, "\(operation.name), beside \(keys) keys")
    }
  }

  @Test("A move into another scene looks at the names of both, and at no other's")
  func scenes() throws {
    let stage = try Self.stage(keys: 1000)
    try stage.register("other", ["demo.Other.K": .int32(1)])
    try stage.register("tool", ["demo.Tool.K": .int32(1)], parent: "other", scope: .scene)
    try stage.register("third", ["demo.Third.K": .int32(1)], parent: "other", scope: .field)
    let before = stage.model.resolutions
    try stage.focus("other")
    _ = stage.model.settle()
    #expect(stage.model.resolutions - before == 1000 + 4)
  }

  @Test("What changes between windows looks at what differs, however many scenes they have adopted")
  func windows() throws {
    let stage = try WindowStage()
    for (id, owner) in [("a", "a"), ("b", "b")] {
      for number in 0..<200 { try stage.register("\(owner)\(number)", ["demo.\(id).K": .int32(1)]) }
    }
    try stage.play("w1+A w2+B !w1 !w2")
    stage.model.saved()
    stage.model.endTurn()
    let before = stage.model.resolutions
    try stage.play("!w1")
    #expect(stage.model.resolutions - before == 0)
    #expect(stage.model.unsavedFields.map(\.id.text) == ["w1"], "no scene has moved")
  }

  @Test("The order is told by the place of what changes: active in its place already, it tells nothing")
  func order() throws {
    let stage = try WindowStage(windows: [])
    let active = Activity.Condition(key: try Key("demo.P.S"), value: .int32(1))
    for number in 0..<1000 {
      try stage.register("a\(number)", ["demo.P.S": .int32(0)], scope: .session, active: active)
    }
    func flip(_ number: Int, _ value: Int32) throws -> [Change] {
      try stage.model.written(
        .int32(value), to: BindingPath("demo.P.S"), at: .field(FieldID("a\(number)")), by: stage.owner("a")
      ).changes
    }
    #expect(try flip(999, 1).contains(.sessionFieldsChanged) == false, "it was the first")
    #expect(try flip(500, 1).contains(.sessionFieldsChanged))
    let before = stage.model.resolutions
    #expect(try flip(500, 0).contains(.sessionFieldsChanged))
    #expect(stage.model.resolutions - before <= 1)
    #expect(stage.model.sessionFields.prefix(3).map(\.text) == ["a999", "a500", "a998"])
    #expect(stage.model.staleIndexes == [])
  }

  @Test("Focus of what was focused last leaves nothing to be saved, in a window or outside", arguments: [false, true])
  func focusAgain(inWindow: Bool) throws {
    let stage = try WindowStage()
    func changes(_ words: String) throws -> Bool {
      stage.model.saved()
      stage.model.endTurn()
      try stage.play(words)
      return stage.model.hasTurnChanges
    }
    try stage.register("a", ["demo.A.K": .int32(1)])
    if inWindow { try stage.play("w1+A !w1") }
    #expect(try changes("a"))
    #expect(try !changes("a"))
    #expect(try changes("!w2"))
    #expect(try changes("a"))
  }

  @Test("Registrations that are taken back leave nothing to be saved")
  func refused() throws {
    let stage = try Stage()
    try stage.register("a", ["demo.Form.Number": .int32(1)])
    stage.model.saved()
    stage.model.endTurn()
    for number in 0..<100 {
      try stage.register("never\(number)", ["demo.Form.Number": .int32(1)], parent: "a")
      try stage.write("demo.Form.Number", .int32(Int32(number)), at: .field(FieldID("a")))
      try stage.focus("never\(number)")
      stage.model.rollBack()
    }
    #expect(stage.model.unsavedFields.isEmpty && stage.model.unsavedMemories.isEmpty)
    #expect(!stage.model.hasUnsavedChanges)
    // What was unsaved before stays so.
    try stage.write("demo.Form.Number", .int32(5), at: .field(FieldID("a")))
    stage.model.endTurn()
    try stage.write("demo.Form.Number", .int32(6), at: .field(FieldID("a")))
    stage.model.rollBack()
    #expect(stage.model.unsavedFields.map(\.id.text) == ["a"])
    #expect(try stage.value("demo.Form.Number", at: .field(FieldID("a"))) == .int32(5))
  }

  @Test("A field takes one word of a table, and 152 bytes beside it, but for what few fields have")
  func size() {
    #expect(MemoryLayout<Field>.stride == 8 && MemoryLayout<Field.Parts>.stride == 152)
  }

  @Test("A scene has 16,384 keys of fields that are not scoped to themselves")
  func sceneLimit() throws {
    let stage = try Self.stage(keys: 16_384)
    func limited(_ body: () throws -> Void) {
      let error = #expect(throws: ModelError.self, performing: body)
      guard case .limitExceeded? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    limited { try stage.register("more", ["demo.More.K": .int32(1)], parent: "window", scope: .scene) }
    limited { try stage.register("more", ["demo.More.K": .int32(1)], parent: "tools0", scope: .session) }
    limited { try stage.register("more", properties: ["demo.More.K:i"], parent: "window", scope: .scene) }
    limited { try stage.register("more", properties: [], commands: ["demo.More.Do"], parent: "window", scope: .scene) }
    try stage.register("more", ["demo.More.K": .int32(1)], parent: "window")
    try stage.register("empty", parent: "window", scope: .scene)
    limited { try stage.model.publish([Key("demo.More.K"): .int32(1)], on: FieldID("empty"), by: stage.owner) }
    try stage.model.withdraw([Key("demo.Tools0.K0")], from: FieldID("tools0"), by: stage.owner)
    try stage.model.publish([Key("demo.More.K"): .int32(1)], on: FieldID("empty"), by: stage.owner)
    limited { try stage.model.publish([Key("demo.More.L"): .int32(1)], on: FieldID("empty"), by: stage.owner) }
    try stage.model.publish([Key("demo.More.K"): .int32(2)], on: FieldID("empty"), by: stage.owner)
    try stage.model.unregister(FieldID("tools1"), by: stage.owner)
    try stage.register("again", ["demo.Again.K": .int32(1)], parent: "window", scope: .scene)
    #expect(stage.model.staleIndexes == [])
  }
}

/// States that were saved when other limits held.
@Suite struct OlderLimitTests {
  private static func field(
    _ id: String, in parent: String? = nil, scope: Scope = .scene, registration: UInt64, _ keys: [Key],
    _ value: MarshalledValue = .byte(1)
  ) throws -> Field {
    var field = Field(
      id: try FieldID(id), label: id, scope: scope, lingers: true, isSensitive: false, owner: nil,
      parent: try parent.map { try FieldID($0) }, registration: registration)
    for key in keys { field.bindings[key] = FieldBinding(value: value, revision: 1, isReadOnly: false) }
    return field
  }

  @Test("A scene keeps 16,384 keys, those of the oldest fields first; other scopes and scenes do not count")
  func scene() throws {
    var restoration = Restoration()
    let keys = try (0..<256).map { try Key("demo.Form.K\($0 + 100)") }
    try restoration.add(Self.field("window", scope: .field, registration: 1, keys))
    for number in 0..<63 {
      try restoration.add(Self.field("f\(number)", in: "window", registration: UInt64(number + 2), keys))
    }
    try restoration.add(Self.field("last", in: "f0", registration: 100, Array(keys.prefix(255))))
    try restoration.add(Self.field("more", in: "last", registration: 101, Array(keys.prefix(3))))
    try restoration.add(Self.field("plain", in: "last", scope: .field, registration: 102, keys))
    try restoration.add(Self.field("other", registration: 103, keys))
    try restoration.finish(SavedState())
    #expect(restoration.leftOut == ["demo.Form.K101 of the field 'more'", "demo.Form.K102 of the field 'more'"])
    let fields = restoration.model.fields
    let counts = try ["last", "more", "plain", "other"].map { fields[try FieldID($0)]?.bindings.count }
    #expect(counts == [255, 1, 256, 256])
  }

  @Test("Names of keys did not count: who is past the limit by them loses nothing, and gets nothing more")
  func names() throws {
    var restoration = Restoration()
    let large = MarshalledValue.string(String(repeating: "x", count: Limits.value.bytes - 5))
    for number in 0..<16 {
      try restoration.add(
        Self.field("f\(number)", scope: .field, registration: UInt64(number + 1), [Key("demo.Form.Text")], large))
    }
    try restoration.add(Self.field("past", scope: .field, registration: 99, [Key("demo.Form.Text")]))
    try restoration.finish(SavedState())
    #expect(restoration.leftOut == ["the field 'past'"])
    #expect(restoration.model.fields.count == 16)
    #expect(throws: ModelError.self) {
      try restoration.model.publish(
        [Key("demo.Form.New"): .byte(1)], on: FieldID("f0"), by: BusName(":1.1"))
    }
    #expect(restoration.model.staleIndexes == [])
  }
}

extension FocusModel {
  fileprivate func write(_ value: MarshalledValue, to path: String, by client: BusName) throws {
    _ = try write(value, to: BindingPath(path), at: .focused, by: client)
  }
}

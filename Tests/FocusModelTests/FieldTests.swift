import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

@Suite("Fields: registration, publishing, removal")
struct FieldTests {
  @Test(
    "An id is 1 to 64 characters of [A-Za-z0-9_]",
    arguments: ["", "a b", "ä", "a-b", "a/b", "a.b", String(repeating: "x", count: 65)])
  func badID(_ text: String) {
    #expect(throws: SyntaxError.self) { try FieldID(text) }
  }

  @Test("Ids at the limit are taken", arguments: ["a", "0", "_", String(repeating: "x", count: 64)])
  func goodID(_ text: String) throws {
    #expect(try FieldID(text).text == text)
  }

  @Test(
    "A key is an interface, a dot and a member, of 255 bytes, and nobody else's",
    arguments: [
      "", "Number", "demo.Number", "demo..Number", "demo.Form.", ".demo.Form", "demo.Form.1x", "demo.Form.Nü",
      "org.freedesktop.DBus.Properties", "org.freedesktop.Foo", "org.focusd.Focus1", "org.focusd.Focus1.Keys",
      "org.focusd.Focus1.Bindings.Keys", "a.b." + String(repeating: "x", count: 252),
    ])
  func badKey(_ text: String) {
    #expect(throws: SyntaxError.self) { try Key(text) }
  }

  @Test(
    "Keys at the limit are taken",
    arguments: ["a.b.C", "org.focusd.Focus10.X", "org.freedesktopp.X.Y", "a.b." + String(repeating: "x", count: 251)])
  func goodKey(_ text: String) throws {
    #expect(try Key(text).description == text)
  }

  @Test("An id in use is refused; an empty one is picked")
  func ids() throws {
    let stage = try Stage()
    try stage.register("a")
    refused(.fieldExists(try FieldID("a"))) { try stage.register("a") }
    let first = try stage.register("")
    let second = try stage.register("")
    #expect(first != second)
    #expect(stage.model.fields.count == 3)
  }

  @Test("A picked id never meets one that is taken")
  func pickedID() throws {
    let stage = try Stage()
    for number in 0..<8 { try stage.register("field\(number)") }
    try stage.register("")
    #expect(stage.model.fields.count == 9)
  }

  @Test("A parent that is not there is refused")
  func parent() throws {
    let stage = try Stage()
    refused(.noSuchField("gone")) { try stage.register("a", parent: "gone") }
    refused(.noSuchField("a")) { try stage.register("a", parent: "a") }
    #expect(stage.model.fields.isEmpty)
  }

  @Test("Refused registrations change nothing: not the allowance, not the revision")
  func allOrNothing() throws {
    let stage = try Stage()
    try stage.register("a", ["demo.Form.Number": .int32(1)])
    let model = stage.model
    let (fields, allowances, revision) = (model.fields, model.table.allowances, model.revision)
    #expect(throws: ModelError.self) {
      try stage.register("b", ["demo.Form.Text": .string("x"), "org.focusd.Text.Caret": .string("x")])
    }
    #expect(throws: ModelError.self) { try stage.register("b", ["demo.Form.Text": .string("x")], readOnly: ["a.b.C"]) }
    #expect(model.fields.keys == fields.keys)
    #expect(model.table.allowances == allowances)
    #expect(model.revision == revision)
  }

  @Test("A binding has one type until it is withdrawn, whatever that of other fields is")
  func types() throws {
    let stage = try Stage()
    let key = try Key("demo.Form.Number")
    let a = try stage.register("a", [key.description: .int32(1)])
    let b = try stage.register("b", [key.description: .string("1")])
    let mismatch = ModelError.typeMismatch(BindingPath(key), expected: .int32, actual: .string)
    refused(mismatch) { try stage.model.publish([key: .string("1")], on: a, by: stage.owner) }
    for (id, value) in [("a", .int32(2)), ("b", .string("2"))] as [(String, MarshalledValue)] {
      try stage.focus(id)
      try stage.write(key.description, value)
    }
    let tooLarge = ModelError.typeMismatch(BindingPath(key), expected: .int32, actual: .int64)
    refused(tooLarge) { try stage.model.publish([key: .int64(1 << 40)], on: a, by: stage.owner) }
    #expect("\(tooLarge)" == "\(key) is of type 'i', which does not hold exactly the given number, of type 'x'")
    refused(.typeMismatch(BindingPath(key), expected: .string, actual: .int32)) {
      try stage.write(key.description, .int32(3))
    }
    try stage.model.withdraw([key], from: a, by: stage.owner)
    try stage.model.publish([key: .double(1)], on: a, by: stage.owner)
    #expect(try stage.value(key.description, at: .field(a)) == .double(1))
    #expect(try stage.value(key.description, at: .field(b)) == .string("2"))
  }

  @Test("The keys of the vocabulary have one type everywhere, and its commands none")
  func vocabulary() throws {
    let stage = try Stage()
    let path = try BindingPath("org.focusd.Range.Value")
    let mismatch = ModelError.vocabulary(.typeMismatch(path.key, expected: .double, actual: .int32))
    let a = try stage.register("a", ["org.focusd.Range.Value": .double(1)])
    refused(mismatch) { try stage.register("b", ["org.focusd.Range.Value": .int32(1)]) }
    let b = try stage.register("b")
    // A number converts only for a key that is there.
    refused(mismatch) { try stage.model.publish([path.key: .int32(1)], on: b, by: stage.owner) }
    try stage.model.publish([path.key: .int32(2)], on: a, by: stage.owner)
    #expect(try stage.value(path.description, at: .field(a)) == .double(2))
    for name in ["org.focusd.Window.Close", "org.focusd.Action.Whatever", "org.focusd.Text.Insert"] {
      refused(.vocabulary(.isCommand(try Key(name)))) { try stage.register("c", [name: .boolean(true)]) }
      refused(.vocabulary(.isCommand(try Key(name)))) {
        try stage.model.publish([Key(name): .boolean(true)], on: a, by: stage.owner)
      }
    }
    #expect("\(mismatch)" == "\(path) is of type 'd' in every program, but the given value is of type 'i'")
    // What is not in it is free.
    try stage.register("c", ["org.focusd.Range.Other": .int32(1), "org.focusd.Other.Value": .int32(1)])
    // An object's values that do not fit are nil.
    try stage.register(
      "d", properties: ["org.focusd.Range.Value:i", "org.focusd.Range.Step:d", "org.focusd.Window.Close:b"],
      [
        "org.focusd.Range.Value": .int32(1), "org.focusd.Range.Step": .double(1),
        "org.focusd.Window.Close": .boolean(true),
      ])
    #expect(try stage.model.field(FieldID("d")).bindings.keys.map(\.description) == ["org.focusd.Range.Step"])
    try stage.update("d", ["org.focusd.Range.Value": .int32(2), "org.focusd.Range.Step": .double(2)])
    #expect(try stage.model.field(FieldID("d")).bindings.mapValues(\.value).values.map(\.self) == [.double(2)])
  }

  @Test("Publish adds and changes; Withdraw takes away; both are the owner's alone")
  func publishing() throws {
    let stage = try Stage()
    let a = try stage.register("a", ["demo.Form.Number": .int32(1)])
    let text = try Key("demo.Form.Text")
    let changes = try stage.model.told(stage.model.publish([text: .string("x")], on: a, by: stage.owner))
    #expect(
      changes == [
        .valuesChanged(
          .field(a), text.interface, changed: [.init(name: text.member, value: .string("x"))], invalidated: []),
        .membersChanged(.field(a), keys: true, commands: false),
      ])
    #expect(try stage.model.told(stage.model.publish([text: .string("x")], on: a, by: stage.owner)).isEmpty)
    #expect(
      try stage.model.told(stage.model.withdraw([text], from: a, by: stage.owner)) == [
        .valuesChanged(.field(a), text.interface, changed: [], invalidated: [text.member]),
        .membersChanged(.field(a), keys: true, commands: false),
      ])
    refused(.unknownProperty(text, a)) { try stage.model.withdraw([text], from: a, by: stage.owner) }
    for body in [
      { try stage.model.publish([text: .string("x")], on: a, by: stage.other) },
      { try stage.model.withdraw([text], from: a, by: stage.other) },
      { try stage.model.unregister(a, by: stage.other) },
      { try stage.model.focus(a, by: stage.other) },
      { try stage.model.blur(a, by: stage.other) },
    ] as [() throws -> Void] {
      let error = #expect(throws: ModelError.self, performing: body)
      guard case .accessDenied? = error else {
        Issue.record("\(String(describing: error)) instead of accessDenied")
        continue
      }
    }
  }

  @Test("Publishing anew leaves read-only keys so unless it says otherwise")
  func readOnlyStays() throws {
    let stage = try Stage()
    let a = try stage.register("a", ["demo.Form.Number": .int32(1)], readOnly: ["demo.Form.Number"])
    let key = try Key("demo.Form.Number")
    try stage.model.publish([key: .int32(2)], on: a, by: stage.owner)
    refused(.readOnly(key, a)) { try stage.write("demo.Form.Number", .int32(3), at: .field(a)) }
    try stage.model.publish([key: .int32(2)], readOnly: [], on: a, by: stage.owner)
    try stage.write("demo.Form.Number", .int32(3), at: .field(a))
  }

  @Test("Children of a removed field move up to its parent, or become scenes")
  func childrenMoveUp() throws {
    let stage = try Stage()
    let window = try stage.register("window")
    let pane = try stage.register("pane", parent: "window")
    let entry = try stage.register("entry", parent: "pane")
    let changes = try stage.model.told(stage.model.unregister(pane, by: stage.owner))
    #expect(changes.contains(.fieldChanged(entry, .parent)))
    #expect(stage.model.fields[entry]?.parent == window)
    #expect(stage.model.fields[window]?.children == [entry])
    try stage.model.unregister(window, by: stage.owner)
    #expect(stage.model.fields[entry]?.parent == nil)
  }

  @Test("An owner that leaves takes its fields along, but for those that linger, which anyone may then use")
  func ownerLeaves() throws {
    let stage = try Stage()
    try stage.register("window", lingers: true)
    try stage.register("pane", parent: "window")
    let entry = try stage.register(
      "entry", ["demo.Form.Number": .int32(1)], parent: "pane", readOnly: ["demo.Form.Number"], lingers: true)
    try stage.register("foreign", parent: "pane", owner: stage.other)
    try stage.focus("entry")
    stage.model.ownerLeft(stage.owner)
    #expect(Set(stage.model.fields.keys.map(\.text)) == ["window", "entry", "foreign"])
    #expect(stage.path == ["entry", "window"])
    #expect(stage.model.fields[entry]?.owner == nil)
    try stage.write("demo.Form.Number", .int32(2))
    try stage.model.blur(entry, by: stage.other)
    #expect(stage.path == ["window"])
    _ = stage.model.settle()
    #expect(stage.model.told(stage.model.ownerLeft(stage.owner)).isEmpty)
  }
}

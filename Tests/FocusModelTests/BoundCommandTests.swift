import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

@Suite("Commands, and interfaces that resolve")
struct BoundCommandTests {
  private let save = "demo.Edit.Save"
  private let undo = "demo.Edit.Undo"

  /// A window with an entry in it, and a toolbar beside that; all have the command `Save`.
  private func window() throws -> Stage {
    let stage = try Stage()
    try stage.register("window", properties: [], commands: [save, undo])
    try stage.register("entry", properties: [], commands: [save], parent: "window", owner: stage.other)
    try stage.register("toolbar", properties: [], commands: [save, "demo.Bar.Hide"], parent: "window", scope: .scene)
    return stage
  }

  @Test("A command goes to the innermost field on the path that has it, then to the newest of the scene")
  func innermost() throws {
    let stage = try window()
    refused(.commandNotFocused(try Key(save))) { _ = try stage.holder(save) }
    try stage.model.focus(FieldID("entry"), by: stage.other)
    #expect(try stage.holder(save) == "entry")
    #expect(try stage.holder(undo) == "window")
    #expect(try stage.holder("demo.Bar.Hide") == "toolbar")
    try stage.register("bar2", properties: [], commands: ["demo.Bar.Hide"], parent: "window", scope: .scene)
    #expect(try stage.holder("demo.Bar.Hide") == "bar2")
    refused(.commandNotFocused(try Key("demo.Edit.Other"))) { _ = try stage.holder("demo.Edit.Other") }
    stage.model.ownerLeft(stage.other)
    #expect(try stage.holder(save) == "window")
  }

  @Test("A field's own commands, focused or not")
  func field() throws {
    let stage = try window()
    let entry = Place.field(try FieldID("entry"))
    #expect(try stage.holder(save, at: entry) == "entry")
    refused(.unknownCommand(try Key(undo), try FieldID("entry"))) { _ = try stage.holder(undo, at: entry) }
    refused(.noSuchField("gone")) { _ = try stage.holder(undo, at: .field(FieldID("gone"))) }
  }

  @Test("A disabled command hides the same one of the ancestors, and is not nil")
  func disabled() throws {
    let stage = try window()
    try stage.model.focus(FieldID("entry"), by: stage.other)
    _ = stage.model.settle()
    let changes = try stage.enable("entry", [save: false], by: stage.other)
    #expect(
      changes == [
        .membersChanged(.field(try FieldID("entry")), keys: false, commands: true),
        .membersChanged(.focused, keys: false, commands: true),
      ])
    refused(.disabled(try Key(save), try FieldID("entry"))) { _ = try stage.holder(save) }
    #expect(try stage.model.commands(at: .focused)[Key(save)]?.isEnabled == false)
    #expect(try stage.enable("entry", [save: false], by: stage.other).isEmpty, "nothing changes, nobody is told")
    _ = try stage.enable("entry", [save: true], by: stage.other)
    #expect(try stage.holder(save) == "entry")
    // One that resolves to another field changes nothing of what is focused.
    #expect(try stage.enable("window", [save: false]).map(\.isOfFocused) == [false])
  }

  @Test("Commands are enabled by the owner, all of them or none")
  func enabling() throws {
    let stage = try window()
    #expect(throws: ModelError.self) { _ = try stage.enable("entry", [save: false], by: stage.owner) }
    refused(.unknownCommand(try Key(undo), try FieldID("entry"))) {
      _ = try stage.enable("entry", [save: false, undo: false], by: stage.other)
    }
    #expect(try stage.holder(save, at: .field(FieldID("entry"))) == "entry")
    try stage.register("plain", ["demo.Edit.Save": .int32(1)])
    #expect(throws: ModelError.self) { _ = try stage.enable("plain", [save: true]) }
  }

  @Test("Commands of a removed scene's children resolve in the scenes that these become")
  func movedUp() throws {
    let stage = try window()
    try stage.model.unregister(FieldID("window"), by: stage.owner)
    try stage.model.focus(FieldID("entry"), by: stage.other)
    refused(.commandNotFocused(try Key("demo.Bar.Hide"))) { _ = try stage.holder("demo.Bar.Hide") }
    #expect(try stage.resolve("demo.Bar") == nil)
    try stage.focus("toolbar")
    #expect(try stage.holder("demo.Bar.Hide") == "toolbar")
    #expect(try stage.resolve("demo.Bar") == "toolbar")
  }

  @Test("An interface resolves to the innermost field that has it, as keys, commands or signals alone")
  func interfaces() throws {
    let stage = try Stage()
    try stage.register(
      "window", properties: [], commands: [save], interfaces: ["demo.Signals", "demo.Stored", "demo.Secret"])
    try stage.register("entry", properties: [], interfaces: ["demo.Edit"], parent: "window", owner: stage.other)
    try stage.register("stored", ["demo.Stored.X": .int32(1)], parent: "entry")
    try stage.register(
      "secret", properties: ["demo.Secret.X:i"], ["demo.Secret.X": .int32(1)], parent: "stored", sensitive: true)
    try stage.register(
      "tools", properties: [], interfaces: ["demo.Tools", "demo.Signals"], parent: "window", scope: .scene)
    #expect(try stage.resolve("demo.Signals") == nil)
    try stage.focus("secret")
    let expected = [
      "demo.Signals": "window", "demo.Edit": "window", "demo.Stored": "stored", "demo.Secret": "secret",
      "demo.Tools": "tools",
    ]
    for (interface, field) in expected { #expect(try stage.resolve(interface) == field, "\(interface)") }
    #expect(try stage.resolve("demo.None") == nil)
    #expect(
      try stage.model.objectInterfaces(at: .focused).mapValues(\.text)
        == Dictionary(uniqueKeysWithValues: expected.map { (try InterfaceName($0), $1) }))
    let window = try stage.model.objectInterfaces(at: .field(FieldID("window")))
    #expect(Set(window.keys.map(\.text)) == ["demo.Edit", "demo.Signals", "demo.Stored", "demo.Secret"])
    try stage.register("newer", ["demo.Tools.X": .int32(1)], parent: "window", scope: .scene)
    #expect(try stage.resolve("demo.Tools") == "newer")
  }

  @Test("After a restart, an object is bound again with what was disabled, within the limits")
  func bindAgain() throws {
    let stage = try window()
    _ = try stage.enable("entry", [save: false], by: stage.other)
    _ = try stage.enable("window", [save: false, undo: false])
    let fields = stage.model.unsavedFields.compactMap { $0.now?.asSaved }
    let model = try FocusModel.restored(fields)
    let entry = try FieldID("entry")
    let object = try Stage.object(
      ["demo.A.X:i"], ["demo.A.X": .int32(1)], commands: [save], interfaces: ["demo.Signals"], size: 100)
    try model.bind(object, to: entry)
    // An owner goes on while its object has not answered.
    let window = try FieldID("window")
    try model.setEnabled([(try Key(undo), true)], of: window, by: stage.owner)
    for unknown in [undo, "demo.Edit.No"] {
      refused(.unknownCommand(try Key(unknown), window)) {
        try model.setEnabled([(try Key(save), true), (try Key(unknown), true)], of: window, by: stage.owner)
      }
    }
    #expect(model.unsavedFields.first { $0.id == window }?.now?.asSaved.awaited?.disabled == [try Key(save)])
    try model.bind(Stage.object([], commands: [save, undo]), to: window)
    #expect(model.fields[window]?.enabledCommands == [try Key(save): false, try Key(undo): true])
    try model.focus(entry, by: stage.other)
    refused(.disabled(try Key(save), entry)) { _ = try model.holder(ofCommand: Key(save), at: .focused) }
    #expect(try model.read(BindingPath("demo.A.X"), at: .focused, by: stage.owner).value == .int32(1))
    #expect(try model.resolve(InterfaceName("demo.Signals")) == entry)
    // What the field keeps itself is not the object's, though that shows it by now.
    let toolbar = try FieldID("toolbar")
    try model.publish([try Key("demo.A.Y"): .int32(1)], on: toolbar, by: stage.owner)
    let both: [String: MarshalledValue] = ["demo.A.X": .int32(2), "demo.A.Y": .int32(3)]
    try model.bind(Stage.object(["demo.A.X:i", "demo.A.Y:i"], both), to: toolbar)
    for (key, value) in ["demo.A.X": 2, "demo.A.Y": 1] as [String: Int32] {
      let read = try model.read(BindingPath(key), at: .field(toolbar), by: stage.owner)
      #expect(read.value == .int32(value))
    }
    let tooMany = try Stage.object((0..<257).map { "demo.Many.P\($0):i" })
    #expect(throws: ModelError.self) { try model.bind(tooMany, to: FieldID("window")) }
    model.ownerLeft(stage.other)
    model.ownerLeft(stage.owner)
    #expect(model.table.allowances == Allowances())
  }
}

extension Change {
  fileprivate var isOfFocused: Bool {
    if case .membersChanged(.focused, _, _) = self { true } else { false }
  }
}

import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

@Suite("Focused values: what a key resolves to")
struct ResolutionTests {
  private let key = "demo.Form.Number"

  @Test("The innermost field on the path wins; then its ancestors; then nil")
  func innermost() throws {
    let stage = try Stage()
    try stage.register("window", [key: .int32(1)])
    let pane = try stage.register("pane", [key: .int32(2)], parent: "window")
    try stage.register("entry", parent: "pane")
    refused(.notFocused(try Key(key))) { _ = try stage.value(key) }
    try stage.focus("entry")
    #expect(try stage.value(key) == .int32(2))
    try stage.model.withdraw([Key(key)], from: pane, by: stage.owner)
    #expect(try stage.value(key) == .int32(1))
    try stage.blur("entry")
    try stage.blur("pane")
    #expect(try stage.value(key) == .int32(1))
    try stage.blur("window")
    refused(.notFocused(try Key(key))) { _ = try stage.value(key) }
  }

  @Test("A scene-scoped field counts while its scene has focus, the newest first, after the whole path")
  func sceneScope() throws {
    let stage = try Stage()
    try stage.register("window")
    try stage.register("entry", parent: "window")
    try stage.register("old", [key: .int32(1)], parent: "window", scope: .scene)
    let new = try stage.register("new", [key: .int32(2)], parent: "window", scope: .scene)
    try stage.register("elsewhere", [key: .int32(3)], scope: .scene)
    try stage.focus("entry")
    #expect(try stage.value(key) == .int32(2))
    try stage.model.unregister(new, by: stage.owner)
    #expect(try stage.value(key) == .int32(1))
    try stage.model.publish([Key(key): .int32(9)], on: FieldID("window"), by: stage.owner)
    #expect(try stage.value(key) == .int32(9))
    try stage.focus("elsewhere")
    #expect(try stage.value(key) == .int32(3))
  }

  @Test("The newest is the one registered last, not the one that published last")
  func newest() throws {
    let stage = try Stage()
    try stage.register("window")
    let old = try stage.register("old", parent: "window", scope: .scene)
    try stage.register("new", [key: .int32(2)], parent: "window", scope: .scene)
    try stage.model.publish([Key(key): .int32(1)], on: old, by: stage.owner)
    try stage.focus("window")
    #expect(try stage.value(key) == .int32(2))
  }

  @Test("When a scene goes, its scene-scoped fields serve the scenes that they end up in")
  func sceneSplits() throws {
    let stage = try Stage()
    let window = try stage.register("window")
    try stage.register("left", parent: "window")
    try stage.register("right", parent: "window")
    try stage.register("provider", [key: .int32(1)], parent: "left", scope: .scene)
    try stage.register("entry", parent: "left")
    try stage.focus("right")
    #expect(try stage.value(key) == .int32(1))
    try stage.model.unregister(window, by: stage.owner)
    refused(.notFocused(try Key(key))) { _ = try stage.value(key) }
    try stage.focus("entry")
    #expect(try stage.value(key) == .int32(1))
  }

  @Test("A field's own object shows its own bindings, focused or not")
  func fieldObject() throws {
    let stage = try Stage()
    let a = try stage.register("a", [key: .int32(1)])
    let b = try stage.register("b")
    try stage.focus("b")
    #expect(try stage.value(key, at: .field(a)) == .int32(1))
    refused(.unknownProperty(try Key(key), b)) { _ = try stage.value(key, at: .field(b)) }
    try stage.write(key, .int32(5), at: .field(a))
    #expect(try stage.value(key, at: .field(a)) == .int32(5))
    refused(.notFocused(try Key(key))) { try stage.write(key, .int32(5)) }
  }
}

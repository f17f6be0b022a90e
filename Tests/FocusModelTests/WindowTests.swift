import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

/// The contract's section *Windows*, a line each: what happens, and what is on the focus path then.
@Suite struct WindowTests {
  @Test(
    "What has focus follows from the window in front and from what owners focused",
    arguments: [
      ("a window in front, and nothing in it", "!w1", "w1"),
      ("the first of the window in front", "/a1 /a2 w1+A a1 a2 !w1", "a2 w1"),
      ("focus before the window is in front", "/a1 w1+A a1 !w1 !w2 !w1", "a1 w1"),
      ("adoption after focus", "/a1 !w1 a1 w1+A", "a1 w1"),
      ("adoption before focus", "/a1 !w1 w1+A a1", "a1 w1"),
      ("focus in a window behind moves nothing", "/a1 /b1 w1+A w2+B b1 !w2 a1", "b1 w2"),
      ("and counts when that comes to the front", "/a1 /b1 w1+A w2+B b1 !w2 a1 !w1", "a1 w1"),
      ("a field in no window", "/a1 !w1 a1", "a1"),
      ("until another window comes to the front", "/a1 !w1 a1 !w2", "w2"),
      ("or the same one is focused again", "/a1 !w1 a1 !w1", "w1"),
      ("until the window in front is blurred", "/a1 !w1 a1 -w1", ""),
      ("until a field of the window in front is focused", "/a1 /b1 w1+B !w1 a1 b1", "b1 w1"),
      ("a field of a window behind does not matter", "/a1 /b1 w2+B !w1 a1 b1", "a1"),
      ("its nearest ancestor when it is blurred", "/a1 a1/a2 !w1 a2 -a2", "a1"),
      ("and without one the window in front", "/a1 !w1 a1 -a1", "w1"),
      ("its nearest ancestor when it is removed", "/a1 a1/a2 !w1 a2 ~a2", "a1"),
      ("and no longer once it is adopted", "/a1 !w1 a1 w2+A", "w1"),
      ("an empty workspace", "/a1 w1+A a1 !w1 -w1", ""),
      ("a blur of a window behind moves nothing", "/a1 w1+A a1 !w1 -w2", "a1 w1"),
      ("a window that goes takes what is in it out", "/a1 w1+A a1 !w1 ~w1", ""),
      ("the newest of all owners", "/a1 /b1 w1+AB a1 b1 !w1", "b1 w1"),
      ("a blur forgets the owner's others", "/a1 /a2 w1+A !w1 a1 a2 -a2", "w1"),
      ("but not another owner's", "/a1 /a2 /b1 w1+AB !w1 b1 a1 a2 -a2", "b1 w1"),
      ("and an ancestor takes its place", "/a1 a1/a2 /a3 w1+A !w1 a3 a2 -a2", "a1 w1"),
      ("a late blur steals nothing", "/a1 /a2 w1+A !w1 a1 a2 -a1", "a2 w1"),
      ("the next newest when it is removed", "/a1 /a2 w1+A !w1 a1 a2 ~a2", "a1 w1"),
      ("the nearest ancestor before that", "/a1 a1/a2 /a3 w1+A !w1 a3 a2 ~a2", "a1 w1"),
      ("also of another owner, who may blur it", "/a1 a1/b2 w1+A !w1 b2 ~b2 -a1", "w1"),
      ("a connection in two windows: in the one in front last", "/a1 w1+A w2+A a1 !w2", "a1 w2"),
      ("which moves with the front", "/a1 w1+A w2+A a1 !w2 !w1", "a1 w1"),
      ("also when it was in front before it adopted", "/a1 !w2 !w1 w2+A w1+A a1", "a1 w1"),
      ("at first in the one that adopted it first", "/a1 w2+A w1+A a1 ~w1", ""),
      ("and in another when that adopts it no more", "/a1 w1+A w2+A a1 !w2 w2+ !w1", "a1 w1"),
      ("a field within another program's", "/a1 a1/b1 w1+A !w1 b1", "b1 a1 w1"),
      ("a scene that goes leaves another program's field in that one's windows", "/a1 a1/b1 w1+A !w1 b1 ~a1", "w1"),
      ("or in the window still", "/a1 a1/b1 w1+AB !w1 b1 ~a1", "b1 w1"),
      ("a container that goes leaves its field in the scene", "/a1 a1/a2 a2/b1 w1+A !w1 b1 ~a2", "b1 a1 w1"),
      ("a field whose container goes comes into a window", "/b1 b1/a1 w1+A !w1 a1 ~b1", "a1 w1"),
      ("a program that leaves", "/a1 /b1 w1+AB !w1 b1 a1 xa", "b1 w1"),
      ("the bridge leaves: focus stays", "/a1 w1+A !w1 a1 xw", "a1"),
      ("the bridge leaves: its windows go", "!w1 xw", ""),
      ("a field of the bridge's own in a window", "w1/w3 !w1 w3", "w3 w1"),
    ])
  func focus(_ what: String, _ words: String, _ path: String) throws {
    let stage = try WindowStage()
    try stage.play(words)
    #expect(stage.path == path, "\(what)")
  }

  @Test(
    "The history names what people left",
    arguments: [
      ("!w1 !w2", "w1"), ("/a1 w1+A a1 !w1 !w2", "a1"), ("/a1 w1+A a1 !w1 -a1 !w2", "a1"),
      ("/a1 w1+A a1 !w1 !w2 !w1", "w2"), ("/a1 a1/a2 !w1 w1+A a2 -a2 a1 !w2 -w2", "w2 a2"),
    ])
  func history(_ words: String, _ history: String) throws {
    let stage = try WindowStage()
    try stage.play(words)
    #expect(stage.history == history)
  }

  @Test("What a bridge that comes back adopts is remembered")
  func comesBack() throws {
    let stage = try WindowStage()
    try stage.play("/a1 /a2 w1+A !w1 a1 a2 -w1")
    stage.model.setWindowBridge(nil)
    #expect(stage.model.fields.values.filter { $0.window != nil }.isEmpty)
    #expect(try stage.model.field(FieldID("a1")).parent == nil)
    stage.model.setWindowBridge(stage.bridge)
    try stage.register("w5")
    try stage.play("w5+A !w5")
    #expect(stage.path == "a2 w5")
  }

  @Test("An adopted scene stays the scene: its scene-scoped fields come before the window's")
  func scenes() throws {
    let stage = try WindowStage(windows: [])
    let key = try Key("demo.Scene.Name")
    for (id, parent) in [("w1", nil), ("w2", "w1"), ("a1", nil), ("a2", "a1"), ("a3", nil)] as [(String, String?)] {
      try stage.register(id, in: parent, id == "a1" ? [:] : [key.description: .string(id)], scope: .scene)
    }
    try stage.play("w1+A !w1 a1")
    #expect(stage.path == "a1 w1")
    // What the window publishes itself is on the path.
    #expect(stage.model.resolve(key)?.text == "w1")
    try stage.model.withdraw([key], from: FieldID("w1"), by: stage.bridge)
    #expect(stage.model.resolve(key)?.text == "a2")
    try stage.model.withdraw([key], from: FieldID("a2"), by: stage.owner("a2"))
    #expect(stage.model.resolve(key)?.text == "w2")
  }

  @Test("A window has no other options, and only its bridge adopts")
  func refusals() throws {
    let stage = try WindowStage()
    let (bridge, other) = (stage.bridge, stage.owner("a"))
    var options = FieldOptions()
    options.lingers = true
    #expect(throws: ModelError.self) { _ = try stage.model.register(FieldID("w3"), [:], options, owner: bridge) }
    try stage.play("/a1 w1/w4")
    let (w1, w4, a1) = (try FieldID("w1"), try FieldID("w4"), try FieldID("a1"))
    for (id, client, adopted) in [(w1, other, other), (w4, bridge, other), (a1, other, other), (w1, bridge, bridge)] {
      #expect(throws: ModelError.self) { try stage.model.adopt([adopted], into: id, by: client) }
    }
    #expect(
      try stage.model.told(stage.model.adopt([other], into: w1, by: bridge)) == [
        .fieldChanged(a1, .parent), .fieldChanged(w1, .adopted),
      ])
    #expect(try stage.model.told(stage.model.adopt([other], into: w1, by: bridge)) == [])
  }

  @Test("A turn that is taken back leaves the scenes where they were")
  func rollBack() throws {
    let stage = try WindowStage()
    try stage.play("/a1 w1+A w2+A !w1 a1")
    stage.model.saved()
    stage.model.endTurn()
    let (before, children) = (stage.model.fields.mapValues(\.parent), stage.model.fields.mapValues(\.children))
    for words in ["~w1", "w2+ !w2", "xa", "xw", "~a1 !w2"] {
      try stage.play(words)
      stage.model.rollBack()
      #expect(stage.model.fields.mapValues(\.parent) == before, "\(words)")
      #expect(stage.model.fields.mapValues(\.children) == children, "\(words)")
      #expect(stage.path == "a1 w1", "\(words)")
      stage.model.setWindowBridge(stage.bridge)
    }
  }

  @Test("The level of the window does not count as depth")
  func depth() throws {
    let stage = try WindowStage()
    try stage.play("/a0 w1+A")
    for level in 1..<64 { try stage.register("a\(level)", in: "a\(level - 1)") }
    #expect(throws: ModelError.self) { try stage.register("a64", in: "a63") }
    try stage.play("!w1 a63")
    #expect(stage.model.focusPath.count == 65)
  }
}

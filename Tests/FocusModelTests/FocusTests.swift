import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

@Suite("Focus: path, history, what is told")
struct FocusTests {
  @Test("Focus moves; blur moves it to the parent, then to nothing; a late blur steals nothing")
  func moves() throws {
    let stage = try Stage()
    try stage.register("window")
    try stage.register("entry", parent: "window")
    try stage.register("other")
    #expect(stage.path == [])
    try stage.focus("entry")
    #expect(stage.path == ["entry", "window"])
    try stage.focus("other")
    try stage.blur("entry")
    #expect(stage.path == ["other"])
    try stage.focus("entry")
    try stage.blur("entry")
    #expect(stage.path == ["window"])
    try stage.blur("window")
    #expect(stage.path == [])
  }

  @Test("When the focused field goes, focus goes to the nearest ancestor that remains")
  func removal() throws {
    let stage = try Stage()
    try stage.register("window")
    let pane = try stage.register("pane", parent: "window", owner: stage.other)
    let entry = try stage.register("entry", parent: "pane", owner: stage.other)
    try stage.model.focus(entry, by: stage.other)
    let changes = stage.model.told(stage.model.ownerLeft(stage.other))
    #expect(stage.path == ["window"])
    #expect(changes.contains(.focusChanged(focusedField: true, focusPath: true, history: false)))
    #expect(stage.model.fields[pane] == nil)
    try stage.model.unregister(FieldID("window"), by: stage.owner)
    #expect(stage.path == [])
  }

  @Test("History: newest first, each once, never the focused field, never a removed one, 32 at most")
  func history() throws {
    let stage = try Stage()
    for id in ["a", "b", "c"] { try stage.register(id) }
    for id in ["a", "b", "a", "c"] { try stage.focus(id) }
    #expect(stage.history == ["a", "b"])
    try stage.blur("c")
    #expect(stage.history == ["c", "a", "b"])
    try stage.model.unregister(FieldID("a"), by: stage.owner)
    #expect(stage.history == ["c", "b"])
    for number in 0..<40 {
      try stage.register("n\(number)")
      try stage.focus("n\(number)")
    }
    #expect(stage.history.count == 32)
    #expect(stage.history.first == "n38")
    #expect(stage.history.last == "n7")
  }

  @Test("A blur and the focus that follows it are told as one change")
  func oneChange() throws {
    let stage = try Stage()
    let a = try stage.register("a", ["demo.Form.Number": .int32(1), "demo.Form.Same": .int32(7)])
    let b = try stage.register("b", ["demo.Form.Number": .int32(2), "demo.Form.Same": .int32(7)])
    try stage.focus("a")
    _ = stage.model.settle()
    try stage.blur("a")
    try stage.focus("b")
    let form = try InterfaceName("demo.Form")
    #expect(
      stage.model.settle() == [
        .focusChanged(focusedField: true, focusPath: true, history: true), .fieldChanged(a, .focused),
        .fieldChanged(b, .focused),
        .valuesChanged(
          .focused, form, changed: [.init(name: try MemberName("Number"), value: .int32(2))], invalidated: []),
      ])
    #expect(stage.model.settle().isEmpty)
  }

  @Test("A move of focus is told together with the write that follows it")
  func orderOfChanges() throws {
    let stage = try Stage()
    try stage.register("a", ["demo.Form.Number": .int32(1)])
    try stage.focus("a")
    let changes = try stage.model.written(.int32(2), to: BindingPath("demo.Form.Number"), at: .focused, by: stage.other)
      .changes
    let told = changes.compactMap { change -> MarshalledValue? in
      guard case .valuesChanged(.focused, _, let changed, _) = change else { return nil }
      return changed.first?.value
    }
    #expect(told == [.int32(2)])
  }
}

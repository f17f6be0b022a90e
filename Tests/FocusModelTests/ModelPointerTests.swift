import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

@Suite("Elements of bindings: pointers behind keys")
struct BindingPointerTests {
  private let items = "demo.Todo.Items"

  private func stage(sensitive: Bool = false) throws -> Stage {
    let stage = try Stage()
    let item = DBusValue.structure([.string("wash"), .boolean(false)])
    try stage.register(
      "a", [items: .array(try DBusArray(of: item.type, [item])), "demo.Todo.Tags": .strings(["x"])],
      sensitive: sensitive)
    try stage.focus("a")
    return stage
  }

  @Test(
    "A path is a key and a pointer",
    arguments: [
      ("a.B.c", "a.B.c", []), ("a.B.c/", "a.B.c", [""]), ("a.B.c/2/done", "a.B.c", ["2", "done"]),
      ("a.B.c/x.y", "a.B.c", ["x.y"]), ("a.B.c/\u{301}", "a.B.c", ["\u{301}"]),
    ] as [(String, String, [String])])
  func path(text: String, key: String, tokens: [String]) throws {
    let path = try BindingPath(text)
    #expect(path.key.description == key)
    #expect(path.pointer.tokens == tokens)
    #expect(path.description.utf8.elementsEqual(text.utf8))
  }

  @Test("What is none", arguments: ["", "/", "a/0", "/a.B.c", "a.B.c/~", "a.B./0", "a.B.c.", "org.freedesktop.A.b/0"])
  func noPath(text: String) {
    #expect(throws: ModelError.self) { try BindingPath(text) }
  }

  @Test("A write of an element changes it alone, takes one revision, and tells the whole value")
  func write() throws {
    let stage = try stage()
    _ = stage.model.settle()
    let before = try stage.model.read(BindingPath(items), at: .focused, by: stage.other)
    let outcome = try stage.model.write(.boolean(true), to: BindingPath(items + "/0/1"), at: .focused, by: stage.other)
    guard case .written(let reading) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(reading.value == .boolean(true))
    #expect(reading.revision == before.revision + 1 || reading.revision == stage.model.revision)
    let whole = try stage.value(items)
    let shown = stage.model.settle().map { change -> MarshalledValue? in
      guard case .valuesChanged(_, _, let changed, []) = change else { return nil }
      return changed.first?.value
    }
    // Of the field, and of what is focused.
    #expect(shown == [whole, whole])
    #expect(try stage.value(items + "/0/1") == .boolean(true))
    #expect(try stage.value(items + "/0/0") == .string("wash"))
  }

  @Test("A write of an element that is there already changes nothing and tells nobody")
  func equal() throws {
    let stage = try stage()
    _ = stage.model.settle()
    let revision = stage.model.revision
    for (path, value): (String, MarshalledValue) in [
      ("/0/1", .boolean(false)), ("/0/0", .string("wash")), ("/0", .structure([.string("wash"), .boolean(false)])),
    ] {
      let outcome = try stage.model.write(value, to: BindingPath(items + path), at: .focused, by: stage.other)
      guard case .written(let reading) = outcome else {
        Issue.record("\(outcome)")
        return
      }
      #expect(reading.value == value)
      #expect(stage.model.settle().isEmpty)
    }
    #expect(stage.model.revision == revision)
  }

  @Test("Refused: other types, elements that are not there, other revisions, foreign writes of read-only keys")
  func refusals() throws {
    let stage = try stage()
    let revision = stage.model.revision
    let before = try stage.value(items)
    refused(.typeMismatch(try BindingPath(items + "/0/1"), expected: .boolean, actual: .string)) {
      try stage.write(items + "/0/1", .string("x"))
    }
    for path in ["/1/1", "/x", "/0/2", "/0/1/0", "/-/1"] {
      let error = #expect(throws: ModelError.self) { try stage.write(items + path, .boolean(true)) }
      guard case .noSuchElement? = error else {
        Issue.record("\(path): \(String(describing: error))")
        continue
      }
    }
    #expect(throws: ModelError.self) {
      try stage.write(items + "/0/1", .boolean(true), if: WriteCondition(revision: revision + 1))
    }
    #expect(try stage.value(items) == before)
    #expect(stage.model.revision == revision)

    try stage.register("b", [items: before], readOnly: [items])
    try stage.focus("b")
    refused(.readOnly(try Key(items), try FieldID("b"))) { try stage.write(items + "/0/1", .boolean(true)) }
    try stage.write(items + "/0/1", .boolean(true), by: stage.owner)
  }

  @Test("An element that makes the whole too large or too deep is refused")
  func limits() throws {
    let stage = try Stage()
    let bytes = [UInt8](repeating: 0, count: Limits.value.bytes - 4)
    try stage.register("a", ["demo.Form.Bytes": .array(DBusArray(bytes: bytes)), "demo.Form.Any": .variants([])])
    try stage.focus("a")
    let before = stage.model.table.allowances
    #expect(throws: ModelError.self) { try stage.write("demo.Form.Bytes/-", .byte(1)) }
    let deepest = (2..<Limits.valueDepth).reduce(MarshalledValue.byte(1)) { value, _ in .variant(value) }
    #expect(throws: ModelError.self) { try stage.write("demo.Form.Any/-", .variant(.variant(.variant(deepest)))) }
    #expect(stage.model.table.allowances == before)
    try stage.write("demo.Form.Any/-", .variant(deepest))
    try stage.write("demo.Form.Bytes/0", .byte(1))
  }

  @Test("Of a sensitive field, errors tell others nothing of what there is")
  func sensitive() throws {
    let stage = try stage(sensitive: true)
    for path in ["/1/0", "/0/7", "/x", "/0/1"] {
      let error = try #require(throws: ModelError.self) { try stage.write(items + path, .boolean(true)) }
      guard case .accessDenied = error else {
        Issue.record("\(error)")
        continue
      }
    }
    let own = try #require(throws: ModelError.self) { try stage.write(items + "/1/0", .boolean(true), by: stage.owner) }
    #expect(own.description.contains("0 to"))
    try stage.write(items + "/0/1", .boolean(true), by: stage.owner)
    #expect(throws: ModelError.self) { try stage.value(items + "/0/1") }
    #expect(try stage.value(items + "/0/1", by: stage.owner) == .boolean(true))
  }
}

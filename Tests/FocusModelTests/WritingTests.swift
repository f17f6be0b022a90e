import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

@Suite("Writes: types, read-only, conditions, revisions, sensitive fields")
struct WritingTests {
  private let key = "demo.Form.Number"

  @Test("A write of another type is refused; of the same value changes nothing")
  func types() throws {
    let stage = try Stage()
    let a = try stage.register("a", [key: .double(.nan)])
    try stage.focus("a")
    refused(.typeMismatch(try BindingPath(key), expected: .double, actual: .string)) {
      try stage.write(key, .string("1"))
    }
    _ = stage.model.settle()
    let before = try stage.model.read(BindingPath(key), at: .focused, by: stage.other)
    let (reading, changes) = try stage.model.written(.double(.nan), to: BindingPath(key), at: .focused, by: stage.other)
    #expect(reading == before)
    #expect(changes.isEmpty)
    #expect(try stage.write(key, .double(-0.0)).revision == before.revision + 1)
    #expect(try stage.write(key, .double(0.0)).revision == before.revision + 2)
    #expect(try stage.value(key, at: .field(a)) == .double(0.0))
  }

  /// What the binding holds, where it is written, what, and what is there afterwards; nil: it is refused.
  private static let numbers: [(MarshalledValue, String, MarshalledValue, MarshalledValue?)] = [
    (.double(1), "", .int32(5), .double(5)), (.int32(1), "", .double(7), .int32(7)),
    (.int32(1), "", .double(0.5), nil), (.int32(1), "", .double(-0.0), nil), (.int32(1), "", .double(.nan), nil),
    (.double(1), "", .int64(1 << 53 + 1), nil), (.byte(1), "", .int32(256), nil),
    (.byte(1), "", .int32(255), .byte(255)),
    // Not inside containers.
    (.variants([]), "", .int32(1), nil), (.variant(.double(1)), "", .int32(1), nil),
    (.structure([.double(1)]), "", .structure([.int32(1)]), nil), (.int32(1), "", .variant(.int32(2)), nil),
    // An element keeps the type that it has, also in a variant.
    (.structure([.double(1)]), "/0", .int32(2), .double(2)), (.variants([.double(1)]), "/0", .int32(2), .double(2)),
    (.variants([.int32(1)]), "/0", .double(0.5), nil), (.variants([.int32(1)]), "/-", .double(2), .double(2)),
    (.array(DBusArray(bytes: [1])), "/-", .int32(2), .byte(2)), (.array(DBusArray(bytes: [1])), "/0", .int32(-1), nil),
  ]

  @Test("A number of another type is taken if the key's, or the element's, holds exactly it")
  func conversion() throws {
    for (old, pointer, value, expected) in Self.numbers {
      let stage = try Stage()
      let a = try stage.register("a", [key: old])
      try stage.focus("a")
      guard let expected else {
        #expect(throws: ModelError.self, "\(value) at '\(pointer)'") { try stage.write(key + pointer, value) }
        #expect(try stage.value(key) == old)
        continue
      }
      let before = try stage.value(key)
      let reading = try stage.write(key + pointer, value)
      #expect(reading.value == expected && reading.revision == 2, "\(value) at '\(pointer)'")
      #expect(try stage.value(key).type == before.type)
      // The same number once more is no change, as whatever type it comes.
      guard pointer != "/-" else { continue }
      #expect(try stage.write(key + pointer, value).revision == 2)
      guard pointer.isEmpty else { continue }
      try stage.model.publish([Key(key): old], on: a, by: stage.owner)
      try stage.model.publish([Key(key): value], on: a, by: stage.owner)
      #expect(try stage.value(key) == expected)
      _ = stage.model.settle()
      #expect(try stage.model.told(stage.model.publish([Key(key): value], on: a, by: stage.owner)).isEmpty)
    }
  }

  @Test("Read-only keys are the owner's to write")
  func readOnly() throws {
    let stage = try Stage()
    let a = try stage.register("a", [key: .int32(1)], readOnly: [key])
    try stage.focus("a")
    refused(.readOnly(try Key(key), a)) { try stage.write(key, .int32(2)) }
    try stage.write(key, .int32(3), by: stage.owner)
    #expect(try stage.value(key) == .int32(3))
  }

  @Test("A condition that no longer holds is a conflict and writes nothing")
  func conditions() throws {
    let stage = try Stage()
    let a = try stage.register("a", [key: .int32(1)])
    let b = try stage.register("b", [key: .int32(2)])
    try stage.focus("a")
    let read = try stage.model.read(BindingPath(key), at: .focused, by: stage.other)
    try stage.write(key, .int32(5), if: WriteCondition(revision: read.revision, field: a))
    for condition in [
      WriteCondition(revision: read.revision), WriteCondition(field: b),
      WriteCondition(revision: read.revision, field: a), WriteCondition(field: try FieldID("gone")),
    ] {
      let error = #expect(throws: ModelError.self) { try stage.write(key, .int32(6), if: condition) }
      guard case .conflict? = error else {
        Issue.record("\(String(describing: error)) instead of a conflict")
        continue
      }
    }
    #expect(try stage.value(key) == .int32(5))
  }

  @Test("Each change of a binding takes the next number of one counter; moves of focus take none")
  func revisions() throws {
    let stage = try Stage()
    try stage.register("a", [key: .int32(1), "demo.Form.Text": .string("")])
    try stage.register("b", [key: .int32(2)])
    #expect(stage.model.revision == 3)
    try stage.focus("a")
    try stage.focus("b")
    #expect(stage.model.revision == 3)
    #expect(try stage.write(key, .int32(9)).revision == 4)
    #expect(try stage.model.read(BindingPath(key), at: .field(FieldID("a")), by: stage.other).revision <= 2)
  }

  @Test("A sensitive field shows its values to its owner alone, and takes writes from all")
  func sensitive() throws {
    let stage = try Stage()
    var observer = Observer()
    let plain = try stage.register("plain", [key: .int32(1)])
    let secret = try stage.register("secret", [key: .int32(42)], sensitive: true)
    try observer.see([.fieldAdded(plain), .fieldAdded(secret)], stage.model)
    for id in ["plain", "secret"] {
      try stage.focus(id)
      try observer.see(stage.model.settle(), stage.model)
    }
    let shown = observer.focused
    #expect(shown.isEmpty)
    #expect(try stage.value(key, by: stage.owner) == .int32(42))
    #expect(throws: ModelError.self) { try stage.value(key) }
    #expect(try stage.model.readAll(at: .focused, by: stage.other).isEmpty)
    #expect(try stage.model.readAll(at: .field(secret), by: stage.owner).count == 1)
    // Whether the value was there before does not show either: each write takes a revision.
    for _ in 1...2 {
      let before = stage.model.revision
      let (reading, changes) = try stage.model.written(.int32(43), to: BindingPath(key), at: .focused, by: stage.other)
      #expect(changes.isEmpty)
      #expect(reading == Reading(value: .string(""), field: secret, revision: 0))
      #expect(stage.model.revision == before + 1)
    }
    #expect(throws: ModelError.self) {
      try stage.write(key, .int32(44), if: WriteCondition(revision: stage.model.revision))
    }
    #expect(try stage.value(key, by: stage.owner) == .int32(43))
    try observer.check(against: stage.model)
  }
}

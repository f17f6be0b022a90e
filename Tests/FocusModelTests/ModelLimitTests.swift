import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

@Suite("Limits: taken at the limit, refused one past it, given back")
struct ModelLimitTests {
  private let key = "demo.Form.Text"

  private func limited(_ body: () throws -> Void, at location: SourceLocation = #_sourceLocation) {
    let error = #expect(throws: ModelError.self, sourceLocation: location, performing: body)
    guard case .limitExceeded? = error else {
      Issue.record("\(String(describing: error)) instead of limitExceeded", sourceLocation: location)
      return
    }
  }

  /// A string that takes `size` bytes as marshalled.
  private func text(_ size: Int) -> MarshalledValue { .string(String(repeating: "x", count: size - 5)) }

  @Test("A value: 1 MiB as marshalled")
  func valueSize() throws {
    let stage = try Stage()
    limited { try stage.register("a", [key: text(Limits.value.bytes + 1)]) }
    try stage.register("a", [key: text(Limits.value.bytes)])
    try stage.focus("a")
    limited { try stage.write(key, text(Limits.value.bytes + 1)) }
    #expect(try stage.value(key) == text(Limits.value.bytes))
  }

  @Test("A value: 65,536 elements")
  func valueElements() throws {
    func texts(_ count: Int) -> MarshalledValue { .strings(Array(repeating: "", count: count)) }
    let stage = try Stage()
    limited { try stage.register("a", [key: texts(Limits.value.elements + 1)]) }
    try stage.register("a", [key: texts(Limits.value.elements)])
  }

  @Test("A value's depth: what the deepest reply can still show")
  func valueDepth() throws {
    func nested(_ depth: Int) -> MarshalledValue { (0..<depth).reduce(.int32(1)) { value, _ in .variant(value) } }
    let stage = try Stage()
    limited { try stage.register("a", [key: nested(Limits.valueDepth + 1)]) }
    try stage.register("a", [key: nested(Limits.valueDepth)])
  }

  @Test("A field: 256 keys")
  func keys() throws {
    func values(_ count: Int) -> [String: MarshalledValue] {
      Dictionary(uniqueKeysWithValues: (0..<count).map { ("demo.Form.K\($0)", .boolean(true)) })
    }
    let stage = try Stage()
    limited { try stage.register("a", values(257)) }
    let a = try stage.register("a", values(256))
    limited { try stage.model.publish([Key(key): .boolean(true)], on: a, by: stage.owner) }
    try stage.model.publish([Key("demo.Form.K0"): .boolean(false)], on: a, by: stage.owner)
    try stage.model.withdraw([Key("demo.Form.K0")], from: a, by: stage.owner)
    try stage.model.publish([Key("demo.Form.New"): .boolean(true)], on: a, by: stage.owner)
  }

  @Test("A label: 4 KiB; fields: 64 deep")
  func labelAndDepth() throws {
    let stage = try Stage()
    var options = FieldOptions()
    options.label = String(repeating: "x", count: 4097)
    limited { _ = try stage.model.register(FieldID("a"), [:], options, owner: stage.owner) }
    options.label?.removeLast()
    _ = try stage.model.register(FieldID("a"), [:], options, owner: stage.owner)
    try stage.register("f1")
    for depth in 2...64 { try stage.register("f\(depth)", parent: "f\(depth - 1)") }
    limited { try stage.register("f65", parent: "f64") }
  }

  @Test("An owner: 4,096 fields, each owner its own, given back with a field and with the owner")
  func fields() throws {
    let stage = try Stage()
    for number in 0..<4096 { try stage.register("f\(number)") }
    limited { try stage.register("more") }
    try stage.register("foreign", owner: stage.other)
    try stage.model.unregister(FieldID("f0"), by: stage.owner)
    try stage.register("more")
    stage.model.ownerLeft(stage.owner)
    #expect(stage.model.fields.count == 1)
    #expect(stage.model.table.allowances.total.extent == .zero)
    try stage.register("again")
  }

  @Test("An owner: 16 MiB of values, counted on registration, publishing and writing")
  func bytes() throws {
    let stage = try Stage()
    var mebibyte: [Key: MarshalledValue] = [:]
    for number in 0..<15 { mebibyte[try Key("demo.Form.K\(number)")] = text(Limits.value.bytes) }
    let a = try stage.model.register(FieldID("a"), mebibyte, owner: stage.owner)
    // The names count as well.
    let names = (Array(mebibyte.keys.map(\.description)) + ["demo.Form.Last", "demo.Form.Rest"]).reduce(0) {
      $0 + $1.utf8.count
    }
    try stage.register("b", ["demo.Form.Last": text(Limits.value.bytes - 100 - names), "demo.Form.Rest": text(100)])
    limited { try stage.register("c", [key: .byte(1)]) }
    limited { try stage.write("demo.Form.Rest", text(101), at: .field(FieldID("b"))) }
    limited { try stage.model.publish([Key("demo.Form.More"): .byte(1)], on: a, by: stage.owner) }
    try stage.write("demo.Form.Rest", text(86), at: .field(FieldID("b")))
    limited { try stage.register("c", ["demo.Form.Some": .byte(1)]) }
    try stage.write("demo.Form.Rest", text(85), at: .field(FieldID("b")))
    try stage.register("c", ["demo.Form.Some": .byte(1)])
    try stage.model.unregister(a, by: stage.owner)
    try stage.model.unregister(FieldID("b"), by: stage.owner)
    try stage.model.unregister(FieldID("c"), by: stage.owner)
    #expect(stage.model.table.allowances == Allowances())
  }

  @Test("An owner: labels count as values do, but for those that are the field's id")
  func labels() throws {
    let stage = try Stage()
    var options = FieldOptions()
    options.label = String(repeating: "x", count: Limits.labelLength)
    for number in 0..<4095 {
      _ = try stage.model.register(FieldID("f\(number)"), [:], options, owner: stage.owner)
    }
    let rest = Limits.perOwner.bytes - 4095 * Limits.labelLength - key.utf8.count
    limited { try stage.register("last", [key: text(rest + 1)]) }
    try stage.register("last", [key: text(rest)])
  }

  @Test("Lingering fields move to the allowance that those without an owner share")
  func lingering() throws {
    let stage = try Stage()
    try stage.register("a", [key: text(1000)], lingers: true)
    // What goes with its owner takes nothing of it.
    try stage.register("b", [key: text(1000)])
    #expect(stage.model.table.allowances.lingering.fields == 1)
    stage.model.ownerLeft(stage.owner)
    #expect(
      stage.model.table.allowances.lingering
        == Allowance(fields: 1, extent: Extent(bytes: 1000 + key.utf8.count, elements: 1)))
    #expect(stage.model.table.allowances.total == stage.model.table.allowances.lingering)
    try stage.write(key, text(10), at: .field(FieldID("a")))
    #expect(
      stage.model.table.allowances.lingering
        == Allowance(fields: 1, extent: Extent(bytes: 10 + key.utf8.count, elements: 1)))
  }

  @Test("What will outlive its owner must fit beside what has: 4,096 fields and 16 MiB, however many come and go")
  func lingeringFromManyOwners() throws {
    let stage = try Stage()
    for number in 0..<4095 { try stage.register("f\(number)", lingers: true) }
    stage.model.ownerLeft(stage.owner)
    try stage.register("last", [key: text(10)], lingers: true)
    limited { try stage.register("more", lingers: true) }
    try stage.register("more")
    stage.model.ownerLeft(stage.owner)
    limited { try stage.register("again", lingers: true, owner: stage.other) }
    try stage.model.unregister(FieldID("f0"), by: stage.other)
    try stage.register("again", lingers: true, owner: stage.other)

    var large: [Key: MarshalledValue] = [:]
    for number in 0..<15 { large[try Key("demo.Form.K\(number)")] = text(Limits.value.bytes) }
    try stage.model.publish(large, on: FieldID("last"), by: stage.other)
    let names = (Array(large.keys.map(\.description)) + [key, key, "demo.Form.Most"]).reduce(0) { $0 + $1.utf8.count }
    try stage.model.publish(
      [Key("demo.Form.Most"): text(Limits.value.bytes - 20 - names)], on: FieldID("again"), by: stage.other)
    limited { try stage.model.publish([Key(key): text(11)], on: FieldID("again"), by: stage.other) }
    try stage.model.publish([Key(key): text(10)], on: FieldID("again"), by: stage.other)
    limited { try stage.write(key, text(11), at: .field(FieldID("again"))) }
    try stage.write(key, text(9), at: .field(FieldID("again")))
  }

  @Test("A file descriptor cannot be kept")
  func fileDescriptor() throws {
    let stage = try Stage()
    #expect(throws: ModelError.self) { try stage.register("a", [key: .unixFD(UnixFD(owning: -1))]) }
  }
}

import DBusTypes
import TestSupport
import Testing

@Suite("Pointers: writing through them")
struct PointerWriteTests {
  private static func todos(_ items: (String, Bool)...) throws -> DBusValue {
    .array(
      try DBusArray(
        of: .structure([.string, .boolean]), items.map { .structure([.string($0.0), .boolean($0.1)]) }))
  }

  /// What is there, where, what is written, what is there then.
  private static func writes() throws -> [(DBusValue, String, DBusValue, DBusValue)] {
    let bytes = DBusValue.array(DBusArray(bytes: [1, 2]))
    let items = try todos(("a", false), ("b", false))
    let numbers = try table((.int32(-1), .string("x")))
    return [
      (bytes, "/1", .byte(9), .array(DBusArray(bytes: [1, 9]))),
      (bytes, "/-", .byte(9), .array(DBusArray(bytes: [1, 2, 9]))),
      (.strings([]), "/-", .string("a"), .strings(["a"])), (.strings(["a"]), "/0", .string("b"), .strings(["b"])),
      (items, "/1/1", .boolean(true), try todos(("a", false), ("b", true))),
      (items, "/0", .structure([.string("c"), .boolean(true)]), try todos(("c", true), ("b", false))),
      (items, "/-", .structure([.string("c"), .boolean(true)]), try todos(("a", false), ("b", false), ("c", true))),
      (numbers, "/-1", .string("y"), try table((.int32(-1), .string("y")))),
      (numbers, "/5", .string("y"), try table((.int32(-1), .string("x")), (.int32(5), .string("y")))),
      (
        try table((.string("a"), .int32(1))), "/~1~0-", .int32(2),
        try table((.string("a"), .int32(1)), (.string("/~-"), .int32(2)))
      ),
      // A letter with an accent is another key than the accented letter.
      (
        try table((.string("\u{E9}"), .int32(1))), "/e\u{301}", .int32(2),
        try table((.string("\u{E9}"), .int32(1)), (.string("e\u{301}"), .int32(2)))
      ),
      (
        try table((.objectPath(.root), .byte(1))), "/~1a", .byte(2),
        try table((.objectPath(.root), .byte(1)), (.objectPath(try ObjectPath("/a")), .byte(2)))
      ),
      (
        try table((.boolean(true), .byte(1))), "/false", .byte(0),
        try table((.boolean(true), .byte(1)), (.boolean(false), .byte(0)))
      ),
      // In a variant, a value of the type that it holds replaces its content.
      (.properties([("name", .string("a"))]), "/name", .string("b"), .properties([("name", .string("b"))])),
      (.variant(.int32(1)), "", .int32(2), .variant(.int32(2))),
      (.variant(.variant(.int32(1))), "", .int32(2), .variant(.variant(.int32(2)))),
      (.variants([.variant(.int32(1))]), "/0", .int32(2), .variants([.variant(.int32(2))])),
      // A variant replaces it whatever it holds.
      (.properties([("name", .string("a"))]), "/name", .variant(.int32(7)), .properties([("name", .int32(7))])),
      (.variants([.variant(.int32(1))]), "/0", .variant(.string("x")), .variants([.string("x")])),
      (.variant(.int32(1)), "", .variant(.string("x")), .variant(.string("x"))),
      // What is new in a place for variants goes into one, unless it is one.
      (.variants([]), "/-", .int32(1), .variants([.int32(1)])),
      (.variants([]), "/-", .variant(.int32(1)), .variants([.int32(1)])),
      (.properties([]), "/a", .int32(1), .properties([("a", .int32(1))])),
      (.properties([]), "/a", .variant(.int32(1)), .properties([("a", .int32(1))])),
      (.properties([("a", .variants([]))]), "/a/-", .byte(1), .properties([("a", .variants([.byte(1)]))])),
      (
        .structure([.int32(1), .variant(.structure([.int32(2), .strings(["a"])]))]), "/1/1/0", .string("b"),
        .structure([.int32(1), .variant(.structure([.int32(2), .strings(["b"])]))])
      ),
      // A number becomes one of the type that is there.
      (.variants([.double(1)]), "/0", .int32(5), .variants([.double(5)])),
      (.array(DBusArray(bytes: [1])), "/0", .int32(2), .array(DBusArray(bytes: [2]))),
      (.array(DBusArray(bytes: [1])), "/-", .double(2), .array(DBusArray(bytes: [1, 2]))),
      (.variants([]), "/-", .double(2), .variants([.double(2)])),
      (
        try table((.string("a"), .double(1))), "/b", .byte(2),
        try table((.string("a"), .double(1)), (.string("b"), .double(2)))
      ),
    ]
  }

  @Test("What a write leaves behind")
  func writing() throws {
    for (old, pointer, value, new) in try Self.writes() {
      let written = try old.replacing(pointer, with: value)
      #expect(written == new, "\(pointer) of \(old)")
      #expect(written.type == old.type)
      guard !pointer.hasSuffix("/-") else { continue }
      let element = try written.element(pointer).withoutVariants
      #expect(element == value.withoutVariants.sameNumber(as: element.type))
    }
  }

  /// What is there, where, what is written, the type that would be right.
  private static func mismatches() throws -> [(DBusValue, String, DBusValue, DBusType)] {
    [
      (.int32(1), "", .int64(1 << 31), .int32), (.strings(["a"]), "/0", .int32(1), .string),
      (.strings([]), "/-", .int32(1), .string), (.strings(["a"]), "/0", .variant(.string("b")), .string),
      (.array(DBusArray(bytes: [1])), "/0", .int32(256), .byte),
      (.array(DBusArray(bytes: [1])), "/-", .boolean(true), .byte),
      (.structure([.int32(1), .string("a")]), "/0", .string("b"), .int32),
      (.properties([("a", .int32(1))]), "/a", .string("b"), .int32),
      (.variants([.int32(1)]), "/0", .double(0.5), .int32),
      (.variant(.int32(1)), "", .string("x"), .int32), (.strings([]), "", try list(of: .int32), .array(.string)),
      (try table((.string("a"), .int32(1))), "/b", .string("x"), .int32),
      (.strings(["a"]), "", .variant(.strings(["b"])), .array(.string)),
    ]
  }

  @Test("A value of another type than the element's")
  func typeMismatch() throws {
    for (old, pointer, value, expected) in try Self.mismatches() {
      let mismatch = TypeMismatch(expected: expected, actual: value.type)
      let error = PointerError.typeMismatch(try Pointer(pointer), mismatch)
      #expect(throws: error, "\(pointer) of \(old)") { try old.replacing(pointer, with: value) }
      #expect(error.description.contains("'\(expected)'") && error.description.contains("'\(value.type)'"))
    }
  }

  @Test("Where nothing can be written")
  func noSuchElement() throws {
    let items = try Self.todos(("a", false))
    for (old, pointer) in [
      (items, "/1"), (items, "/1/0"), (items, "/-/0"), (items, "/-/-"), (items, "/0/2"), (items, "/0/-"),
      (items, "/-1"),
      (items, "/00"), (items, "/x"), (items, "/0/0/0"), (.int32(1), "/0"), (.int32(1), "/-"),
      (.int32(1), "/"),
      (.string("abc"), "/0"), (.properties([]), "/a/b"), (.properties([("a", .int32(1))]), "/a/b"),
      (.variants([.int32(1)]), "/0/0"), (try table((.int32(1), .byte(1))), "/x"),
      (try table((.int32(1), .byte(1))), "/01"),
      (try table((.byte(1), .byte(1))), "/256"), (try table((.objectPath(.root), .byte(1))), "/a"),
    ] {
      let error = #expect(throws: PointerError.self, "\(pointer) of \(old)") {
        try old.replacing(pointer, with: .boolean(true))
      }
      guard case .noSuchElement? = error else {
        Issue.record("\(pointer) of \(old): \(String(describing: error))")
        continue
      }
    }
  }

  @Test("The first of a key that came twice is read and written")
  func twice() throws {
    let entry = { (value: Int32) in DBusDictionary.Entry(key: .string("a"), value: .int32(value)) }
    let old = DBusValue.dictionary(try DBusDictionary(key: .string, value: .int32, [entry(1), entry(2)]))
    #expect(try old.element("/a") == .int32(1))
    let new = try old.replacing("/a", with: .int32(3))
    #expect(new == .dictionary(try DBusDictionary(key: .string, value: .int32, [entry(3), entry(2)])))
  }
}

extension DBusValue {
  /// What is below all variants around the value.
  var withoutVariants: DBusValue {
    guard case .variant(let content) = self else { return self }
    return content.withoutVariants
  }
}

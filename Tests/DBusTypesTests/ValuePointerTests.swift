import DBusTypes
import TestSupport
import Testing

func list(_ elements: DBusValue..., of type: DBusType? = nil) throws -> DBusValue {
  .array(try DBusArray(of: type ?? elements.first?.type ?? .byte, elements))
}

func table(_ entries: (DBusValue, DBusValue)...) throws -> DBusValue {
  .dictionary(
    try DBusDictionary(
      key: entries.first?.0.type ?? .string, value: entries.first?.1.type ?? .variant,
      entries.map { .init(key: $0.0, value: $0.1) }))
}

extension DBusValue {
  func element(_ pointer: String) throws -> DBusValue { try element(at: Pointer(pointer)) }

  func replacing(_ pointer: String, with value: DBusValue) throws -> DBusValue {
    try replacingElement(at: Pointer(pointer), with: value)
  }
}

@Suite("Pointers: their text, and reading through them")
struct ValuePointerTests {
  @Test(
    "Text and steps",
    arguments: [
      ("", []), ("/", [""]), ("/a", ["a"]), ("/a/b", ["a", "b"]), ("//", ["", ""]), ("/a/", ["a", ""]),
      ("/~0", ["~"]), ("/~1", ["/"]), ("/~01", ["~1"]), ("/~10", ["/0"]), ("/~0~1~0", ["~/~"]), ("/-", ["-"]),
      ("/ ", [" "]), ("/%20", ["%20"]), ("/\"\\", ["\"\\"]), ("/é/日", ["é", "日"]),
      ("/\u{1F468}\u{200D}", ["\u{1F468}\u{200D}"]),
      // To Swift a slash or tilde and the accent after it are one letter.
      ("/\u{301}a", ["\u{301}a"]), ("/a/\u{301}/b", ["a", "\u{301}", "b"]), ("/~0\u{301}", ["~\u{301}"]),
      ("/~1\u{301}b", ["/\u{301}b"]), ("/a\r\n/b", ["a\r\n", "b"]),
    ] as [(String, [String])])
  func text(_ text: String, tokens: [String]) throws {
    let pointer = try Pointer(text)
    #expect(pointer.tokens.map { Array($0.utf8) } == tokens.map { Array($0.utf8) })
    #expect(Array(pointer.description.utf8) == Array(text.utf8))
    #expect(Array(Pointer(tokens: tokens).description.utf8) == Array(text.utf8))
  }

  @Test(
    "What is no pointer", arguments: ["a", " /a", "a/b", "~0", "0", "-", "#/a", "/~", "/~2", "/a/~", "/~~0", "/~é"])
  func noPointer(_ text: String) throws {
    let error = try #require(throws: SyntaxError.self) { try Pointer(text) }
    #expect(error.description.hasPrefix("'\(text)' is not a JSON Pointer: "))
  }

  @Test("As many steps as a value can be deep")
  func steps() throws {
    #expect(try Pointer(String(repeating: "/", count: 64)).tokens.count == 64)
    let error = try #require(throws: SyntaxError.self) { try Pointer(String(repeating: "/a", count: 65)) }
    #expect(error.description.contains("64"))
    #expect(throws: SyntaxError.self) { try Pointer(String(repeating: "/", count: 10_000_000)) }
  }

  /// The document of RFC 6901, section 5.
  private static func document() throws -> DBusValue {
    .properties([
      ("foo", .strings(["bar", "baz"])), ("", .int32(0)), ("a/b", .int32(1)), ("c%d", .int32(2)), ("e^f", .int32(3)),
      ("g|h", .int32(4)), ("i\\j", .int32(5)), ("k\"l", .int32(6)), (" ", .int32(7)), ("m~n", .int32(8)),
    ])
  }

  @Test(
    "RFC 6901's own examples",
    arguments: [
      ("/foo", .strings(["bar", "baz"])), ("/foo/0", .string("bar")), ("/", .int32(0)), ("/a~1b", .int32(1)),
      ("/c%d", .int32(2)), ("/e^f", .int32(3)), ("/g|h", .int32(4)), ("/i\\j", .int32(5)), ("/k\"l", .int32(6)),
      ("/ ", .int32(7)), ("/m~0n", .int32(8)),
    ] as [(String, DBusValue)])
  func rfc(_ pointer: String, value: DBusValue) throws {
    #expect(try Self.document().element(pointer) == value)
  }

  @Test("The whole document")
  func whole() throws {
    #expect(try Self.document().element("") == Self.document())
    #expect(try DBusValue.variant(.int32(1)).element("") == .variant(.int32(1)))
    #expect(try DBusValue.int32(1).replacing("", with: .int32(2)) == .int32(2))
  }

  /// A value of every kind of container, with variants around some of them.
  private static func nested() throws -> DBusValue {
    .properties([
      ("bytes", .array(DBusArray(bytes: [1, 2, 255]))), ("empty", .strings([])),
      (
        "todos",
        try list(.structure([.string("wash"), .boolean(false)]), .structure([.string("cook"), .boolean(true)]))
      ),
      ("deep", .variant(.variant(.variants([.variant(.int32(7))])))),
      ("numbers", try table((.int32(-5), .string("minus five")), (.int32(7), .string("seven")))),
      ("flags", try table((.boolean(true), .byte(1)))), ("doubles", try table((.double(0.5), .byte(2)))),
      ("paths", try table((.objectPath(try ObjectPath("/a/b")), .byte(3)))),
      ("types", try table((.signature(try Signature("a{sv}")), .byte(4)))),
      ("big", try table((.uint64(.max), .byte(5)))), ("-", .string("dash")), ("0", .string("zero")),
      ("\u{E9}", .string("composed")), ("e\u{301}", .string("decomposed")),
    ])
  }

  @Test(
    "Elements of every kind of container",
    arguments: [
      ("/bytes/0", .byte(1)), ("/bytes/2", .byte(255)), ("/todos/1/0", .string("cook")),
      ("/todos/0/1", .boolean(false)),
      ("/todos/1", .structure([.string("cook"), .boolean(true)])), ("/deep", .variants([.variant(.int32(7))])),
      ("/deep/0", .int32(7)), ("/numbers/-5", .string("minus five")), ("/numbers/7", .string("seven")),
      ("/flags/true", .byte(1)), ("/doubles/0.5", .byte(2)), ("/paths/~1a~1b", .byte(3)), ("/types/a{sv}", .byte(4)),
      ("/big/18446744073709551615", .byte(5)), ("/-", .string("dash")), ("/0", .string("zero")),
      ("/\u{E9}", .string("composed")), ("/e\u{301}", .string("decomposed")),
    ] as [(String, DBusValue)])
  func elements(_ pointer: String, value: DBusValue) throws {
    #expect(try Self.nested().element(pointer) == value)
    #expect(try DBusValue.variant(.variant(Self.nested())).element(pointer) == value)
  }

  @Test(
    "Where there is no element",
    arguments: [
      "/gone", "/bytes/3", "/bytes/-", "/bytes/-1", "/bytes/00", "/bytes/01", "/bytes/+1", "/bytes/1.0", "/bytes/1e0",
      "/bytes/", "/bytes/ 1", "/bytes/١", "/bytes/0x1", "/bytes/9223372036854775807", "/bytes/9223372036854775808",
      "/bytes/18446744073709551616", "/bytes/99999999999999999999999999", "/bytes/0/0", "/empty/0", "/empty/-",
      "/todos/2", "/todos/0/2", "/todos/0/-", "/todos/0/-1", "/todos/0/00", "/todos/0/0/0", "/todos/a", "/numbers/8",
      "/numbers/+7", "/numbers/07", "/numbers/-05", "/numbers/x", "/numbers/", "/numbers/4294967303", "/flags/false",
      "/flags/1", "/doubles/.5", "/doubles/0.50", "/paths/a", "/types/zz", "/big/-1", "/deep/0/0", "/deep/1", "/-/0",
    ])
  func noElement(_ text: String) throws {
    let error = try #require(throws: PointerError.self) { try Self.nested().element(text) }
    guard case .noSuchElement(let pointer, let reason) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(pointer.description == text)
    #expect(error.description == "there is no element '\(text)': \(reason)")
  }

  @Test("An error says what there is instead")
  func reasons() throws {
    let value = try Self.nested()
    for (pointer, reason) in [
      ("/bytes/3", "the array has the elements 0 to 2, and '3' is not one of them"), ("/empty/0", "the array is empty"),
      ("/todos/0/5", "the structure has the elements 0 to 1, and '5' is not one of them"),
      ("/todos/0/0/x", "a value of type 's' has no elements"),
      ("/numbers/x", "the dictionary's keys are of type 'i', and 'x' is not of that type"),
      ("/bytes/-", "'-' is where a write appends an element"),
      ("/gone", "the dictionary has no entry 'gone'"),
    ] {
      #expect(throws: PointerError.noSuchElement(try Pointer(pointer), reason: reason)) { try value.element(pointer) }
    }
  }

  @Test("A pointer that a peer fills with what is escaped takes no longer than any other, and is not quoted as a whole")
  func manyEscapes() throws {
    let count = 1_000_000
    let text = "/" + String(repeating: "~1~0", count: count)
    let pointer = try Pointer(text)
    #expect(pointer.size == 2 * count && pointer.description.utf8.elementsEqual(text.utf8))
    for value in [try Self.nested(), try Self.nested().element("/bytes"), .string("")] {
      let error = try #require(throws: PointerError.self) { try value.element(at: pointer) }
      #expect("\(error)".utf8.count < 500)
    }
  }
}

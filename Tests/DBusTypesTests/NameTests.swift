import DBusTypes
import Testing

/// A text of exactly `count` bytes that begins as `start` does.
func padded(_ start: String, to count: Int, with filler: String = "x") -> String {
  start + String(repeating: filler, count: count - start.utf8.count)
}

@Suite struct NameTests {
  @Test(arguments: [
    "a.b", "org.freedesktop.DBus.Properties", "_._", "A1.b2_", "a.b.c.d.e", padded("a.", to: 255),
  ])
  func interfaceName(valid text: String) throws {
    #expect(try InterfaceName(text).text == text)
    #expect(try ErrorName(text).description == text)
  }

  @Test(arguments: [
    "", ".", "a", "a.", ".a", "a..b", "1a.b", "a.1b", "a-b.c", "a.b ", " a.b", "a.b\0", "a\0.b", "a.é", "a/b.c",
    ":1.2", "a.b\n", padded("a.", to: 256),
  ])
  func interfaceName(invalid text: String) {
    #expect(throws: SyntaxError.self) { try InterfaceName(text) }
    #expect(throws: SyntaxError.self) { try ErrorName(text) }
  }

  @Test(arguments: ["a", "_", "GetAll", "a1", padded("a", to: 255)])
  func memberName(valid text: String) throws {
    #expect(try MemberName(text).text == text)
  }

  @Test(arguments: ["", "1a", "a.b", "a-b", "a ", "\0", "a\0", "é", padded("a", to: 256)])
  func memberName(invalid text: String) {
    #expect(throws: SyntaxError.self) { try MemberName(text) }
  }

  @Test(arguments: [
    ("a.b", false), ("org.focusd.Focus1", false), ("a-b.c-d", false), ("-a.-b", false), ("_a._1", false),
    (":1.42", true), (":a.b", true), (":1.2.3", true), (padded("a.", to: 255), false),
    (padded(":1.", to: 255, with: "1"), true),
  ])
  func busName(valid text: String, isUnique: Bool) throws {
    #expect(try BusName(text).text == text)
    #expect(try BusName(text).isUnique == isUnique)
  }

  @Test(arguments: [
    "", ":", ".", "a", "a.", ".a", "1.a", "a.1", ":1", ":1.", ":.1", "::1.2", "a..b", "a.b\0", "a.ß", "a b.c",
    padded("a.", to: 256), padded(":1.", to: 256, with: "1"),
  ])
  func busName(invalid text: String) {
    #expect(throws: SyntaxError.self) { try BusName(text) }
  }

  @Test(arguments: ["/", "/a", "/a/b", "/_/1", "/org/freedesktop/DBus", padded("/", to: 5000)])
  func objectPath(valid text: String) throws {
    #expect(try ObjectPath(text).text == text)
  }

  @Test(arguments: ["", "a", "a/b", "//", "/a/", "/a//b", "/a-b", "/a.b", "/a b", "/é", "/\0", "/a\0b", " /a"])
  func objectPath(invalid text: String) {
    #expect(throws: SyntaxError.self) { try ObjectPath(text) }
  }

  @Test func pathsAreTakenApartAndPutTogether() throws {
    #expect(try ObjectPath("/a/b_1").elements == ["a", "b_1"])
    #expect(ObjectPath.root.elements == [])
    #expect(try ObjectPath.root.appending("a") == ObjectPath("/a"))
    #expect(try ObjectPath("/a").appending("b") == ObjectPath("/a/b"))
    #expect(try ObjectPath("/a/b_1").parent == ObjectPath("/a"))
    #expect(try ObjectPath("/a").parent == nil && ObjectPath.root.parent == nil)
    for element in ["", "/", "b-c", "b/"] {
      #expect(throws: SyntaxError.self) { try ObjectPath("/a").appending(element) }
    }
  }

  @Test func namesAreOrderedByTheirText() throws {
    #expect(try InterfaceName("a.b") < InterfaceName("a.c"))
    #expect(try !(InterfaceName("a.b") < InterfaceName("a.b")))
  }

  @Test func anErrorSaysWhatWasAskedAndWhatWouldBeRight() throws {
    let error = try #require(throws: SyntaxError.self) { try InterfaceName("nodots") }
    #expect(error.description.hasPrefix("'nodots' is not an interface name: two or more elements"))
    let path = try #require(throws: SyntaxError.self) { try ObjectPath("a") }
    #expect(path.description.hasPrefix("'a' is not an object path: "))
    let member = try #require(throws: SyntaxError.self) { try MemberName("") }
    #expect(member.description.hasPrefix("'' is not a member name: "))
  }

  @Test func anErrorIsOneLineWhateverTheText() throws {
    let error = try #require(throws: SyntaxError.self) { try InterfaceName("a\nb\u{2028}\t\u{7F}é") }
    #expect(error.description.hasPrefix("'a\\nb\\u{2028}\\t\\u{7F}é' is not an interface name: "))
  }

  @Test(arguments: ["y z", "\u{301}"])
  func anErrorAboutALongTextIsShort(part: String) throws {
    let error = try #require(throws: SyntaxError.self) {
      try InterfaceName("a" + String(repeating: part, count: 1_000_000))
    }
    #expect(error.description.utf8.count < 1000)
  }
}

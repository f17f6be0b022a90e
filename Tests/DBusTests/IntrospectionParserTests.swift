import DBus
import DBusTypes
import Testing

/// A document of one interface with `members`.
private func document(_ members: String, interface: String = "demo.I") -> String {
  "<node><interface name=\"\(interface)\">\(members)</interface></node>"
}

@Suite("Introspection data of others")
struct IntrospectionParserTests {
  /// An interface in a line: methods with their arguments, signals, properties with access and annotation.
  private static func summary(_ interfaces: [InterfaceDescription]) -> [String] {
    func arguments(_ arguments: [InterfaceDescription.Argument]) -> String {
      arguments.map { "\($0.name):\($0.type)" }.joined(separator: ",")
    }
    return interfaces.map { interface in
      let methods = interface.methods.map { "\($0.name)(\(arguments($0.input)))->(\(arguments($0.output)))" }
      let signals = interface.signals.map { "signal \($0.name)(\(arguments($0.arguments)))" }
      let properties = interface.properties.map { "\($0.name):\($0.type) \($0.access) \($0.emits.rawValue)" }
      return ([interface.name.text] + methods + signals + properties).joined(separator: "; ")
    }
  }

  private struct Good: CustomTestStringConvertible {
    let testDescription: String
    let xml: String
    let expected: [String]

    init(_ name: String, _ xml: String, _ expected: String...) {
      testDescription = name
      self.xml = xml
      self.expected = expected
    }
  }

  private static let emits = "org.freedesktop.DBus.Property.EmitsChangedSignal"

  private static let good = [
    Good("nothing at all", "<node/>"),
    Good("an empty interface", document(""), "demo.I"),
    Good(
      "a method",
      document("<method name='M'><arg name='a' type='i' direction='in'/><arg type='as' direction='out'/></method>"),
      "demo.I; M(a:i)->(:as)"),
    Good(
      "arguments without direction go in", document("<method name='M'><arg type='a{sv}'/></method>"),
      "demo.I; M(:a{sv})->()"),
    Good(
      "a signal", document("<signal name='S'><arg name='x' type='(iu)'/><arg type='v'/></signal>"),
      "demo.I; signal S(x:(iu),:v)"),
    Good(
      "properties of each access",
      document(
        "<property name='A' type='i' access='read'/><property name='B' type='s' access='write'/><property name='C' type='v' access='readwrite'/>"
      ),
      "demo.I; A:i read true; B:s write true; C:v readWrite true"),
    Good(
      "an annotation of a property",
      document(
        "<property name='A' type='i' access='read'><annotation name='\(emits)' value='invalidates'/></property><property name='B' type='i' access='read'/>"
      ),
      "demo.I; A:i read invalidates; B:i read true"),
    Good(
      "an annotation of the interface holds for all that say nothing, wherever it stands",
      document(
        "<property name='A' type='i' access='read'/>"
          + "<property name='B' type='i' access='read'><annotation name='\(emits)' value='true'/></property>"
          + "<annotation name='\(emits)' value='false'/><property name='C' type='i' access='read'/>"
          + "<property name='D' type='i' access='read'><annotation name='\(emits)' value='const'/></property>"),
      "demo.I; A:i read false; B:i read true; C:i read false; D:i read const"),
    Good(
      "an annotation holds for its own interface alone",
      "<node><interface name='demo.A'><annotation name='\(emits)' value='false'/></interface><interface name='demo.B'><property name='P' type='i' access='read'/></interface></node>",
      "demo.A", "demo.B; P:i read true"),
    Good(
      "annotations that nobody knows, or with values that nobody knows",
      document(
        "<annotation name='org.example.X' value='y'/><method name='M'><annotation name='org.freedesktop.DBus.Deprecated' value='true'/></method>"
          + "<property name='P' type='i' access='read'><annotation name='\(emits)' value='sometimes'/></property>"),
      "demo.I; M()->(); P:i read true"),
    Good(
      "child nodes are passed over, whatever they hold",
      "<node name='/'><node name='child'><interface name='not checked'><method name='1'/></interface></node><interface name='demo.I'/><node name='x'/></node>",
      "demo.I"),
    Good(
      "interfaces without a valid name are passed over, whatever they hold",
      "<node><interface><method name='1'/></interface><interface name='local.my-form.Form'><property name='P'><annotation name='\(emits)' value='false'/></property></interface>"
        + "<interface name='demo.I'><property name='P' type='i' access='read'/></interface><interface name='demo'/></node>",
      "demo.I; P:i read true"),
    Good(
      "foreign elements are passed over, with what they hold",
      "<node xmlns:doc='http://example.org/doc'><doc:doc><interface name='demo.Not'/></doc:doc><interface name='demo.I'><doc:p><method name='Not'/></doc:p>"
        + "<method name='M'><doc:doc><arg type='i'/></doc:doc><arg type='u'/></method></interface></node>",
      "demo.I; M(:u)->()"),
    Good(
      "text and comments",
      "<node><!-- <interface name='demo.Not'/> -->text<interface name='demo.I'>more</interface></node>", "demo.I"),
    Good(
      "the usual beginning",
      "<?xml version='1.0' encoding='UTF-8'?>\n<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"\n \"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n<node><interface name='demo.I'/></node>",
      "demo.I"),
    Good(
      "methods of one name with different arguments",
      document("<method name='M'><arg type='i'/></method><method name='M'><arg type='s'/></method>"),
      "demo.I; M(:i)->(); M(:s)->()"),
    Good(
      "a property and a method of one name", document("<method name='X'/><property name='X' type='i' access='read'/>"),
      "demo.I; X()->(); X:i read true"),
    Good(
      "standard entities in text", document("<method name='M'><arg name='a&lt;b&amp;&quot;&#65;' type='i'/></method>"),
      "demo.I; M(a<b&\"A:i)->()"),
    Good(
      "attributes that nobody knows",
      "<node><interface name='demo.I' since='1.0'><method name='M' x='y'/></interface></node>", "demo.I; M()->()"),
  ]

  @Test("is read", arguments: good)
  private func read(_ each: Good) throws {
    #expect(Self.summary(try IntrospectionDocument.interfaces(in: each.xml)) == each.expected)
  }

  private struct Bad: CustomTestStringConvertible {
    let testDescription: String
    let xml: String
    let reason: String

    init(_ name: String, _ xml: String, _ reason: String) {
      testDescription = name
      self.xml = xml
      self.reason = reason
    }
  }

  private static let bad: [Bad] = [
    Bad("nothing", "", "no element found"),
    Bad("no XML", "interface demo.I", "line 1: syntax error"),
    Bad("JSON", "{\"node\": {}}", "line 1"),
    Bad("unclosed", "<node><interface name='demo.I'>", "no element found"),
    Bad("crossed", "<node><interface name='demo.I'></node></interface>", "mismatched tag"),
    Bad("two roots", "<node/><node/>", "junk after document element"),
    Bad("another root", "<html><node/></html>", "its root is 'html', not 'node'"),
    Bad("an interface as the root", "<interface name='demo.I'/>", "its root is 'interface'"),
    Bad("an attribute twice", "<node name='a' name='b'/>", "duplicate attribute"),
    Bad("an entity", "<!DOCTYPE node [<!ENTITY x 'y'>]><node/>", "DOCTYPE"),
    Bad("an external entity", "<!DOCTYPE node [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><node>&x;</node>", "DOCTYPE"),
    Bad("a parameter entity", "<!DOCTYPE node [<!ENTITY % x SYSTEM 'file:///etc/passwd'> %x;]><node/>", "DOCTYPE"),
    Bad(
      "default attributes", "<!DOCTYPE node [<!ATTLIST interface name CDATA 'demo.I'>]><node><interface/></node>",
      "DOCTYPE"),
    Bad("an entity that nobody declared", "<node>&x;</node>", "undefined entity"),
    Bad("NUL", "<node>\0</node>", "not well-formed"),
    Bad("an interface twice", "<node><interface name='demo.I'/><interface name='demo.I'/></node>", "'demo.I' twice"),
    Bad("no method name", document("<method/>"), "'' is not a member name"),
    Bad("a bad method name", document("<method name='a.b'/>"), "'a.b' is not a member name"),
    Bad("a bad signal name", document("<signal name='1'/>"), "'1' is not a member name"),
    Bad("a bad property name", document("<property name='a-b' type='i' access='read'/>"), "'a-b' is not a member name"),
    Bad("a property without type", document("<property name='A' access='read'/>"), "not a"),
    Bad("a property of two types", document("<property name='A' type='ii' access='read'/>"), "'ii' is not a"),
    Bad("a property of no type", document("<property name='A' type='z' access='read'/>"), "'z' is not a"),
    Bad(
      "a property without access", document("<property name='A' type='i'/>"), "the access of the property 'A' is not"),
    Bad(
      "a property of another access", document("<property name='A' type='i' access='rw'/>"),
      "the access of the property 'A' is not"),
    Bad(
      "a property twice",
      document("<property name='A' type='i' access='read'/><property name='A' type='s' access='read'/>"),
      "'demo.I' has the property 'A' twice"),
    Bad("an argument of no type", document("<method name='M'><arg type='a{vs}'/></method>"), "'a{vs}' is not a"),
    Bad("an argument without type", document("<signal name='S'><arg/></signal>"), "'' is not a"),
  ]

  @Test("is refused", arguments: bad)
  private func refuse(_ each: Bad) throws {
    let error = try #require(throws: DBus.DBusError.self) { try IntrospectionDocument.interfaces(in: each.xml) }
    #expect(error.name == .invalidArgs)
    #expect(error.message.contains(each.reason), "\(error.message)")
    #expect(error.message.utf8.count < 500)
  }

  @Test("that is not wanted is passed over, whatever it holds")
  func passOver() throws {
    var seen: [String] = []
    let xml =
      "<node><interface name='demo.A'><method name='1'/><property name='P'/></interface><interface name='demo.A'/>"
      + "<interface name='demo.B'><method name='M'/></interface></node>"
    let read = try IntrospectionDocument.interfaces(in: xml) { name in
      seen.append(name.text)
      return name.text == "demo.B"
    }
    #expect(Self.summary(read) == ["demo.B; M()->()"])
    #expect(seen == ["demo.A", "demo.A", "demo.B"])
  }

  private static func nested(_ depth: Int) -> String {
    String(repeating: "<node>", count: depth) + String(repeating: "</node>", count: depth)
  }

  @Test("is read up to its limits, and refused past them")
  func limits() throws {
    let most = IntrospectionDocument.maximumMembers
    func methods(_ count: Int) -> String {
      document((0..<count).map { "<method name='M\($0)'/>" }.joined())
    }
    // The interface counts too.
    #expect(try IntrospectionDocument.interfaces(in: methods(most - 1)).first?.methods.count == most - 1)
    #expect(throws: DBus.DBusError.self) { try IntrospectionDocument.interfaces(in: methods(most)) }
    #expect(try IntrospectionDocument.interfaces(in: methods(most), isLimited: false).first?.methods.count == most)

    let size = IntrospectionDocument.maximumSize
    func padded(_ bytes: Int) -> String { "<node>" + String(repeating: " ", count: bytes - 13) + "</node>" }
    #expect(try IntrospectionDocument.interfaces(in: padded(size)).isEmpty)
    #expect(throws: DBus.DBusError.self) { try IntrospectionDocument.interfaces(in: padded(size + 1)) }
    #expect(try IntrospectionDocument.interfaces(in: padded(size + 1), isLimited: false).isEmpty)

    #expect(try IntrospectionDocument.interfaces(in: Self.nested(64)).isEmpty)
    #expect(throws: DBus.DBusError.self) { try IntrospectionDocument.interfaces(in: Self.nested(65)) }
    #expect(throws: DBus.DBusError.self) { try IntrospectionDocument.interfaces(in: Self.nested(50_000)) }
  }

  @Test("that would grow, or take long, is refused or read in a linear time")
  func growth() throws {
    var entities = "<!DOCTYPE node [<!ENTITY a0 'lol'>"
    for level in 1...9 {
      entities += "<!ENTITY a\(level) '\(String(repeating: "&a\(level - 1);", count: 10))'>"
    }
    let laughs = try #require(throws: DBus.DBusError.self) {
      try IntrospectionDocument.interfaces(in: entities + "]><node>&a9;</node>")
    }
    #expect(laughs.message.contains("DOCTYPE"))

    // 400 kB of default attribute for each of 100,000 elements would be 40 GB.
    let half = String(repeating: "x", count: 400_000)
    let defaults =
      "<!DOCTYPE node [<!ATTLIST a b CDATA '\(half)'>]><node>\(String(repeating: "<a/>", count: 100_000))</node>"
    #expect(throws: DBus.DBusError.self) { try IntrospectionDocument.interfaces(in: defaults) }

    // A long name around many elements is read once, and not once for each of them.
    let name = String(repeating: "y", count: 200_000)
    let long = "<node><\(name)>\(String(repeating: "<a/>", count: 150_000))</\(name)></node>"
    #expect(try IntrospectionDocument.interfaces(in: long).isEmpty)
  }

  @Test("survives being written and read again")
  func roundTrip() throws {
    let names = ["a", "", "<&>\"'", "line\nend\ttab", "<\u{338}", "\"\u{301}", "日本\u{1F468}"]
    let interface = InterfaceDescription(
      try InterfaceName("demo.I"),
      methods: [.init(try MemberName("M"), in: names.map { .init($0, .int32) }, out: [.init("result", .variant)])],
      signals: [.init(try MemberName("S"), [.init("x<y", .string)])],
      properties: [
        .init(try MemberName("A"), .byte, .read, emits: .constant),
        .init(try MemberName("B"), try DBusType("a{s(iv)}"), .readWrite, emits: .never),
        .init(try MemberName("C"), .string, .write, emits: .invalidates), .init(try MemberName("D"), .double),
      ])
    let xml = IntrospectionDocument.xml(interfaces: [interface], children: ["child"])
    let read = try #require(try IntrospectionDocument.interfaces(in: xml).first)
    #expect(read.methods == interface.methods)
    #expect(read.signals == interface.signals)
    #expect(read.properties == interface.properties)
  }

  @Test("leaves out of names what no XML document can hold")
  func unwritable() throws {
    let interface = InterfaceDescription(
      try InterfaceName("demo.I"),
      methods: [.init(try MemberName("M"), in: [.init("a\u{0}\u{1}\u{FFFE}\u{FFFF}b", .int32)])])
    let xml = IntrospectionDocument.xml(interfaces: [interface], children: [])
    #expect(try IntrospectionDocument.interfaces(in: xml).first?.methods.first?.input.first?.name == "ab")
  }

  @Test("writes a name that a peer fills with what is escaped as fast as any other")
  func manyEscapes() throws {
    let name = String(repeating: "\"<&", count: 300_000)
    let interface = InterfaceDescription(
      try InterfaceName("demo.I"), methods: [.init(try MemberName("M"), in: [.init(name, .int32)])])
    let xml = IntrospectionDocument.xml(interfaces: [interface], children: [])
    #expect(xml.utf8.count > 300_000 * "&quot;&lt;&amp;".utf8.count)
  }
}

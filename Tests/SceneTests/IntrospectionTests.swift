import BusSupport
import Foundation
import FoundationXML
import TestSupport
import Testing

@Suite struct IntrospectionTests {
  private static func populated(_ desktop: TestDesktop) async throws -> GDBusPeer {
    let client = try await desktop.witness()
    let window = try await client.register("window", "{'demo.Form.Title': <'w'>}")
    try await client.register(
      "entry", "{'demo.Form.Number': <1>, 'demo.Other.List': <[('a', true)]>}",
      "{'parent': <objectpath '\(window)'>, 'focus': <true>}")
    return client
  }

  @Test func everyPathAnswersWithItsChildren() async throws {
    try await TestDesktop.with { desktop in
      let client = try await Self.populated(desktop)
      for (path, children) in [
        ("/", ["org"]), ("/org", ["focusd"]), ("/org/focusd", ["Focus1"]), (Focus1.manager, ["field", "focused"]),
        (Focus1.manager + "/field", ["entry", "window"]), (Focus1.focused, []), (Focus1.field("entry"), []),
      ] {
        let xml = try await desktop.gdbus("introspect", at: path, "--xml")
        #expect(xml.succeeded, "\(path): \(xml)")
        #expect(try InterfaceReader.read(xml.text).children.sorted() == children, "\(path)")
      }
      for path in ["/nowhere", Focus1.field("gone"), Focus1.manager + "/focused/x"] {
        let refusal = try await client.refusal(path, Focus1.introspectable, "Introspect")
        #expect(refusal.shortName == "UnknownObject", "\(path)")
      }
    }
  }

  @Test func busctlShowsTheTree() async throws {
    try await TestDesktop.with { desktop in
      let client = try await Self.populated(desktop)
      let tree = try await desktop.bus.busctl("--list", "tree", Focus1.name)
      #expect(
        tree.output.sorted() == [
          "/", "/org", "/org/focusd", Focus1.manager, Focus1.manager + "/field", Focus1.field("entry"),
          Focus1.field("window"),
          Focus1.focused,
        ])
      let shown = try await desktop.busctl("introspect")
      #expect(shown.succeeded)
      let lines = shown.output.map { $0.split(separator: " ").joined(separator: " ") }
      for line in [
        "demo.Form interface - - -", ".Number property i 1 emits-change writable",
        #".Title property s "w" emits-change writable"#, "demo.Other interface - - -",
        #".List property a(sb) 1 "a" true emits-change writable"#, "org.focusd.Focus1.Bindings interface - - -",
        "org.freedesktop.DBus.Properties interface - - -", "org.freedesktop.DBus.Introspectable interface - - -",
        "org.freedesktop.DBus.Peer interface - - -",
      ] {
        #expect(lines.contains(line), "\(line)\n\(lines.joined(separator: "\n"))")
      }
      // The fields live as long as their owner.
      try await client.field("entry", "Unregister")
    }
  }

  @Test func theFocusedObjectShowsWhatResolves() async throws {
    try await TestDesktop.with { desktop in
      let client = try await Self.populated(desktop)
      func interfaces() async throws -> [String] {
        let xml = try await desktop.gdbus("introspect", at: Focus1.focused, "--xml")
        return try InterfaceReader.read(xml.text).members.filter { $0.hasPrefix("demo.") }.sorted()
      }
      let title = "demo.Form property Title s readwrite "
      #expect(
        try await interfaces() == [
          "demo.Form property Number i readwrite ", title, "demo.Other property List a(sb) readwrite ",
        ])
      try await client.focus("window")
      #expect(try await interfaces() == [title])
      try await client.blur("window")
      #expect(try await interfaces() == [])
    }
  }

  /// The daemon's own interfaces are exactly those of the published description.
  @Test func theInterfacesAreThoseOfTheDescription() async throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../Systemd/org.focusd.Focus1.xml")
    // `Responder` is for a registrant's own object.
    let described = try InterfaceReader.read(String(contentsOf: file, encoding: .utf8)).members
      .filter { !$0.hasPrefix("org.focusd.Focus1.Responder") }
    try await TestDesktop.with { desktop in
      let client = try await desktop.witness()
      try await client.register("a")
      var shown: Set<String> = []
      for path in [Focus1.manager, Focus1.focused, Focus1.field("a")] {
        let xml = try await desktop.gdbus("introspect", at: path, "--xml")
        shown.formUnion(try InterfaceReader.read(xml.text).members.filter { $0.hasPrefix("org.focusd.") })
      }
      #expect(shown.sorted() == described.sorted())
      #expect(shown.count > 20)
    }
  }

  @Test func theObjectManagerShowsEveryObject() async throws {
    try await TestDesktop.with { desktop in
      let client = try await Self.populated(desktop)
      let managed = try await client.call(Focus1.manager, Focus1.objectManager, "GetManagedObjects")
      for part in [
        "objectpath '\(Focus1.field("entry"))'", "'\(Focus1.field("window"))'", "'\(Focus1.focused)'",
        "'org.focusd.Focus1.Field': {", "'demo.Form': {'Number': <1>}", "'demo.Form': {'Number': <1>, 'Title': <'w'>}",
      ] {
        #expect(
          managed.contains(part) || managed.contains(part.replacing("objectpath ", with: "")), "\(part)\n\(managed)")
      }
    }
  }
}

/// Reads an introspection document into a line for each member.
private final class InterfaceReader: NSObject, XMLParserDelegate {
  private var interface = ""
  private var depth = 0
  private var current: (kind: String, name: String, details: [String])?
  private(set) var members: [String] = []
  private(set) var children: [String] = []

  static func read(_ xml: String) throws -> InterfaceReader {
    let reader = InterfaceReader()
    let parser = XMLParser(data: Data(xml.utf8))
    parser.delegate = reader
    try #require(parser.parse(), "\(xml)")
    return reader
  }

  func parser(
    _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    let name = attributes["name"] ?? ""
    switch element {
    case "node":
      if depth == 1 { children.append(name) }
      depth += 1
    case "interface": interface = name
    case "method", "signal": current = (element, name, [])
    case "property": current = (element, name, [attributes["type"] ?? "", attributes["access"] ?? "", ""])
    case "arg":
      current?.details.append("\(attributes["direction"] ?? "") \(name) \(attributes["type"] ?? "")")
    case "annotation": current?.details[2] = attributes["value"] ?? ""
    default: break
    }
  }

  func parser(_ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?) {
    switch element {
    case "node": depth -= 1
    case "method", "signal", "property":
      guard let member = current else { return }
      members.append("\(interface) \(member.kind) \(member.name) \(member.details.joined(separator: " "))")
      current = nil
    default: break
    }
  }
}

import DBus
import DBusTypes
import TestSupport
import Testing

/// Calls that no program in its right mind makes: each is answered, and the daemon goes on.
@Suite struct RandomCallTests {
  private static let members: [(interface: String, member: String, signature: String)] = [
    ("org.focusd.Focus1.Manager", "Register", "sa{sv}a{sv}"), ("org.focusd.Focus1.Field", "Focus", ""),
    ("org.focusd.Focus1.Field", "Blur", ""), ("org.focusd.Focus1.Field", "Publish", "a{sv}a{sv}"),
    ("org.focusd.Focus1.Field", "Withdraw", "as"), ("org.focusd.Focus1.Field", "SetEnabled", "a{sb}"),
    ("org.focusd.Focus1.Field", "Unregister", ""), ("org.focusd.Focus1.Bindings", "Read", "s"),
    ("org.focusd.Focus1.Bindings", "Write", "sva{sv}"), ("org.focusd.Focus1.Bindings", "ReadAll", ""),
    ("org.focusd.Focus1.Bindings", "Invoke", "sava{sv}"), ("org.freedesktop.DBus.Properties", "Get", "ss"),
    ("org.freedesktop.DBus.Properties", "Set", "ssv"), ("org.freedesktop.DBus.Properties", "GetAll", "s"),
    ("org.freedesktop.DBus.Introspectable", "Introspect", ""),
    ("org.freedesktop.DBus.ObjectManager", "GetManagedObjects", ""), ("org.freedesktop.DBus.Peer", "Ping", ""),
    ("org.freedesktop.DBus.Peer", "Nothing", ""), ("demo.Form", "Save", "v"),
  ]
  private static let words = [
    "demo.Form.A", "demo.Form.B", "demo.Form.A/0", "demo.Form.B/-", "demo.Form", "A", "B", "a", "b", "c", "", "label",
    "parent", "scope", "read_only", "linger", "sensitive", "focus", "object", "interfaces", "revision", "field",
    "scene",
  ]

  /// A random value, but with words that mean something in many places.
  private static func value(of type: DBusType, _ generator: inout ValueGenerator) -> DBusValue {
    switch type {
    case .string where Int.random(in: 0..<8, using: &generator.numbers) > 0:
      return .string(words.randomElement(using: &generator.numbers) ?? "")
    case .variant where Bool.random(using: &generator.numbers):
      let likely: [DBusType] = [.string, .int32, .boolean, .objectPath, .array(.string), .array(.int32)]
      return .variant(value(of: likely.randomElement(using: &generator.numbers) ?? .byte, &generator))
    case .objectPath where Bool.random(using: &generator.numbers):
      let ids = ["a", "b", "c"]
      return .objectPath((try? ObjectPath(Names.field(ids.randomElement(using: &generator.numbers) ?? "a"))) ?? .root)
    case .dictionary(let key, let content):
      var entries: [DBusDictionary.Entry] = []
      for _ in 0..<Int.random(in: 0...3, using: &generator.numbers) {
        entries.append(.init(key: value(of: key, &generator), value: value(of: content, &generator)))
      }
      return (try? DBusDictionary(key: key, value: content, entries)).map { .dictionary($0) } ?? .byte(0)
    case .array(let element):
      let elements = (0..<Int.random(in: 0...3, using: &generator.numbers)).map { _ in value(of: element, &generator) }
      return (try? DBusArray(of: element, elements)).map { .array($0) } ?? .byte(0)
    default: return generator.value(of: type)
    }
  }

  @Test(arguments: 1...4) func everyCallIsAnswered(seed: UInt64) async throws {
    try await Session.with { session in
      let clients = [
        try Connection(to: .address(session.bus.address)), try Connection(to: .address(session.bus.address)),
      ]
      var generator = ValueGenerator(seed: seed)
      let paths = [Names.manager, Names.focused, Names.field("a"), Names.field("b"), Names.field("c"), "/", "/x"]
      var accepted = 0
      for _ in 0..<2500 {
        let (interface, member, signature) = Self.members.randomElement(using: &generator.numbers) ?? ("", "", "")
        var types = try Signature(signature).types
        // Now and then the arguments are not what the method takes.
        if Int.random(in: 0..<10, using: &generator.numbers) == 0 { types.append(generator.type(depth: 3)) }
        let path =
          interface.hasSuffix("Manager") ? Names.manager : paths.randomElement(using: &generator.numbers) ?? "/"
        let call = try OutgoingMessage.methodCall(
          to: BusName(Names.service), path: ObjectPath(path), interface: InterfaceName(interface),
          member: MemberName(member), types.map { Self.value(of: $0, &generator) })
        do throws(DBusError) {
          _ = try (clients.randomElement(using: &generator.numbers) ?? clients[0]).call(call, timeout: .seconds(60))
          accepted += 1
        } catch {
          #expect(error.name != .noReply && error.name != .failed, "\(interface).\(member) at \(path): \(error)")
          #expect(
            !error.message.isEmpty && !error.message.contains("\n"),
            "\(error.message.debugDescription)")
        }
      }
      #expect(accepted > 200)
    }
  }
}

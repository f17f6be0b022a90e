import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Calls that no program in its right mind makes: each is answered, and the daemon goes on.
@Suite struct SenselessCallTests {
  private static let members: [(interface: String, member: String, signature: String)] = [
    (Focus1.managerInterface, "Register", "sa{sv}a{sv}"), (Focus1.fieldInterface, "Focus", ""),
    (Focus1.fieldInterface, "Blur", ""), (Focus1.fieldInterface, "Publish", "a{sv}a{sv}"),
    (Focus1.fieldInterface, "Withdraw", "as"), (Focus1.fieldInterface, "SetEnabled", "a{sb}"),
    (Focus1.fieldInterface, "Unregister", ""), (Focus1.bindings, "Read", "s"),
    (Focus1.bindings, "Write", "sva{sv}"), (Focus1.bindings, "ReadAll", ""),
    (Focus1.bindings, "Invoke", "sava{sv}"), (Focus1.properties, "Get", "ss"),
    (Focus1.properties, "Set", "ssv"), (Focus1.properties, "GetAll", "s"),
    (Focus1.introspectable, "Introspect", ""),
    (Focus1.objectManager, "GetManagedObjects", ""), (Focus1.peer, "Ping", ""),
    (Focus1.peer, "Nothing", ""), ("demo.Form", "Save", "v"),
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
      return .objectPath((try? ObjectPath(Focus1.field(ids.randomElement(using: &generator.numbers) ?? "a"))) ?? .root)
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
    try await TestDesktop.with { desktop in
      let clients = [try await desktop.peer(), try await desktop.peer()]
      var generator = ValueGenerator(seed: seed)
      let paths = [Focus1.manager, Focus1.focused, Focus1.field("a"), Focus1.field("b"), Focus1.field("c"), "/", "/x"]
      var accepted = 0
      for _ in 0..<2500 {
        let (interface, member, signature) = Self.members.randomElement(using: &generator.numbers) ?? ("", "", "")
        var types = try Signature(signature).types
        // Now and then the arguments are not what the method takes.
        if Int.random(in: 0..<10, using: &generator.numbers) == 0 { types.append(generator.type(depth: 3)) }
        let path =
          interface.hasSuffix("Manager") ? Focus1.manager : paths.randomElement(using: &generator.numbers) ?? "/"
        let call = DaemonCall(path, interface, member, types.map { Self.value(of: $0, &generator) })
        let client = clients.randomElement(using: &generator.numbers) ?? clients[0]
        switch try await client.begin(call).outcome() {
        case .success: accepted += 1
        case .failure(let error):
          #expect(
            error.isRemote && !["NoReply", "Failed"].contains(error.shortName),
            "\(interface).\(member) at \(path): \(error)")
          #expect(
            !error.message.isEmpty && !error.message.contains("\n"),
            "\(error.message.debugDescription)")
        }
      }
      #expect(accepted > 200)
    }
  }
}

import BusSupport
import DBusTypes
import TestSupport
import Testing

@Suite("Whatever is called, with whatever arguments: an answer each time, of the contract's")
struct RandomCallTests {
  /// The errors that the contract and D-Bus know.
  private static let errors: Set<String> = [
    "NotFocused", "NoSuchField", "FieldExists", "TypeMismatch", "NoSuchElement", "Conflict", "Disabled", "OwnerGone",
    "PropertyReadOnly", "AccessDenied", "InvalidArgs", "LimitsExceeded", "UnknownObject", "UnknownInterface",
    "UnknownMethod", "UnknownProperty",
  ]

  /// Calls `count` times as one client, and has everything gone afterwards.
  private static func run(_ desktop: TestDesktop, seed: UInt64, _ count: Int) async throws -> [String: Int] {
    var outcomes: [String: Int] = [:]
    let (client, other) = (try await desktop.peer(), try await desktop.peer())
    for id in ["f1", "f2"] { try await client.register(id, RandomCalls.fields) }
    try await other.register("f3", RandomCalls.fields, [("sensitive", .boolean(true))])
    try await other.field("f3", "Focus")
    var calls = RandomCalls(seed: seed, try await client.allMethods())
    for number in 0..<count {
      let call = try calls.next()
      if number % 50 == 0 {
        // Nobody waits for the answer, and none comes; the next call shows that the daemon goes on.
        client.send(call.message)
        continue
      }
      do {
        let reply = try await client.call(call.message)
        outcomes["", default: 0] += 1
        if let output = call.output { try #require(reply.map(\.type) == output) }
      } catch let error as RemoteError {
        outcomes[error.shortName, default: 0] += 1
        try #require(errors.contains(error.shortName), "\(error)")
        try #require(!error.message.isEmpty && error.message.utf8.count <= 4096, "\(error.message.prefix(5000))")
      }
    }
    for peer in [client, other] { try await peer.leave() }
    let cleaner = try await desktop.peer()
    try await eventually("no field is left") {
      for id in try await cleaner.fields() { _ = try? await cleaner.field(id, "Unregister") }
      return try await cleaner.fields().isEmpty
    }
    return outcomes
  }

  /// It takes half a minute: with fewer calls the rarest answers are not among them.
  @Test("7,000 random calls, and no growth from one time to the next")
  func randomCalls() async throws {
    try await TestDesktop.with { desktop in
      var memory: [Int] = []
      // The same calls again, to see whether memory grows; a sanitizer has seen them by then.
      for _ in 0..<(isSanitized ? 1 : 3) {
        let outcomes = try await Self.run(desktop, seed: 41, 7000)
        // The calls are worth little where they do not come to each of these often.
        for name in [
          "", "InvalidArgs", "UnknownMethod", "UnknownObject", "TypeMismatch", "FieldExists", "NoSuchElement",
        ] {
          #expect(outcomes[name, default: 0] > 10, "\(outcomes)")
        }
        memory.append(desktop.daemon.privateMemory)
      }
      expectNoGrowth(memory, 512 << 10)
    }
  }

  @Test("An error about a text of megabytes is short")
  func hugeTexts() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      try await client.register("a", [("demo.Form.Items", .strings(["x"]))], [("focus", .boolean(true))])
      let long = String(repeating: "x", count: 4 << 20)
      for (member, arguments): (String, [DBusValue]) in [
        ("Read", [.string("demo.Form.Items/" + long)]), ("Read", [.string(long)]),
        ("Read", [.string("a.b/~" + long)]),
        ("Read", [.string("demo.Form.Items" + String(repeating: "/", count: 4 << 20))]),
        ("Write", [.string("demo.Form.Items/" + long), .variant(.byte(1)), .properties([])]),
        ("Write", [.string("demo.Form.Items"), .variant(.byte(1)), .properties([(long, .byte(1))])]),
        (
          "Write",
          [
            .string("demo.Form.Items"), .variant(.byte(1)),
            .properties([("field", .objectPath(ObjectPath(known: "/" + long)))]),
          ]
        ),
      ] {
        do {
          try await client.call(Focus1.focused, Focus1.bindings, member, arguments)
          Issue.record("\(member) succeeded")
        } catch let error as RemoteError {
          #expect(Self.errors.contains(error.shortName), "\(error.name)")
          #expect((20...4096).contains(error.message.utf8.count))
        }
      }
    }
  }
}

import DBus
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
  private static func run(_ bus: PrivateBus, seed: UInt64, _ count: Int) throws -> [String: Int] {
    var outcomes: [String: Int] = [:]
    do {
      let (client, other) = (try Client(on: bus), try Client(on: bus))
      for id in ["f1", "f2"] { try client.register(id, RandomCalls.fields) }
      try other.register("f3", RandomCalls.fields, [("sensitive", .boolean(true))])
      try other.field("f3", "Focus")
      var calls = RandomCalls(seed: seed, try client.allMethods())
      for number in 0..<count {
        var call = try calls.next()
        if number % 50 == 0 {
          // Nobody waits for the answer, and none comes; the next call shows that the daemon goes on.
          call.message.disableReply()
          try client.connection.send(call.message)
          continue
        }
        do {
          let reply = try client.connection.call(call.message, timeout: .seconds(60)).arguments()
          outcomes["", default: 0] += 1
          if let output = call.output { try #require(reply.map(\.type) == output) }
        } catch let error as DBus.DBusError {
          let name = shortName(error.name.text)
          outcomes[name, default: 0] += 1
          try #require(errors.contains(name), "\(error)")
          try #require(!error.message.isEmpty && error.message.utf8.count <= 4096, "\(error.message.prefix(5000))")
        }
      }
    }
    let cleaner = try Client(on: bus)
    try wait {
      for id in try cleaner.fields() { _ = try? cleaner.field(id, "Unregister") }
      return try cleaner.fields().isEmpty
    }
    return outcomes
  }

  @Test("3 x 7,000 random calls, and no growth from one time to the next")
  func randomCalls() async throws {
    try await Daemon.with { daemon in
      let bus = daemon.bus
      try await onThread {
        var memory: [Int] = []
        for _ in 0..<3 {
          let outcomes = try Self.run(bus, seed: 41, 7000)
          // The calls are worth little where they do not come to each of these often.
          for name in [
            "", "InvalidArgs", "UnknownMethod", "UnknownObject", "TypeMismatch", "FieldExists", "NoSuchElement",
          ] {
            #expect(outcomes[name, default: 0] > 10, "\(outcomes)")
          }
          memory.append(try daemon.memory())
        }
        expectNoGrowth(memory, 512 << 10)
      }
    }
  }

  @Test("An error about a text of megabytes is short")
  func hugeTexts() async throws {
    try await Daemon.with { daemon in
      let bus = daemon.bus
      try await onThread {
        let client = try Client(on: bus)
        try client.register("a", [("demo.Form.Items", .strings(["x"]))], [("focus", .boolean(true))])
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
            try client.call(Client.focused, "org.focusd.Focus1.Bindings", member, arguments)
            Issue.record("\(member) succeeded")
          } catch let error as DBus.DBusError {
            #expect(Self.errors.contains(shortName(error.name.text)), "\(error.name)")
            #expect((20...4096).contains(error.message.utf8.count))
          }
        }
      }
    }
  }
}

import DBusTypes
import TestSupport
import Testing

@Suite("Limits, from outside: taken at the limit, refused one past it, given back")
struct LimitTests {
  private static let key = "demo.Form.Text"

  /// A string that takes `size` bytes as marshalled.
  private static func text(_ size: Int) -> DBusValue { .string(String(repeating: "x", count: size - 5)) }

  private static func inDaemon(_ body: @escaping @Sendable (PrivateBus, Client) throws -> Void) async throws {
    try await Daemon.with { daemon in
      let bus = daemon.bus
      try await onThread { try body(bus, Client(on: bus)) }
    }
  }

  @Test("A value: 1 MiB, however it comes in")
  func value() async throws {
    try await Self.inDaemon { _, client in
      let mebibyte = 1 << 20
      let (most, more) = (Self.text(mebibyte), Self.text(mebibyte + 1))
      #expect(refusal { try client.register("a", [(Self.key, more)]) } == "LimitsExceeded")
      #expect(refusal { try client.field("a", "Focus") } == "UnknownObject")
      try client.register("a", [(Self.key, .string("")), ("demo.Form.List", .array(DBusArray(bytes: [])))])
      try client.field("a", "Focus")
      #expect(refusal { try client.write(Self.key, more) } == "LimitsExceeded")
      #expect(refusal { try client.set("demo.Form", "Text", more) } == "LimitsExceeded")
      #expect(
        refusal { try client.field("a", "Publish", [.properties([(Self.key, more)]), .properties([])]) }
          == "LimitsExceeded")
      #expect(try client.read(Self.key).value == .string(""))
      try client.write(Self.key, most)
      #expect(try client.get("demo.Form", "Text") == most)
      // An element that makes the whole too large.
      try client.write("demo.Form.List", .array(DBusArray(bytes: [UInt8](repeating: 0, count: mebibyte - 5))))
      try client.write("demo.Form.List/-", .byte(1))
      let full = try client.read("demo.Form.List")
      #expect(refusal { try client.write("demo.Form.List/-", .byte(2)) } == "LimitsExceeded")
      #expect(try client.read("demo.Form.List") == full)
    }
  }

  @Test("A field: 256 keys; a label: 4 KiB; fields within each other: 64")
  func keysLabelsAndDepth() async throws {
    try await Self.inDaemon { _, client in
      func values(_ range: Range<Int>) -> [(name: String, value: DBusValue)] {
        range.map { ("demo.Form.K\($0)", .byte(0)) }
      }
      func publish(_ range: Range<Int>) throws {
        try client.field("a", "Publish", [.properties(values(range)), .properties([])])
      }
      #expect(refusal { try client.register("a", values(0..<257)) } == "LimitsExceeded")
      try client.register("a", values(0..<256))
      #expect(refusal { try publish(256..<257) } == "LimitsExceeded")
      #expect(refusal { try publish(255..<257) } == "LimitsExceeded")
      try publish(0..<256)
      try client.field("a", "Withdraw", [.strings(["demo.Form.K0"])])
      try publish(256..<257)

      let label = String(repeating: "l", count: 4096)
      #expect(refusal { try client.register("b", [], [("label", .string(label + "l"))]) } == "LimitsExceeded")
      try client.register("b", [], [("label", .string(label))])

      var parent = try client.register("f1")
      for depth in 2...64 {
        parent = try client.register("f\(depth)", [], [("parent", .objectPath(try ObjectPath(parent)))])
      }
      let tooDeep = refusal { try client.register("f65", [], [("parent", .objectPath(try ObjectPath(parent)))]) }
      #expect(tooDeep == "LimitsExceeded")
      try client.field("f30", "Unregister")
      try client.register("f65", [], [("parent", .objectPath(try ObjectPath(parent)))])
    }
  }

  @Test("A value's depth: what every reply can still show")
  func depth() async throws {
    try await Self.inDaemon { _, client in
      func nested(_ depth: Int) -> DBusValue { (0..<depth).reduce(.int32(1)) { value, _ in .variant(value) } }
      #expect(refusal { try client.register("a", [("demo.Form.Deep", nested(57))]) } == "LimitsExceeded")
      try client.register("a", [("demo.Form.Deep", nested(56))], [("focus", .boolean(true))])
      #expect(try client.read("demo.Form.Deep").value == nested(56))
      #expect(try client.get("demo.Form", "Deep") == nested(56))
      #expect(try client.getAll("demo.Form") == .properties([("Deep", nested(56))]))
      for (path, interface, member) in [
        (Client.focused, "org.focusd.Focus1.Bindings", "ReadAll"),
        (Client.manager, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"),
      ] {
        #expect("\(try client.call(path, interface, member))".contains("demo.Form"))
      }
    }
  }

  @Test("An owner: 16 MiB of values")
  func bytes() async throws {
    try await Self.inDaemon { bus, client in
      func publish(_ name: String, _ size: Int) throws {
        try client.field("a", "Publish", [.properties([("demo.Form.\(name)", Self.text(size))]), .properties([])])
      }
      try client.register("a")
      for number in 0..<15 { try publish("K\(number)", 1 << 20) }
      try publish("Last", (1 << 20) - 100)
      try publish("Rest", 100)
      #expect(refusal { try publish("More", 5) } == "LimitsExceeded")
      #expect(refusal { try client.register("b", [(Self.key, .byte(0))]) } == "LimitsExceeded")
      let another = try Client(on: bus)
      #expect(refusal { try another.write("demo.Form.Rest", Self.text(101), at: Client.path("a")) } == "LimitsExceeded")
      try another.register("b", [(Self.key, .byte(0))])
      try another.write("demo.Form.Rest", Self.text(99), at: Client.path("a"))
      try client.register("c", [(Self.key, .byte(0))])
      try client.field("a", "Unregister")
      try client.register("d", [("demo.Form.K0", Self.text(1 << 20))])
    }
  }

  @Test("An owner: 4,096 fields; those without an owner share one allowance, which lingering fields must fit into")
  func fields() async throws {
    try await Self.inDaemon { bus, client in
      let linger: [(name: String, value: DBusValue)] = [("linger", .boolean(true))]
      do {
        let first = try Client(on: bus)
        for number in 0..<4096 { try first.register("f\(number)", [], linger) }
        #expect(refusal { try first.register("more") } == "LimitsExceeded")
        try client.register("other")
        try first.field("f0", "Unregister")
        try first.register("f0", [], linger)
      }
      try wait(until: { try client.get("org.focusd.Focus1.Field", "Owner", at: Client.path("f0")) == .string("") })
      #expect(refusal { try client.register("more", [], linger) } == "LimitsExceeded")
      try client.register("more")
      try client.field("f0", "Unregister")
      try client.register("f0", [], linger)
      #expect(refusal { try client.register("f4096", [], linger) } == "LimitsExceeded")
      #expect(try client.fields().count == 4098)
    }
  }
}

/// A condition that did not come true in time.
struct NotReached: Error {}

/// Asks until `condition` holds; each question is a call that the daemon answers.
func wait(until condition: () throws -> Bool) throws {
  let deadline = ContinuousClock.now + .seconds(60)
  while try !condition() {
    guard ContinuousClock.now < deadline else { throw NotReached() }
  }
}

import BusSupport
import DBusTypes
import TestSupport
import Testing

@Suite("Limits, from outside: taken at the limit, refused one past it, given back")
struct BindingLimitTests {
  private static let key = "demo.Form.Text"

  /// A string that takes `size` bytes as marshalled.
  private static func text(_ size: Int) -> DBusValue { .string(String(repeating: "x", count: size - 5)) }

  private static func inDaemon(_ body: (TestDesktop, Peer) async throws -> Void) async throws {
    try await TestDesktop.with { desktop in try await body(desktop, desktop.peer()) }
  }

  @Test("A value: 1 MiB, however it comes in")
  func value() async throws {
    try await Self.inDaemon { _, client in
      let mebibyte = 1 << 20
      let (most, more) = (Self.text(mebibyte), Self.text(mebibyte + 1))
      #expect(try await refusal { try await client.register("a", [(Self.key, more)]) } == "LimitsExceeded")
      #expect(try await refusal { try await client.field("a", "Focus") } == "UnknownObject")
      try await client.register("a", [(Self.key, .string("")), ("demo.Form.List", .array(DBusArray(bytes: [])))])
      try await client.field("a", "Focus")
      #expect(try await refusal { try await client.write(Self.key, more) } == "LimitsExceeded")
      #expect(try await refusal { try await client.set("demo.Form.Text", more) } == "LimitsExceeded")
      #expect(
        try await refusal { try await client.publish("a", [(Self.key, more)]) }
          == "LimitsExceeded")
      #expect(try await client.read(Self.key).value == .string(""))
      try await client.write(Self.key, most)
      #expect(try await client.get("demo.Form.Text") == most)
      // An element that makes the whole too large.
      try await client.write("demo.Form.List", .array(DBusArray(bytes: [UInt8](repeating: 0, count: mebibyte - 5))))
      try await client.write("demo.Form.List/-", .byte(1))
      let full = try await client.read("demo.Form.List")
      #expect(try await refusal { try await client.write("demo.Form.List/-", .byte(2)) } == "LimitsExceeded")
      #expect(try await client.read("demo.Form.List") == full)
    }
  }

  @Test("A field: 256 keys; a label: 4 KiB; fields within each other: 64")
  func keysLabelsAndDepth() async throws {
    try await Self.inDaemon { _, client in
      func values(_ range: Range<Int>) -> Named {
        range.map { ("demo.Form.K\($0)", .byte(0)) }
      }
      func publish(_ range: Range<Int>) async throws {
        try await client.publish("a", values(range))
      }
      #expect(try await refusal { try await client.register("a", values(0..<257)) } == "LimitsExceeded")
      try await client.register("a", values(0..<256))
      #expect(try await refusal { try await publish(256..<257) } == "LimitsExceeded")
      #expect(try await refusal { try await publish(255..<257) } == "LimitsExceeded")
      try await publish(0..<256)
      try await client.field("a", "Withdraw", [.strings(["demo.Form.K0"])])
      try await publish(256..<257)

      let label = String(repeating: "l", count: 4096)
      #expect(
        try await refusal { try await client.register("b", [], [("label", .string(label + "l"))]) } == "LimitsExceeded")
      try await client.register("b", [], [("label", .string(label))])

      var parent = try await client.register("f1")
      for depth in 2...64 {
        parent = try await client.register("f\(depth)", [], [("parent", Focus1.fieldPath(parent))])
      }
      let tooDeep = try await refusal { try await client.register("f65", [], [("parent", Focus1.fieldPath(parent))]) }
      #expect(tooDeep == "LimitsExceeded")
      try await client.field("f30", "Unregister")
      try await client.register("f65", [], [("parent", Focus1.fieldPath(parent))])
    }
  }

  @Test("A value's depth: what every reply can still show")
  func depth() async throws {
    try await Self.inDaemon { _, client in
      func nested(_ depth: Int) -> DBusValue { (0..<depth).reduce(.int32(1)) { value, _ in .variant(value) } }
      #expect(
        try await refusal { try await client.register("a", [("demo.Form.Deep", nested(57))]) } == "LimitsExceeded")
      try await client.register("a", [("demo.Form.Deep", nested(56))], [("focus", .boolean(true))])
      #expect(try await client.read("demo.Form.Deep").value == nested(56))
      #expect(try await client.get("demo.Form.Deep") == nested(56))
      #expect(try await client.getAll("demo.Form") == ["Deep": nested(56)])
      for call in [.readAll(), .managedObjects, .getAll(), .read("demo.Form.Deep")] as [DaemonCall] {
        let shown = try await client.call(call)
        #expect("\(shown)".contains("\(nested(56))"), "\(call.member)")
      }
      for depth in 57...60 {
        let values = [(name: "demo.Form.Deeper", value: nested(depth))]
        #expect(try await refusal { try await client.register("a\(depth)", values) } == "LimitsExceeded")
        #expect(try await client.fields() == ["a"])
      }
    }
  }

  @Test("An owner: 16 MiB of values")
  func bytes() async throws {
    try await Self.inDaemon { desktop, client in
      func publish(_ name: String, _ size: Int) async throws {
        try await client.publish("a", [("demo.Form.\(name)", Self.text(size))])
      }
      try await client.register("a")
      for number in 0..<15 { try await publish("K\(number)", 1 << 20) }
      // The names count as well: 15 of 12 or 13 bytes, and two of 14.
      try await publish("Last", (1 << 20) - 100 - (10 * 12 + 5 * 13 + 2 * 14))
      try await publish("Rest", 100)
      #expect(try await refusal { try await publish("More", 5) } == "LimitsExceeded")
      #expect(try await refusal { try await client.register("b", [(Self.key, .byte(0))]) } == "LimitsExceeded")
      let another = try await desktop.peer()
      #expect(
        try await refusal { try await another.write("demo.Form.Rest", Self.text(101), at: Focus1.field("a")) }
          == "LimitsExceeded")
      try await another.register("b", [(Self.key, .byte(0))])
      // One value has a limit of its own, whoever else has room.
      let large: Named = [("demo.Form.K0", Self.text((1 << 20) + 1))]
      #expect(try await refusal { try await another.register("large", large) } == "LimitsExceeded")
      try await another.write("demo.Form.Rest", Self.text(99 - Self.key.utf8.count), at: Focus1.field("a"))
      try await client.register("c", [(Self.key, .byte(0))])
      #expect(try await refusal { try await client.publish("c", [("demo.Form.More", .byte(1))]) } == "LimitsExceeded")
      let set = DaemonCall.set("demo.Form.Rest", Self.text(100), at: Focus1.field("a"))
      #expect(try await refusal { try await client.call(set) } == "LimitsExceeded")
      try await client.field("c", "Withdraw", [.strings([Self.key])])
      try await client.call(set)
      #expect(try await client.readAll(at: Focus1.field("a"))["demo.Form.Rest"] == Self.text(100))
      try await client.field("a", "Unregister")
      try await client.register("d", [("demo.Form.K0", Self.text(1 << 20))])
    }
  }

  @Test("An owner: 4,096 fields; those without an owner share one allowance, which lingering fields must fit into")
  func fields() async throws {
    try await Self.inDaemon { desktop, client in
      let linger: Named = [("linger", .boolean(true))]
      let first = try await desktop.peer()
      let registrations = (0..<4096).map { first.begin(.register("f\($0)", [], linger)) }
      for registration in registrations { _ = try await registration.values() }
      #expect(try await refusal { try await first.register("more") } == "LimitsExceeded")
      try await client.register("other")
      try await first.field("f0", "Unregister")
      try await first.register("f0", [], linger)
      #expect(try await refusal { try await first.register("more") } == "LimitsExceeded")
      try await first.leave()
      try await eventually("the owner is gone") {
        try await client.get(Focus1.fieldInterface + ".Owner", at: Focus1.field("f0")) == .string("")
      }
      #expect(try await refusal { try await client.register("more", [], linger) } == "LimitsExceeded")
      try await client.register("more")
      try await client.field("f0", "Unregister")
      try await client.register("f0", [], linger)
      #expect(try await refusal { try await client.register("f4096", [], linger) } == "LimitsExceeded")
      #expect(try await client.fields().count == 4098)
    }
  }

  @Test("Who leaves gives back all: 200 owners of 1 MiB, one after another")
  func leaving() async throws {
    try await Self.inDaemon { desktop, client in
      let before = try await client.call(.managedObjects)
      for _ in 0..<200 {
        let visitor = try await desktop.peer()
        try await visitor.register("", [(Self.key, Self.text(1 << 20))], [("focus", .boolean(true))])
        try await visitor.leave()
      }
      try await eventually("all is as before") { try await client.call(.managedObjects) == before }
    }
  }
}

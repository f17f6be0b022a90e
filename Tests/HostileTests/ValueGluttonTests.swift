import BusSupport
import TestSupport
import Testing

/// Values at their limits and past them, whichever way they come in.
@Suite(.serialized) struct ValueGluttonTests {
  /// A shape of values: one that fits anywhere, the most of it that may be kept, and a little more, all of one signature.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let least: WireValue
    let most: WireValue
    let more: WireValue

    init(_ name: String, _ least: WireValue, _ most: WireValue, _ more: WireValue) {
      testDescription = name
      self.least = least
      self.most = most
      self.more = more
    }

    /// An array that has `most` elements, or one more.
    init(_ name: String, _ most: Int, of element: WireValue) {
      self.init(name, .array(1, of: element), .array(most, of: element), .array(most + 1, of: element))
    }
  }

  private static let mebibyte = 1 << 20
  private static let most = 65_536
  private static let deep = WireValue.variants(53)

  static let cases: [Case] = [
    Case("1 MiB of text", .text(5), .text(mebibyte), .text(mebibyte + 1)),
    Case("1 MiB of bytes", .bytes(4), .bytes(mebibyte), .bytes(mebibyte + 1)),
    Case("1 MiB of texts", .array(1, of: .text(8)), .array(3, of: .text(349_524)), .array(3, of: .text(349_528))),
    Case("bytes in variants", most, of: .variant(.byte(1))),
    Case("empty strings in variants", most, of: .variant(.string(""))),
    Case("numbers", most, of: .int32(1)),
    Case("empty strings", most, of: .string("")),
    Case("empty arrays", most, of: .array(0, of: .int32(0))),
    Case("empty byte arrays", most, of: .bytes(4)),
    Case("structs of one", most / 2, of: .structure([.byte(1)])),
    Case("structs with a variant", most / 3, of: .structure([.byte(1), .variant(.byte(2))])),
    Case("a dictionary", dictionary(1), dictionary(most / 2), dictionary(most / 2 + 1)),
    Case("arrays in variants in an array", 256, of: .variant(.array(256, of: .variant(.byte(1))))),
    Case("56 variants", .variants(1), .variants(56), .variants(57)),
    Case("56 arrays and variants", .array(1, of: .variant(.byte(1))), arrays(28, .byte(1)), arrays(28, .bytes(5))),
    Case(
      "many deep variants", .array(1, of: deep), .array(6_000, of: .variants(55)), .array(6_000, of: .variants(56))),
  ]

  private static func dictionary(_ count: Int) -> WireValue {
    .dictionary("u", "y", (0..<count).map { (.uint32(UInt32($0)), .byte(0)) })
  }

  /// `pairs` times an array that holds a variant, around `content`.
  private static func arrays(_ pairs: Int, _ content: WireValue) -> WireValue {
    (0..<pairs).reduce(content) { value, _ in .array(1, of: .variant(value)) }
  }

  @Test(arguments: cases) func aValue(_ value: Case) async throws {
    let key = "demo.Form.Value"
    try await Siege.with { siege in
      let glutton = siege.glutton
      try siege.refuses("Register") { try glutton.register("a", [(key, value.more)]) }
      // One that is too large takes the others with it.
      try siege.refuses("Register of several") {
        try glutton.register("a", [("demo.Form.First", .byte(1)), (key, value.more), ("demo.Form.Last", .byte(1))])
      }
      try siege.takes("Register") { try glutton.register("a", [(key, value.most)], [("focus", .boolean(true))]) }
      let ways: [(name: String, send: (WireValue) throws -> Glutton.Answer)] = [
        ("Publish", { try glutton.publish([(key, $0)], on: "a") }),
        ("Write", { try glutton.write(key, $0) }),
        ("Set", { try glutton.set(key, $0) }),
        ("Write of the field", { try glutton.write(key, $0, at: Focus1.field("a")) }),
      ]
      for way in ways {
        try siege.takes("\(way.name) of the least") { try way.send(value.least) }
        try siege.refuses(way.name) { try way.send(value.more) }
        try siege.takes("\(way.name) of the most") { try way.send(value.most) }
      }
    }
  }

  /// What a pointer adds makes the whole too large.
  @Test func anElementMore() async throws {
    try await Siege.with { siege in
      let glutton = siege.glutton
      for (id, whole, element) in [
        ("bytes", WireValue.bytes(Self.mebibyte - 1), WireValue.byte(1)),
        ("numbers", .array(Self.most - 1, of: .int32(1)), .int32(2)),
        ("variants", .array(Self.most - 1, of: .variant(.byte(1))), .byte(2)),
        ("arrays", .array(Self.most - 1, of: .array(0, of: .int32(0))), .array(1, of: .int32(1))),
      ] {
        let (key, field) = ("demo.Form.\(id)", Focus1.field(id))
        try siege.takes("Register") { try glutton.register(id, [(key, whole)]) }
        try siege.takes("the last of \(id)") { try glutton.write(key + "/-", element, at: field) }
        try siege.refuses("one more of \(id)") { try glutton.write(key + "/-", element, at: field) }
        try siege.takes("another of \(id)") { try glutton.write(key + "/0", element, at: field) }
      }
      // What replaces an element counts instead of it.
      let (key, full) = ("demo.Form.arrays", Focus1.field("arrays"))
      try siege.refuses("two for one") { try glutton.write(key + "/7", .array(2, of: .int32(1)), at: full) }
      try siege.takes("one for one") { try glutton.write(key + "/7", .array(1, of: .int32(1)), at: full) }
    }
  }

  static let boundCases = cases.filter { $0.least.signature != "v" }

  /// Registers a field for an object that has `value`, and one more property.
  private static func bind(_ value: WireValue, _ siege: Siege) throws {
    siege.glutton.object = WireObject("/object", "demo.Bound", [("Value", value), ("Other", .byte(7))])
    try siege.takes("Register") { try siege.glutton.register("a", [], [("object", .path("/object"))]) }
  }

  private static func get(_ member: String, _ siege: Siege) throws -> Glutton.Answer {
    try siege.watcher.call(Focus1.field("a"), Focus1.properties, "Get", [.string("demo.Bound"), .string(member)])
  }

  /// Has the object tell `value`.
  private static func tell(_ value: WireValue, _ siege: Siege) throws {
    guard let change = siege.glutton.object?.change([("Value", value)]) else { return }
    try siege.glutton.begin(change)
    // What is sent by one connection arrives in order.
    _ = try siege.glutton.call(Focus1.manager, "org.freedesktop.DBus.Peer", "Ping")
  }

  /// What an owner's object tells is nil past a limit.
  @Test(arguments: boundCases) func aBoundValue(_ value: Case) async throws {
    try await Siege.with { siege in
      try Self.bind(value.least, siege)
      try Self.tell(value.most, siege)
      let isMost = try Self.get("Value", siege).body == WireBytes([.variant(value.most)]).bytes
      #expect(isMost)
      try Self.tell(value.more, siege)
      let isNil = try Self.get("Value", siege).error != nil
      #expect(isNil, "it was told past its limit")
      try Self.tell(value.least, siege)
      let isLeast = try Self.get("Value", siege).body == WireBytes([.variant(value.least)]).bytes
      #expect(isLeast)
    }
  }

  /// So is what the object has when its field is registered, and the rest of the object is there.
  @Test(arguments: boundCases) func aBoundValueFromTheStart(_ value: Case) async throws {
    try await Siege.with { siege in
      try Self.bind(value.more, siege)
      let isNil = try Self.get("Value", siege).error != nil
      #expect(isNil, "it has been past its limit from the start")
      #expect(try Self.get("Other", siege).body == WireBytes([.variant(.byte(7))]).bytes)
      try Self.tell(value.most, siege)
      #expect(try Self.get("Value", siege).error == nil)
    }
  }
}

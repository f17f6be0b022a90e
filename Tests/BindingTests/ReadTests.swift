import BusSupport
import DBusTypes
import TestSupport
import Testing

@Suite("Reads, the same again and again and others in between, by several clients")
struct ReadTests {
  private static let keys = ["Number", "Text"]
  /// Few values, so that what is read is often the same: among them what compares as the same and is not.
  private static let values: [String: [DBusValue]] = [
    "Number": [.double(0), .double(-0.0), .double(.nan)],
    "Text": [
      .string(""), .string("\u{e9}"), .string("e\u{301}"), .string(String(repeating: "x", count: 4090)),
      .string(String(repeating: "x", count: 9000)),
    ],
  ]

  @Test("Each is answered by what there is, to who asked", arguments: [1, 2, 3] as [UInt64])
  func reads(seed: UInt64) async throws {
    try await TestDesktop.with { desktop in
      try await Self.readAndWrite(desktop, seed)
    }
  }

  private static func readAndWrite(_ desktop: TestDesktop, _ seed: UInt64) async throws {
    var numbers = SeededGenerator(seed: seed)
    let clients = [try await desktop.peer(), try await desktop.peer(), try await desktop.peer()]
    var held: [String: [String: DBusValue]] = [:]
    for id in ["a", "b"] {
      held[id] = ["Number": .double(0), "Text": .string("")]
      try await clients[0].register(id, [("demo.Form.Number", .double(0)), ("demo.Form.Text", .string(""))])
    }
    var focused = "a"
    try await clients[0].field(focused, "Focus")
    for _ in 0..<800 {
      let client = clients[Int.random(in: 0..<3, using: &numbers)]
      let id = ["a", "b"][Int.random(in: 0..<2, using: &numbers)]
      let key = keys[Int.random(in: 0..<2, using: &numbers)]
      switch Int.random(in: 0..<20, using: &numbers) {
      case 0:
        focused = id
        try await clients[0].field(id, "Focus")
      case 1...3:
        let value = values[key, default: []].randomElement(using: &numbers)
        try await client.set("demo.Form." + key, try #require(value), at: Focus1.field(id))
        held[id]?[key] = value
      case 4...11: try #require(try await client.get("demo.Form." + key) == held[focused]?[key])
      case 12...15: try #require(try await client.get("demo.Form." + key, at: Focus1.field(id)) == held[id]?[key])
      default:
        let reading = try await client.read("demo.Form." + key)
        try #require(reading.value == held[focused]?[key] && reading.field == focused)
      }
    }
  }
}

@Suite struct AllInterfacesTests {
  @Test("Of members of one name in several interfaces, GetAll of all tells that of the first interface")
  func members() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      try await client.register("a", [("demo.B.X", .int32(2)), ("demo.A.X", .int32(1)), ("demo.B.Y", .int32(3))])
      try await client.field("a", "Focus")
      let all = try await client.call(.getAll())
      #expect(all == [.properties([("X", .int32(1)), ("Y", .int32(3))])])
    }
  }
}

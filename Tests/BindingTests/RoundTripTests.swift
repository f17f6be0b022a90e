import DBusTypes
import TestSupport
import Testing

@Suite("Random values of every type survive the daemon unchanged")
struct RoundTripTests {
  private static let key = "demo.Any.Value"

  /// Publishes two values of `type` one after the other and reads them back every way that there is.
  private static func check(_ type: DBusType, _ generator: inout ValueGenerator, _ client: Client) throws {
    let (first, second) = (generator.value(of: type, depth: 3), generator.value(of: type, depth: 3))
    try client.field("a", "Publish", [.properties([(key, first)]), .properties([])])
    let published = try client.read(key)
    try #require(published.value == first)
    let written = try client.write(key, second)
    try #require(written.value == second)
    // Equal values are one state, others are two.
    try #require((written.revision == published.revision) == (first == second), "\(first), \(second)")
    let again = try client.write(key, second, [("revision", .uint64(written.revision))])
    try #require(again == written)
    try #require(client.get("demo.Any", "Value") == second)
    try #require(client.getAll("demo.Any", at: Client.path("a")) == .properties([("Value", second)]))
    let all = try client.call(Client.focused, "org.focusd.Focus1.Bindings", "ReadAll").first
    let entry = DBusValue.structure([
      .variant(second), .objectPath(try ObjectPath(Client.path("a"))), .uint64(written.revision),
    ])
    let expected = try DBusDictionary(
      key: .string, value: entry.type, [.init(key: .string(key), value: entry)])
    try #require(all == .dictionary(expected))
    try client.field("a", "Withdraw", [.strings([key])])
  }

  @Test("1,500 types, two values of each")
  func values() async throws {
    try await Daemon.with { daemon in
      let bus = daemon.bus
      try await onThread {
        let client = try Client(on: bus)
        try client.register("a", [], [("focus", .boolean(true))])
        var generator = ValueGenerator(seed: 31)
        for type in ValueGenerator.basicTypes + [.variant] { try Self.check(type, &generator, client) }
        for _ in 0..<1500 { try Self.check(generator.type(depth: 5), &generator, client) }
      }
    }
  }
}

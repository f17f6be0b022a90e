import BusSupport
import DBusTypes
import TestSupport
import Testing

@Suite("Random values of every type survive the daemon unchanged")
struct DaemonRoundTripTests {
  private static let key = "demo.Any.Value"

  /// Publishes two values of `type` one after the other and reads them back every way that there is.
  private static func check(_ type: DBusType, _ generator: inout ValueGenerator, _ client: Peer) async throws {
    let (first, second) = (generator.value(of: type, depth: 3), generator.value(of: type, depth: 3))
    try await client.publish("a", [(key, first)])
    let published = try await client.read(key)
    try #require(published.value == first)
    let written = try await client.write(key, second)
    try #require(written.value == second)
    // Equal values are one state, others are two.
    try #require((written.revision == published.revision) == (first == second), "\(first), \(second)")
    let again = try await client.write(key, second, [("revision", .uint64(written.revision))])
    try #require(again == written)
    try #require(await client.get("demo.Any.Value") == second)
    try #require(await client.getAll("demo.Any", at: Focus1.field("a")) == ["Value": second])
    let all = try await client.call(.readAll()).first
    let entry = DBusValue.structure([
      .variant(second), Focus1.fieldPath("a"), .uint64(written.revision),
    ])
    let expected = try DBusDictionary(
      key: .string, value: entry.type, [.init(key: .string(key), value: entry)])
    try #require(all == .dictionary(expected))
    try await client.field("a", "Withdraw", [.strings([key])])
  }

  /// It takes 20 s: each value goes every way that there is, in and out.
  @Test("1,500 types, two values of each")
  func values() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      try await client.register("a", [], [("focus", .boolean(true))])
      var generator = ValueGenerator(seed: 31)
      for type in ValueGenerator.basicTypes + [.variant] { try await Self.check(type, &generator, client) }
      for _ in 0..<1500 { try await Self.check(generator.type(depth: 5), &generator, client) }
    }
  }
}

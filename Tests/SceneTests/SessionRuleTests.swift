import BusSupport
import DBusTypes
import TestSupport
import Testing

/// The contract's section *Session fields*, from outside.
@Suite struct SessionRuleTests {
  private static let status = "demo.Player.Status"
  private static let title = "demo.Player.Title"

  private static func options(_ more: Named = []) -> Named {
    [
      ("scope", .string("session")),
      ("active", .structure([.string(status), .variant(.string("Playing"))])),
    ] + more
  }

  private static func players(_ client: Peer, _ ids: String...) async throws {
    for id in ids {
      try await client.register(id, [(status, .string("Paused")), (title, .string(id))], options())
    }
  }

  @Test func playersSupplyWhatNothingNearerHas() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      try await Self.players(client, "p1", "p2")
      try await client.subscribe()
      #expect(try await client.fields("SessionFields") == ["p2", "p1"])
      #expect(try await client.get(Self.title) == .string("p2"))
      try await client.set(Self.status, .string("Playing"), at: Focus1.field("p1"))
      #expect(try await client.fields("SessionFields") == ["p1", "p2"])
      #expect(try await client.read(Self.title).field == "p1")
      #expect(try await client.write(Self.title, .string("song")).field == "p1")
      #expect(client.signals.values(of: Self.title) == [.string("p1"), .string("song")])
      #expect(
        client.signals.values(of: "org.focusd.Focus1.Field.Active", at: Focus1.field("p1")) == [.boolean(true)])
      #expect(client.signals.values(of: "org.focusd.Focus1.Manager.SessionFields", at: Focus1.manager) == [nil])
      // Neither focus nor what follows from it has changed.
      #expect(!client.signals.contains { $0.told.keys.contains("org.focusd.Focus1.Manager.FocusPath") })
      #expect(try await client.getAll() == [Self.status: .string("Playing"), Self.title: .string("song")].byMember)
      let other = try await desktop.peer()
      try await other.field("p2", "Activate")
      #expect(try await client.get(Self.title) == .string("p2"))
      // What has focus and has the interface supplies all of it.
      try await client.register("f", [("demo.Player.Volume", .double(1))], [("focus", .boolean(true))])
      #expect(try await client.read(Self.title).field == "")
      try await client.field("f", "Blur")
      #expect(try await client.get(Self.title) == .string("p2"))
    }
  }

  @Test func whatIsRefused() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      let active = Self.options()[1]
      let cases: [(Named, String?)] = [
        ([active], "InvalidArgs"), ([("scope", .string("scene")), active], "InvalidArgs"),
        ([("scope", .string("session")), ("active", .string("demo.Player.Status"))], "InvalidArgs"),
        (
          [("scope", .string("session")), ("active", .structure([.string("bad"), .variant(.int32(1))]))], "InvalidArgs"
        ),
        ([("scope", .string("session"))], nil), (Self.options(), nil),
      ]
      for (index, (options, error)) in cases.enumerated() {
        #expect(try await client.begin(.register("f\(index)", [], options)).refusal() == error, "\(options)")
      }
      try await client.register("plain")
      #expect(try await client.begin(.field("plain", "Activate")).refusal() == "InvalidArgs")
    }
  }

  @Test func theOrderSurvivesTheDaemon() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      try await Self.players(client, "p1", "p2", "p3", "p4")
      for (id, status) in [("p1", "Playing"), ("p2", "Playing"), ("p2", "Paused")] {
        try await client.set(Self.status, .string(status), at: Focus1.field(id))
      }
      try await client.field("p3", "Activate")
      let order = ["p3", "p1", "p2", "p4"]
      #expect(try await client.fields("SessionFields") == order)
      try await desktop.crash()
      #expect(try await client.fields("SessionFields") == order)
      #expect(try await client.get(Self.title) == .string("p3"))
    }
  }
}

extension [String: DBusValue] {
  /// The same by the last parts of the keys.
  fileprivate var byMember: [String: DBusValue] {
    Dictionary(uniqueKeysWithValues: map { (Focus1.split($0.key).member, $0.value) })
  }
}

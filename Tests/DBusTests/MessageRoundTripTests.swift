import DBus
import DBusTypes
import EventLoop
import TestSupport
import Testing

@Suite(.ownThreads) struct MessageRoundTripTests {
  @Test func randomValuesBetweenTwoConnections() async throws {
    try await PrivateBus.with { bus in
      let (loop, client, service) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      client.attach(to: loop)
      service.attach(to: loop)
      service.serveEcho()
      var generator = ValueGenerator(seed: 6)
      for _ in 0..<500 {
        let values = [generator.value(of: generator.type(depth: 5), depth: 4), generator.value(of: .variant, depth: 5)]
        let reply = try loop.call(client, client.message(to: service, "Echo", values))
        #expect(try reply.arguments() == values)
      }
    }
  }

  @Test func randomValuesThroughGDBus() async throws {
    try await PrivateBus.with { bus in
      let peer = try await GDBusPeer(on: bus)
      let client = try Connection(to: bus)
      var generator = ValueGenerator(seed: 7)
      for _ in 0..<500 {
        let value = DBusValue.variant(generator.value(of: generator.type(depth: 5), depth: 4))
        #expect(try client.call(Connection.message(to: peer, "Echo", [value])).arguments() == [value])
      }
    }
  }

  @Test func argumentsOfEverySignatureFromGDBus() async throws {
    try await PrivateBus.with { bus in
      let peer = try await GDBusPeer(on: bus)
      let (loop, client) = (EventLoop(), try Connection(to: bus))
      client.attach(to: loop)
      var received: [Message] = []
      client.onMessage = { if $0.interface?.text == "test.Peer" { received.append($0) } }
      try client.addMatch(
        MatchRule(
          sender: BusName(peer.uniqueName), interface: InterfaceName("test.Peer"), member: MemberName("Unwrapped")))
      var generator = ValueGenerator(seed: 8)
      for _ in 0..<200 {
        let values = (0..<Int.random(in: 0...4, using: &generator.numbers)).map { _ in
          generator.value(of: generator.type(depth: 4), depth: 3)
        }
        received = []
        _ = try client.call(Connection.message(to: peer, "Unwrap", [.variants(values)]))
        try loop.turn(until: "signal") { !received.isEmpty }
        #expect(try received.first?.arguments() == values)
      }
    }
  }

  @Test(
    arguments: [
      (.byte(255), "byte 0xff"), (.boolean(true), "true"), (.int16(-1), "int16 -1"), (.uint16(65535), "uint16 65535"),
      (.int32(.min), "-2147483648"), (.uint32(.max), "uint32 4294967295"), (.int64(.min), "int64 -9223372036854775808"),
      (.uint64(.max), "uint64 18446744073709551615"), (.double(0.5), "0.5"), (.string("é'\n"), #""é'\n""#),
      (.objectPath(ObjectPath(known: "/a/b")), "objectpath '/a/b'"), (.signature(.empty), "signature ''"),
      (.variant(.int32(1)), "<1>"), (.strings([]), "@as []"), (.strings(["a"]), "['a']"),
      (.structure([.int32(1), .string("a")]), "(1, 'a')"), (.properties([("a", .byte(1))]), "{'a': <byte 0x01>}"),
      (.properties([]), "@a{sv} {}"), (.array(DBusArray(bytes: [1, 2])), "[byte 0x01, 0x02]"),
    ] as [(DBusValue, String)])
  func whatGDBusSees(value: DBusValue, text: String) async throws {
    try await PrivateBus.with { bus in
      let peer = try await GDBusPeer(on: bus)
      let reply = try Connection(to: bus).call(Connection.message(to: peer, "Print", [.variant(value)]))
      #expect(try reply.arguments() == [.string(text)])
    }
  }

  @Test func theDeepestAndLargestMessagesPass() async throws {
    try await PrivateBus.with { bus in
      let (loop, client, service) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      client.attach(to: loop)
      service.attach(to: loop)
      service.serveEcho()
      let deepest = (0..<63).reduce(DBusValue.byte(1)) { value, _ in .variant(value) }
      let largest = DBusValue.array(DBusArray(bytes: [UInt8](repeating: 7, count: MessageBody.sizeLimit - 4)))
      for value in [deepest, largest] {
        #expect(try loop.call(client, client.message(to: service, "Echo", [value])).arguments() == [value])
      }
    }
  }
}

import DBus
import DBusTypes
import EventLoop
import TestSupport
import Testing

@Suite(.ownThreads) struct ConnectionCallTests {
  @Test func anErrorOfThePeerComesBackAsItWas() async throws {
    try await PrivateBus.with { bus in
      let peer = try await GDBusPeer(on: bus)
      let (loop, client) = (EventLoop(), try Connection(to: bus))
      client.attach(to: loop)
      let arguments: [DBusValue] = [.string("test.Error.Own"), .string("in its own words\n'é'")]
      let expected = DBusError(try ErrorName("test.Error.Own"), "in its own words\n'é'")
      let blocking = try #require(throws: DBusError.self) {
        try client.call(Connection.message(to: peer, "Fail", arguments))
      }
      #expect(blocking == expected)
      let async = try #require(throws: DBusError.self) {
        try loop.call(client, Connection.message(to: peer, "Fail", arguments))
      }
      #expect(async == expected)
    }
  }

  @Test func aCallToNobodyIsServiceUnknown() async throws {
    try await PrivateBus.with { bus in
      let client = try Connection(to: bus)
      let call = try OutgoingMessage.methodCall(
        to: BusName("test.nobody"), path: testPath, interface: testInterface, member: MemberName("Call"))
      #expect(try #require(throws: DBusError.self) { try client.call(call) }.name == .serviceUnknown)
    }
  }

  @Test func aPeerThatDoesNotAnswerTimesOut() async throws {
    try await PrivateBus.with { bus in
      let peer = try await GDBusPeer(on: bus)
      let (loop, client) = (EventLoop(), try Connection(to: bus))
      client.attach(to: loop)
      var result: Result<Message, DBusError>?
      try client.call(Connection.message(to: peer, "Hang"), timeout: .milliseconds(30)) { result = $0 }
      try loop.turn(until: "timeout") { result != nil }
      guard case .failure(let error)? = result else {
        Issue.record("\(String(describing: result))")
        return
      }
      #expect(error.name == .timeout)
      let blocking = try #require(throws: DBusError.self) {
        try client.call(Connection.message(to: peer, "Hang"), timeout: .milliseconds(30))
      }
      #expect(blocking.name == .noReply)
      // The late end of the peer must not find the handlers once more.
      try await peer.kill()
      _ = try loop.call(client, Connection.getID())
    }
  }

  @Test func theCallsToOnePeerEnd() async throws {
    try await PrivateBus.with { bus in
      let (peer, other) = (try await GDBusPeer(on: bus), try await GDBusPeer(on: bus))
      let (loop, client) = (EventLoop(), try Connection(to: bus))
      client.attach(to: loop)
      var ended: [Int] = []
      for (number, one) in [peer, other, peer].enumerated() {
        try client.call(Connection.message(to: one, "Hang")) { result in
          if case .failure(let error) = result, error.name == .failed { ended.append(number) }
        }
      }
      client.endCalls(to: try BusName(peer.uniqueName), DBusError(.failed, "it has left"))
      #expect(ended == [0, 2])
      // The late end of the peer must not find the handlers once more.
      try await peer.kill()
      _ = try loop.call(client, Connection.getID())
      #expect(ended == [0, 2])
    }
  }

  /// 500 ms is not 0, and the longest of all durations is not an overflow.
  @Test(arguments: [Duration.milliseconds(59_500), .seconds(Int64.max), .seconds(3_000_000)])
  func timeoutsOfAnyLength(timeout: Duration) async throws {
    try await PrivateBus.with { bus in
      let (loop, client) = (EventLoop(), try Connection(to: bus))
      client.attach(to: loop)
      #expect(throws: Never.self) { try client.call(Connection.getID(), timeout: timeout) }
      var answered = false
      try client.call(Connection.getID(), timeout: timeout) { _ in answered = true }
      try loop.turn(until: "reply") { answered }
    }
  }

  @Test func aSubsecondTimeoutLeavesTimeForAnAnswer() async throws {
    try await PrivateBus.with { bus in
      let client = try Connection(to: bus)
      // With a timeout of 0 none of these would be answered.
      let answered = (0..<20).filter { _ in
        (try? client.call(Connection.getID(), timeout: .milliseconds(999))) != nil
      }
      #expect(!answered.isEmpty)
    }
  }

  @Test func repliesFindTheirOwnCalls() async throws {
    try await PrivateBus.with { bus in
      let (loop, client, service) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      client.attach(to: loop)
      service.attach(to: loop)
      // The service answers in reverse.
      var calls: [Message] = []
      service.onMessage = { call in
        if call.kind == .methodCall { calls.append(call) }
        guard calls.count == 100 else { return }
        for call in calls.reversed() { _ = try? service.send(call.reply(call.arguments())) }
        calls = []
      }
      defer { service.onMessage = nil }
      var answers: [Int32: DBusValue] = [:]
      for index in Int32(0)..<100 {
        try client.call(client.message(to: service, "Echo", [.int32(index)])) { result in
          answers[index] = try? result.get().arguments().first
        }
      }
      try loop.turn(until: "replies") { answers.count == 100 }
      #expect(answers.allSatisfy { $0.value == .int32($0.key) })
    }
  }

  @Test func aHandlerMayCallAgain() async throws {
    try await PrivateBus.with { bus in
      let (loop, client) = (EventLoop(), try Connection(to: bus))
      client.attach(to: loop)
      var answers = 0
      try client.call(Connection.getID()) { _ in
        answers += 1
        _ = try? client.call(Connection.getID())
        answers += 1
        try? client.call(Connection.getID()) { _ in answers += 1 }
      }
      try loop.turn(until: "replies") { answers == 3 }
    }
  }

  @Test func aConnectionThatServesNothingAnswersAllTheSame() async throws {
    try await PrivateBus.with { bus in
      let (loop, client, other) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      client.attach(to: loop)
      other.attach(to: loop)
      let error = try #require(throws: DBusError.self) { try loop.call(client, client.message(to: other, "Call")) }
      #expect(error.name == .unknownMethod)
      let ping = try OutgoingMessage.methodCall(
        to: other.uniqueName, path: .root, interface: .peer, member: MemberName("Ping"))
      #expect(try loop.call(client, ping).arguments() == [])
      other.serveEcho()
      #expect(try loop.call(client, client.message(to: other, "Call", [.byte(1)])).arguments() == [.byte(1)])
    }
  }

  @Test func aCallThatWantsNoReplyGetsNone() async throws {
    try await PrivateBus.with { bus in
      let (loop, client, service) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      client.attach(to: loop)
      service.attach(to: loop)
      var wanted: [Bool] = []
      service.onMessage = { if $0.kind == .methodCall { wanted.append($0.wantsReply) } }
      var silent = try client.message(to: service, "Call")
      silent.disableReply()
      try client.send(silent)
      try client.send(client.message(to: service, "Call"))
      try loop.turn(until: "calls") { wanted.count == 2 }
      #expect(wanted == [false, true])
    }
  }
}

extension Connection {
  /// A call that every bus answers.
  static func getID() throws -> OutgoingMessage {
    try .methodCall(
      to: .bus, path: ObjectPath(known: "/org/freedesktop/DBus"), interface: .bus, member: MemberName(known: "GetId"))
  }
}

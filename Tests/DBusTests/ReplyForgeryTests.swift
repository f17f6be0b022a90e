import BusSupport
import DBus
import DBusTypes
import EventLoop
import TestSupport
import Testing

/// What claims to be the answer to a call, and is not the called peer's, nor the bus's.
@Suite(.ownThreads) struct ReplyForgeryTests {
  /// The numbers of all calls that a test makes are among these.
  private static let serials: ClosedRange<UInt32> = 1...128
  private static let name = BusName(known: "test.Service")

  /// Has the victim receive lies before the answers to what it asks next.
  private static func deceive(_ victim: Connection, _ forger: Peer, _ answer: [DBusValue]) async throws {
    try await forger.forge(
      [.reply(answer), .error("test.Forged")], to: victim.uniqueName?.text ?? "", serials: serials)
  }

  private static func call(_ destination: BusName?, _ argument: Int32) throws -> OutgoingMessage {
    try .methodCall(
      to: destination, path: testPath, interface: testInterface, member: MemberName("Echo"), [.int32(argument)])
  }

  /// A service that answers on a thread of its own, so that others may wait for it.
  private static func serve(on bus: PrivateBus, as name: BusName? = nil) async throws -> BusName {
    let started = Observed<BusName?>(nil)
    Task {
      try await onThread {
        let (loop, connection) = (EventLoop(), try Connection(to: bus))
        connection.serveEcho()
        connection.attach(to: loop)
        if let name { _ = try connection.requestName(name) }
        let unique = connection.uniqueName
        started.update { $0 = unique }
        while connection.isConnected { loop.turn(waitingAtMost: .seconds(60)) }
      }
    }
    return try await started.wait(for: "service") { $0 }
  }

  @Test(arguments: [false, true]) func onlyTheCalledPeerAnswers(isNamed: Bool) async throws {
    try await PrivateBus.with { bus in
      let unique = try await Self.serve(on: bus, as: isNamed ? Self.name : nil)
      let destination = isNamed ? Self.name : unique
      let (loop, victim, forger) = (EventLoop(), try Connection(to: bus), try await Peer(on: bus))
      for number in Int32(1)...3 {
        try await Self.deceive(victim, forger, [.int32(666)])
        #expect(try victim.call(Self.call(destination, number)).arguments() == [.int32(number)])
      }
      victim.attach(to: loop)
      for number in Int32(1)...3 {
        try await Self.deceive(victim, forger, [.int32(666)])
        #expect(try loop.call(victim, Self.call(destination, number)).arguments() == [.int32(number)])
      }
    }
  }

  /// The bus does not say who holds the name later, but it has said who holds it.
  @Test func theHolderOfANameAnswersIfTheBusTakesNoMoreRules() async throws {
    try await PrivateBus.with(matchRules: 0) { bus in
      _ = try await Self.serve(on: bus, as: Self.name)
      let (loop, client) = (EventLoop(), try Connection(to: bus))
      for number in Int32(1)...2 {
        #expect(try client.call(Self.call(Self.name, number)).arguments() == [.int32(number)])
      }
      client.attach(to: loop)
      for number in Int32(1)...2 {
        #expect(try loop.call(client, Self.call(Self.name, number)).arguments() == [.int32(number)])
      }
    }
  }

  @Test func onlyTheBusAnswersForTheBus() async throws {
    try await PrivateBus.with { bus in
      let (victim, forger) = (try Connection(to: bus), try await Peer(on: bus))
      let id = try Connection(to: bus).busID()
      try await Self.deceive(victim, forger, [.string("forged")])
      #expect(try victim.busID() == id)
      try await Self.deceive(victim, forger, [.string(forger.name)])
      #expect(try victim.owner(of: Self.name) == nil)
      // The number that says that a name was taken.
      try await forger.own(Self.name.text)
      try await Self.deceive(victim, forger, [.uint32(1)])
      #expect(try !victim.requestName(Self.name))
      try await Self.deceive(victim, forger, [.uint32(1)])
      #expect(try victim.processID(of: .bus) != 1)
      try await Self.deceive(victim, forger, [.string("forged")])
      #expect(try victim.survey(adding: MatchRule(interface: testInterface)).id == id)
      try await Self.deceive(victim, forger, [])
      #expect(throws: DBusError.self) { try victim.addMatch(MatchRule(arguments: [64: "a"])) }
      try await Self.deceive(victim, forger, [])
      #expect(throws: Never.self) { try victim.addMatch(MatchRule(interface: testInterface)) }
    }
  }

  @Test func aCallThatOnlyLiesAnswerTimesOut() async throws {
    try await PrivateBus.with { bus in
      let peer = try await GDBusPeer(on: bus)
      let (loop, victim, forger) = (EventLoop(), try Connection(to: bus), try await Peer(on: bus))
      try await Self.deceive(victim, forger, [])
      let blocking = try #require(throws: DBusError.self) {
        try victim.call(Connection.message(to: peer, "Hang"), timeout: .milliseconds(30))
      }
      #expect(blocking.name == .noReply)
      victim.attach(to: loop)
      try await Self.deceive(victim, forger, [])
      var result: Result<Message, DBusError>?
      try victim.call(Connection.message(to: peer, "Hang"), timeout: .milliseconds(30)) { result = $0 }
      try loop.turn(until: "timeout") { result != nil }
      guard case .failure(let error)? = result else {
        Issue.record("\(String(describing: result))")
        return
      }
      #expect(error.name == .timeout)
    }
  }

  /// Who holds a name is for the bus to say: neither a signal nor an answer of others makes an owner.
  @Test func nobodyMakesThemselvesTheOwnerOfAName() async throws {
    try await PrivateBus.with { bus in
      let unique = try await Self.serve(on: bus, as: Self.name)
      let (loop, victim, forger) = (EventLoop(), try Connection(to: bus), try await Peer(on: bus))
      victim.attach(to: loop)
      let name = victim.uniqueName?.text ?? ""
      for number in Int32(1)...3 {
        try forger.forge(
          to: name, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
          [.string(Self.name.text), .string(unique.text), .string(forger.name)])
        try await Self.deceive(victim, forger, [.string(forger.name)])
        #expect(try loop.call(victim, Self.call(Self.name, number)).arguments() == [.int32(number)])
        #expect(try victim.call(Self.call(Self.name, number)).arguments() == [.int32(number)])
      }
    }
  }

  /// A name goes from one to the next while a call is under way.
  @Test func whoWasAskedAnswersAlsoWhenTheNameIsAnothersBy() async throws {
    try await PrivateBus.with { bus in
      let loop = EventLoop()
      let (client, first, second) = (try Connection(to: bus), try Connection(to: bus), try Connection(to: bus))
      for connection in [client, first, second] { connection.attach(to: loop) }
      var held: Message?
      first.onMessage = { if $0.kind == .methodCall { held = $0 } }
      second.serveEcho()
      #expect(try first.requestName(Self.name))
      var answer: [DBusValue]?
      try client.call(Self.call(Self.name, 1)) { answer = try? $0.get().arguments() }
      try loop.turn(until: "call") { held != nil }
      let release = try OutgoingMessage.methodCall(
        to: .bus, path: ObjectPath("/org/freedesktop/DBus"), interface: .bus, member: MemberName("ReleaseName"),
        [.string(Self.name.text)])
      #expect(try first.call(release).arguments() == [.uint32(1)])
      #expect(try second.requestName(Self.name))
      #expect(try loop.call(client, Self.call(Self.name, 2)).arguments() == [.int32(2)])
      #expect(answer == nil)
      if let held { try first.send(held.reply([.string("late")])) }
      try loop.turn(until: "late answer") { answer != nil }
      #expect(answer == [.string("late")])
      // Nobody has the name, and then somebody has it again.
      #expect(try second.call(release).arguments() == [.uint32(1)])
      let error = try #require(throws: DBusError.self) { try loop.call(client, Self.call(Self.name, 3)) }
      #expect(error.name == .serviceUnknown)
      #expect(try second.requestName(Self.name))
      #expect(try loop.call(client, Self.call(Self.name, 4)).arguments() == [.int32(4)])
    }
  }

  /// Whatever arrives while a call is waited for is handled afterwards, once and in order, answers to other calls included.
  @Test func whatArrivesDuringABlockingCallIsKeptInOrder() async throws {
    try await PrivateBus.with { bus in
      let unique = try await Self.serve(on: bus)
      let (loop, client, sender) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      client.attach(to: loop)
      var arrivals: [String] = []
      client.onMessage = { message in
        guard message.kind == .methodCall, let number = try? message.arguments().first?.basicText else { return }
        arrivals.append("call \(number)")
        // A handler may wait, too.
        if number == "300" { _ = try? client.call(Self.call(unique, 7)) }
      }
      for number in Int32(0)..<600 {
        try sender.send(client.message(from: sender, number))
        guard number == 299 else { continue }
        _ = try sender.call(Connection.getID())
        try client.call(Connection.getID()) { _ in arrivals.append("answer") }
        #expect(try client.call(Self.call(unique, 5)).arguments() == [.int32(5)])
      }
      _ = try sender.call(Connection.getID())
      #expect(try client.call(Self.call(unique, 6)).arguments() == [.int32(6)])
      #expect(arrivals.isEmpty)
      try loop.turn(until: "messages") { arrivals.count == 601 }
      #expect(arrivals == (0..<300).map { "call \($0)" } + ["answer"] + (300..<600).map { "call \($0)" })
    }
  }
}

extension Connection {
  /// A call of this connection by another one.
  fileprivate func message(from other: Connection, _ number: Int32) throws -> OutgoingMessage {
    var call = try other.message(to: self, "Call", [.int32(number)])
    call.disableReply()
    return call
  }
}

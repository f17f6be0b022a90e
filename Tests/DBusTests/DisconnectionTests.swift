import DBus
import DBusTypes
import Dispatch
import EventLoop
import TestSupport
import Testing

@Suite(.ownThreads) struct DisconnectionTests {
  @Test(arguments: [
    "", "x", "unix:", "unix:path=", "unix:path=/nonexistent/bus", "unix:path=/dev/null", "nonsense:a=b",
    "unix:path=/a\0b",
    "tcp:host=localhost,port=1", "unix:path=%zz", ";", "unixexec:path=/bin/true",
  ])
  func noBusIsAnError(address: String) {
    #expect(throws: DBusError.self) { try Connection(to: .address(address)) }
  }

  @Test func theEndOfTheBusIsToldOnceAndFailsWhatIsUnderWay() async throws {
    try await PrivateBus.with { bus in
      let peer = try await GDBusPeer(on: bus)
      let (loop, client) = (EventLoop(), try Connection(to: bus))
      client.attach(to: loop)
      var (disconnections, failures) = (0, [ErrorName]())
      client.onDisconnect = { disconnections += 1 }
      for _ in 0..<3 {
        try client.call(Connection.message(to: peer, "Hang")) { result in
          if case .failure(let error) = result { failures.append(error.name) }
        }
      }
      _ = try client.call(Connection.getID())
      try await bus.stop()
      try loop.turn(until: "disconnection") { disconnections > 0 }
      #expect(failures == [.disconnected, .disconnected, .disconnected])
      #expect(!client.isConnected)
      #expect(throws: DBusError.self) { try client.send(Connection.getID()) }
      #expect(throws: DBusError.self) { try client.call(Connection.getID()) }
      #expect(throws: DBusError.self) { try client.requestName(BusName("test.Name")) }
      #expect(throws: DBusError.self) { try client.addMatch(MatchRule()) }
      loop.turn(waitingAtMost: .zero)
      #expect(disconnections == 1)
    }
  }

  @Test func theEndOfTheBusEndsABlockingCall() async throws {
    try await PrivateBus.with { bus in
      let peer = try await GDBusPeer(on: bus)
      let client = try Connection(to: bus)
      let hang = try Connection.message(to: peer, "Hang")
      // From a thread of its own, for this one waits.
      DispatchQueue.global().async { peer.terminate() }
      #expect(throws: DBusError.self) { try client.call(hang) }
      #expect(client.isConnected)
      try await bus.stop()
      #expect(throws: DBusError.self) { try client.call(Connection.getID()) }
    }
  }

  @Test func aConnectionMayBeDroppedWithMessagesUndispatched() async throws {
    try await PrivateBus.with { bus in
      let sender = try Connection(to: bus)
      for attached in [false, true] {
        let loop = EventLoop()
        var failures = 0
        do {
          let receiver = try Connection(to: bus)
          if attached { receiver.attach(to: loop) }
          receiver.onMessage = { _ in Issue.record("a connection that is gone was told of a message") }
          receiver.onDisconnect = { Issue.record("a connection that is gone was told of its end") }
          for _ in 0..<500 { try sender.send(sender.message(to: receiver, "Call", [.string("x")])) }
          sender.flush()
          // The reply comes after the messages, so these have been received, and not dispatched.
          _ = try receiver.call(Connection.getID())
          try receiver.call(Connection.getID()) { if case .failure = $0 { failures += 1 } }
        }
        #expect(failures == 1)
        loop.turn(waitingAtMost: .zero)
      }
      _ = try sender.call(Connection.getID())
    }
  }

  @Test func aHandlerMayDropItsOwnConnection() async throws {
    try await PrivateBus.with { bus in
      let (loop, sender) = (EventLoop(), try Connection(to: bus))
      var receiver: Connection? = try Connection(to: bus)
      weak let gone = receiver
      receiver?.attach(to: loop)
      var received = 0
      receiver?.onMessage = { _ in
        received += 1
        receiver = nil
      }
      for _ in 0..<10 {
        guard let receiver else { break }
        try sender.send(sender.message(to: receiver, "Call"))
      }
      try loop.turn(until: "message") { received > 0 }
      #expect(gone == nil)
    }
  }

  @Test func aHandlerMayDropAnotherConnectionOfTheLoop() async throws {
    try await PrivateBus.with { bus in
      let (loop, first, sender) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      var second: Connection? = try Connection(to: bus)
      first.attach(to: loop)
      second?.attach(to: loop)
      var dropped = false
      first.onMessage = { _ in
        second = nil
        dropped = true
      }
      if let second { try sender.send(sender.message(to: second, "Call")) }
      try sender.send(sender.message(to: first, "Call"))
      _ = try sender.call(Connection.getID())
      try loop.turn(until: "message") { dropped }
      loop.turn(waitingAtMost: .zero)
    }
  }

  @Test func aConnectionMayMoveToAnotherLoop() async throws {
    try await PrivateBus.with { bus in
      let connection = try Connection(to: bus)
      for _ in 0..<3 {
        let loop = EventLoop()
        connection.attach(to: loop)
        connection.attach(to: loop)
        #expect(try loop.call(connection, Connection.getID()).arguments().count == 1)
      }
      connection.detach()
      connection.detach()
      #expect(try connection.call(Connection.getID()).arguments().count == 1)
    }
  }
}

import DBus
import DBusTypes
import EventLoop
import TestSupport
import Testing

@Suite(.ownThreads) struct EventLoopTests {
  @Test func timersFireInTheOrderInWhichTheyAreDue() throws {
    let loop = EventLoop()
    // When each was due at the earliest, and at the latest: this thread may be held up while it sets a timer.
    var due: [ClosedRange<SuspendingClock.Instant>] = []
    var fired: [Int] = []
    // Those of one length too, which fire in the order in which they were set.
    for delay in [60, 20, 40, 0, 80] + Array(repeating: 100, count: 10) {
      let (index, start) = (due.count, SuspendingClock.now)
      loop.schedule(after: .milliseconds(delay)) { fired.append(index) }
      due.append(start + .milliseconds(delay)...SuspendingClock.now + .milliseconds(delay))
    }
    try loop.turn(until: "timers") { fired.count == due.count }
    for (earlier, later) in zip(fired, fired.dropFirst()) {
      #expect(due[earlier].lowerBound <= due[later].upperBound, "\(fired)")
    }
    #expect(Array(fired.suffix(10)) == Array(5..<15))
  }

  @Test func aTimerMaySetAndCancelTimers() throws {
    let loop = EventLoop()
    var fired: [String] = []
    var victim: TimerID?
    loop.schedule(after: .milliseconds(1)) {
      fired.append("first")
      if let victim { loop.cancel(victim) }
      loop.schedule(after: .zero) {
        fired.append("second")
        loop.schedule(after: .milliseconds(40)) { fired.append("last") }
      }
    }
    // Set later, it is due later, however long this thread is held up.
    victim = loop.schedule(after: .milliseconds(20)) { fired.append("victim") }
    try loop.turn(until: "timers") { fired.last == "last" }
    #expect(fired == ["first", "second", "last"])
  }

  @Test func aTimerThatSetsItselfAgainDoesNotStarveOthers() async throws {
    try await PrivateBus.with { bus in
      let (loop, client) = (EventLoop(), try Connection(to: bus))
      client.attach(to: loop)
      var ticks = 0
      var isOver = false
      func tick() {
        ticks += 1
        if !isOver { loop.schedule(after: .zero, tick) }
      }
      tick()
      #expect(try loop.call(client, Connection.getID()).arguments().count == 1)
      #expect(ticks > 0)
      // The last tick lets go of the loop.
      isOver = true
      let last = ticks
      try loop.turn(until: "last tick") { ticks > last }
    }
  }

  @Test func aLoopIsNotHeldByWhatItHasPolled() async throws {
    try await PrivateBus.with { bus in
      weak var held: EventLoop?
      func use() throws {
        let (loop, client) = (EventLoop(), try Connection(to: bus))
        held = loop
        client.attach(to: loop)
        #expect(try loop.call(client, Connection.getID()).arguments().count == 1)
      }
      try use()
      #expect(held == nil)
    }
  }

  @Test func whatArrivedInTimeIsNoTimeoutWhenItIsReadLate() async throws {
    try await PrivateBus.with { bus in
      let (loop, client) = (EventLoop(), try Connection(to: bus))
      client.attach(to: loop)
      let other = try Connection(to: bus)
      try await eventually("a round that nothing holds up") {
        var replies: [Bool] = []
        for _ in 0..<200 {
          try client.call(Connection.getID(), timeout: .milliseconds(1)) { result in
            if case .success = result { replies.append(true) } else { replies.append(false) }
          }
        }
        client.flush()
        // The bus takes what it reads from each connection in turns: when it has answered so often, the last reply is there,
        // and next to nothing has been read, as if this process had been held up meanwhile.
        for _ in 0..<100 { _ = try other.call(Connection.getID()) }
        let due = SuspendingClock.now + .milliseconds(2)
        while SuspendingClock.now < due {}
        let start = SuspendingClock.now
        try loop.turn(until: "replies") { replies.count == 200 }
        // What is not read after so long is a timeout indeed.
        guard SuspendingClock.now - start < EventLoop.mostDelay else { return false }
        #expect(!replies.contains(false))
        return true
      }
    }
  }

  @Test func cancelledTimersNeverFire() throws {
    let loop = EventLoop()
    var fired = 0
    let timers = (0..<1000).map { index in loop.schedule(after: .milliseconds(index % 7)) { fired += 1 } }
    for (index, timer) in timers.enumerated() where index % 10 != 0 { loop.cancel(timer) }
    for timer in timers.prefix(5) { loop.cancel(timer) }
    var done = false
    loop.schedule(after: .milliseconds(8)) { done = true }
    try loop.turn(until: "timers") { done }
    #expect(fired == 99)
    for timer in timers { loop.cancel(timer) }
  }

  @Test func stopEndsRunAtTheEndOfTheTurn() throws {
    let loop = EventLoop()
    var events: [String] = []
    loop.onTurnEnd = { if !events.isEmpty { events.append("end") } }
    loop.schedule(after: .zero) {
      events.append("stop")
      loop.stop()
    }
    loop.schedule(after: .seconds(1000)) { events.append("never") }
    loop.run()
    #expect(events == ["stop", "end"])
  }

  @Test func manyMessagesAreHandledInFewTurnsAndInOrder() async throws {
    try await PrivateBus.with { bus in
      let (loop, sender, receiver) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      receiver.attach(to: loop)
      var received: [DBusValue] = []
      receiver.onMessage = { message in
        if message.kind == .methodCall { received += (try? message.arguments()) ?? [] }
      }
      let count = 5000
      for index in 0..<count {
        var message = try sender.message(to: receiver, "Call", [.int32(Int32(index))])
        message.disableReply()
        try sender.send(message)
      }
      sender.flush()
      // What is read while this call waits is there when the loop turns next.
      _ = try receiver.call(Connection.getID())
      var turns: [Int] = []
      loop.onTurnEnd = { turns.append(received.count) }
      try loop.turn(until: "messages") { received.count == count }
      #expect(received == (0..<count).map { .int32(Int32($0)) })
      // No turn takes so many that its end is late.
      #expect(zip([0] + turns, turns).allSatisfy { $1 - $0 <= 256 })
    }
  }

  @Test func oneBusySourceDoesNotStarveAnother() async throws {
    try await PrivateBus.with { bus in
      let (loop, busy, quiet) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      busy.attach(to: loop)
      quiet.attach(to: loop)
      // Each message makes the next: there is always one under way.
      busy.onMessage = { _ in
        if let message = try? busy.message(to: busy, "Again") { _ = try? busy.send(message) }
      }
      defer { busy.onMessage = nil }
      for _ in 0..<10 { try busy.send(busy.message(to: busy, "Again")) }
      for _ in 0..<20 { #expect(try loop.call(quiet, Connection.getID()).arguments().count == 1) }
    }
  }
}

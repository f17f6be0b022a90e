import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Clients that call as fast as they can, beside one that only wants to read something.
@Suite(.serialized) struct FloodTests {
  /// Calls that one flooding client has under way at most.
  private static let window = 64

  @Test func aReadWaitsForItsTurnOnly() async throws {
    try await TestDesktop.with { desktop in
      let reader = try await desktop.peer()
      try await reader.register("a", [("demo.Flood.Value", .int32(0))])
      try await reader.field("a", "Focus")
      let answered = Observed(0)
      let isOver = Observed(false)
      let floods = [
        try await desktop.peer(), try await desktop.peer(), try await desktop.peer(), try await desktop.peer(),
      ]
      try await withThrowingTaskGroup { group in
        for flood in floods {
          group.addTask {
            while !isOver.now {
              let answers = try await flood.calls(
                500, window: Self.window, whenAnswered: { answered.update { $0 += 1 } }
              ) {
                number in
                .write("demo.Flood.Value", .int32(Int32(number)))
              }
              #expect(answers == [nil: 500])
            }
          }
        }
        _ = try await answered.wait(for: "flood") { $0 > 1000 ? true : nil }
        // On the reader's own thread, since a task may be held up by the tests beside this one.
        let reads = isSlow ? 500 : 100
        do {
          defer { isOver.update { $0 = true } }
          // That thread may wait longer for a processor than the others.
          try await inTime("reads that wait for their turn") {
            let moments = Observed<[(answered: Int, time: SuspendingClock.Instant)]>([])
            let answers = try await reader.calls(
              reads, window: 1, whenAnswered: { moments.update { $0.append((answered.now, .now)) } }
            ) { _ in
              .read("demo.Flood.Value")
            }
            #expect(answers == [nil: reads])
            let pairs = zip(moments.now.dropFirst(), moments.now)
            Self.tell("reads beside 4 floods of \(Self.window) calls under way", pairs.map { $0.time - $1.time })
            // Whatever was there before it, and as much again for what the clients' threads count late.
            let waits = pairs.map { $0.answered - $1.answered }.sorted()
            return waits[waits.count / 2] <= 2 * 4 * Self.window
          }
        }
        try await group.waitForAll()
      }
      #expect(desktop.daemon.progress.now.exit == nil)
    }
  }

  private static func tell(_ what: String, _ times: [Duration]) {
    let (times, count) = (times.sorted(), times.count)
    guard count > 0 else { return }
    print("\(what): \(count), median \(times[count / 2]), 99th of 100 \(times[count * 99 / 100])")
  }

  /// Four clients send all their calls before they read an answer, and a fifth reads meanwhile.
  ///
  /// Such a flood is hard on dbus-daemon: for each reply it looks through all the calls that are under way, and what it
  /// has taken for the daemon waits in one row, of which it writes 2 KiB at a time. That is where a read waits, so this
  /// tells how much of the time the daemon itself was busy.
  @Test func everyCallOfAFloodIsAnswered() async throws {
    try await TestDesktop.with { desktop in
      let count = isSlow ? 20_000 : 1_000
      let reader = try await desktop.peer()
      try await reader.register("reader", [("demo.Flood.Mine", .int32(7))])
      let floodsLeft = Observed(4)
      let (start, busyBefore) = (SuspendingClock.now, desktop.daemon.processorTime)
      let times = try await withThrowingTaskGroup { group in
        for number in 0..<4 {
          group.addTask {
            defer { floodsLeft.update { $0 -= 1 } }
            let flood = try await desktop.peer()
            let answers = try await flood.calls(count, window: count) { Self.call($0, number) }
            #expect(answers == [nil: count])
          }
        }
        var times: [Duration] = []
        while floodsLeft.now == 4 {
          let start = SuspendingClock.now
          let read = reader.begin(.get("demo.Flood.Mine", at: Focus1.field("reader")), patience: .seconds(600))
          #expect(try await read.values() == [.variant(.int32(7))])
          times.append(SuspendingClock.now - start)
        }
        try await group.waitForAll()
        return times
      }
      Self.tell("reads beside 4 floods of \(count) calls at once", times)
      let busy = desktop.daemon.processorTime - busyBefore
      print("the floods took \(SuspendingClock.now - start), the daemon was busy for \(busy)")
      #expect(desktop.daemon.progress.now.exit == nil)
    }
  }

  /// Fields that are registered, take focus, are written and go, fifty at a time.
  private static func call(_ call: Int, _ client: Int) -> DaemonCall {
    let id = "f\(client)_\(call % 50)"
    return switch call / 50 % 4 {
    case 0:
      .register(id, [("demo.Flood.Value", .int32(1))])
    case 1: .field(id, "Focus")
    case 2:
      .write("demo.Flood.Value", .int32(Int32(call)), at: Focus1.field(id))
    default: .field(id, "Unregister")
    }
  }
}

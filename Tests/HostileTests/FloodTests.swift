import BusSupport
import DBus
import DBusTypes
import TestSupport
import Testing

/// Clients that call as fast as they can, beside one that only wants to read something.
@Suite(.serialized) struct FloodTests {
  /// Calls that one flooding client has under way at most.
  private static let window = 64

  @Test func aReadWaitsForItsTurnOnly() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus)
      let reader = try Caller(on: bus)
      try await onThread {
        try reader.register("a", [(name: "demo.Flood.Value", value: .int32(0))])
        try reader.field("a", "Focus")
      }
      let answered = Observed(0)
      let isOver = Observed(false)
      let floods = try (0..<4).map { _ in try Caller(on: bus) }
      try await withThrowingTaskGroup { group in
        for flood in floods {
          group.addTask {
            try await onThread {
              while !isOver.now {
                let answers = try flood.calls(500, window: Self.window, whenAnswered: { answered.update { $0 += 1 } }) {
                  number in
                  try Caller.message(
                    Focus1.focused, Focus1.bindings, "Write",
                    [.string("demo.Flood.Value"), .variant(.int32(Int32(number))), .properties([])])
                }
                #expect(answers == [nil: 500])
              }
            }
          }
        }
        _ = try await answered.wait(for: "flood") { $0 > 1000 ? true : nil }
        let reads = isSlow ? 500 : 100
        let (waits, times) = try await onThread {
          var waits: [Int] = []
          var times: [Duration] = []
          for _ in 0..<reads {
            let before = answered.now
            times.append(
              try SuspendingClock().measure { _ = try reader.read("demo.Flood.Value") })
            waits.append(answered.now - before)
          }
          return (waits.sorted(), times.sorted())
        }
        isOver.update { $0 = true }
        try await group.waitForAll()
        Self.tell("reads beside 4 floods of \(Self.window) calls under way", times)
        // Whatever was there before it, and as much again for what the clients' threads count late.
        #expect(waits[reads / 2] <= 2 * 4 * Self.window)
      }
      #expect(daemon.progress.now.exit == nil)
      try await daemon.stop()
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
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus)
      let count = isSlow ? 20_000 : 1_000
      let reader = try Caller(on: bus)
      reader.patience = .seconds(600)
      try await onThread {
        try reader.register("reader", [(name: "demo.Flood.Mine", value: .int32(7))])
      }
      let floodsLeft = Observed(4)
      let (start, busyBefore) = (SuspendingClock.now, daemon.processorTime)
      let times = try await withThrowingTaskGroup { group in
        for number in 0..<4 {
          group.addTask {
            defer { floodsLeft.update { $0 -= 1 } }
            try await onThread {
              let flood = try Caller(on: bus)
              flood.patience = .seconds(600)
              let answers = try flood.calls(count, window: count) { try Self.call($0, number) }
              #expect(answers == [nil: count])
            }
          }
        }
        let times = try await onThread {
          var times: [Duration] = []
          while floodsLeft.now == 4 {
            let time = try SuspendingClock().measure {
              let value = try reader.read("demo.Flood.Mine", at: Focus1.field("reader")).value
              #expect(value == .int32(7))
            }
            times.append(time)
          }
          return times
        }
        try await group.waitForAll()
        return times
      }
      Self.tell("reads beside 4 floods of \(count) calls at once", times)
      let busy = daemon.processorTime - busyBefore
      print("the floods took \(SuspendingClock.now - start), the daemon was busy for \(busy)")
      #expect(daemon.progress.now.exit == nil)
      try await daemon.stop()
    }
  }

  /// Fields that are registered, take focus, are written and go, fifty at a time.
  private static func call(_ call: Int, _ client: Int) throws -> OutgoingMessage {
    let id = "f\(client)_\(call % 50)"
    return switch call / 50 % 4 {
    case 0:
      try Caller.message(
        Focus1.manager, Focus1.managerInterface, "Register",
        [.string(id), .properties([(name: "demo.Flood.Value", value: .int32(1))]), .properties([])])
    case 1: try Caller.message(Focus1.field(id), Focus1.fieldInterface, "Focus")
    case 2:
      try Caller.message(
        Focus1.field(id), Focus1.bindings, "Write",
        [.string("demo.Flood.Value"), .variant(.int32(Int32(call))), .properties([])])
    default: try Caller.message(Focus1.field(id), Focus1.fieldInterface, "Unregister")
    }
  }
}

import EventLoop
import Foundation
import TestSupport
import Testing

@Suite struct SignalSourceTests {
  @Test func signalsArriveAsEventsOfTheLoop() async throws {
    let result = Observed<[Int32]?>(nil)
    // A thread of its own, since it keeps the signals blocked; they are sent to it alone.
    Thread.detachNewThread {
      let loop = EventLoop()
      var received: [Int32] = []
      let source = try? SignalSource([SIGUSR1, SIGUSR2], on: loop) { received.append($0) }
      pthread_kill(pthread_self(), SIGUSR2)
      try? loop.turn(until: "first signal") { received.count == 1 }
      pthread_kill(pthread_self(), SIGUSR1)
      try? loop.turn(until: "second signal") { received.count == 2 }
      withExtendedLifetime(source) {}
      let all = received
      result.update { $0 = all }
    }
    #expect(try await result.wait(for: "signals") { $0 } == [SIGUSR2, SIGUSR1])
  }
}

import TestSupport
import Testing

@testable import EventLoop

@Suite struct TimerQueueTests {
  /// Random timers, some cancelled, come out as a sorted list has them.
  @Test(arguments: 0..<40) func timersComeOutInOrder(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var queue = TimerQueue()
    let start = SuspendingClock.now
    var expected: [(due: Int, number: Int)] = []
    var timers: [(id: TimerID, number: Int)] = []
    var fired: [Int] = []
    var now = 0
    for number in 0..<600 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<6:
        // Equal times are common: most timers are time limits of one length.
        let due = now + Int.random(in: 0..<8, using: &random)
        timers.append((queue.add(at: start + .milliseconds(due)) { fired.append(number) }, number))
        expected.append((due, number))
      case 6..<9:
        guard let victim = timers.randomElement(using: &random) else { continue }
        queue.cancel(victim.id)
        expected.removeAll { $0.number == victim.number }
      default:
        now += Int.random(in: 0..<4, using: &random)
        let due = expected.filter { $0.due <= now }.sorted { ($0.due, $0.number) < ($1.due, $1.number) }
        expected.removeAll { $0.due <= now }
        fired = []
        while let handler = queue.takeDue(at: start + .milliseconds(now)) { handler() }
        #expect(fired == due.map(\.number))
      }
    }
    fired = []
    while let handler = queue.takeDue(at: start + .seconds(60)) { handler() }
    #expect(fired == expected.sorted { ($0.due, $0.number) < ($1.due, $1.number) }.map(\.number))
    #expect(queue.earliest == nil)
  }
}

import EventLoop
import Foundation
import TestSupport
import Testing

@Suite struct MailboxTests {
  @Test func jobsOfOneThreadArriveInOrder() throws {
    let (loop, mailbox) = (EventLoop(), Mailbox<(thread: Int, number: Int)>())
    var last = [Int](repeating: -1, count: 4)
    var isInOrder = true
    mailbox.deliver(on: loop) { job in
      isInOrder = isInOrder && job.number == last[job.thread] + 1
      last[job.thread] = job.number
    }
    for thread in 0..<4 {
      Thread.detachNewThread { for number in 0..<5000 { mailbox.post((thread, number)) } }
    }
    try loop.turn(until: "jobs") { last.allSatisfy { $0 == 4999 } }
    #expect(isInOrder)
  }

  @Test func aHandlerMayPostAndDeliver() {
    let mailbox = Mailbox<Int>()
    var delivered: [Int] = []
    for job in 0..<3 { mailbox.post(job) }
    mailbox.deliver { job in
      delivered.append(job)
      guard job == 0 else { return }
      mailbox.post(3)
      // What is older than the new job comes first, here as well.
      mailbox.deliver { delivered.append($0) }
    }
    #expect(delivered == [0, 1, 2, 3])
  }

  /// Whoever posts all the time keeps nothing else of the loop from its turn.
  @Test func whatIsPostedMeanwhileComesNextTime() {
    let mailbox = Mailbox<Int>()
    var delivered: [Int] = []
    mailbox.post(0)
    for turn in 0..<3 {
      mailbox.deliver { job in
        delivered.append(job)
        if job < 10 { mailbox.post(job + 1) }
      }
      #expect(delivered == Array(0...turn))
    }
  }

  /// What a timer holds may hold the loop.
  @Test func aClosedLoopKeepsNoTimer() {
    var loop: EventLoop? = EventLoop()
    weak let kept = loop
    loop?.schedule(after: .seconds(60)) { [loop] in loop?.stop() }
    loop?.onTurnEnd = { [loop] in loop?.stop() }
    loop?.close()
    loop = nil
    #expect(kept == nil)
  }

  /// Nobody takes what is posted once the loop has ended, and a job may hold who posts.
  @Test func aClosedMailboxKeepsNoJob() throws {
    final class Poster {}
    let mailbox = Mailbox<@Sendable () -> Void>()
    weak var before: Poster?
    weak var meanwhile: Poster?
    weak var after: Poster?
    func job(_ poster: inout Poster?) -> @Sendable () -> Void {
      nonisolated(unsafe) let holder = Poster()
      poster = holder
      return { withExtendedLifetime(holder) {} }
    }
    var wasClosed = false
    mailbox.post {}
    mailbox.post(job(&before))
    mailbox.deliver { _ in
      guard !wasClosed else { return }
      wasClosed = true
      mailbox.post(job(&meanwhile))
      mailbox.close()
    }
    mailbox.post(job(&after))
    #expect(before == nil && meanwhile == nil && after == nil)
    mailbox.deliver { _ in Issue.record("A closed mailbox delivers a job.") }
  }
}

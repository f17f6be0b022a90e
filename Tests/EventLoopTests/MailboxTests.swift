import EventLoop
import Foundation
import TestSupport
import Testing

@Suite struct MailboxTests {
  @Test func lettersOfOneThreadArriveInOrder() throws {
    let (loop, mailbox) = (EventLoop(), Mailbox<(thread: Int, number: Int)>())
    var last = [Int](repeating: -1, count: 4)
    var isInOrder = true
    mailbox.deliver(on: loop) { letter in
      isInOrder = isInOrder && letter.number == last[letter.thread] + 1
      last[letter.thread] = letter.number
    }
    for thread in 0..<4 {
      Thread.detachNewThread { for number in 0..<5000 { mailbox.post((thread, number)) } }
    }
    try loop.turn(until: "letters") { last.allSatisfy { $0 == 4999 } }
    #expect(isInOrder)
  }

  @Test func aHandlerMayPostAndDeliver() {
    let mailbox = Mailbox<Int>()
    var delivered: [Int] = []
    for letter in 0..<3 { mailbox.post(letter) }
    mailbox.deliver { letter in
      delivered.append(letter)
      guard letter == 0 else { return }
      mailbox.post(3)
      // What is older than the new letter comes first, here as well.
      mailbox.deliver { delivered.append($0) }
    }
    #expect(delivered == [0, 1, 2, 3])
  }
}

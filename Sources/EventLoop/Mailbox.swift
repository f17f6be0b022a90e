internal import CLinux
internal import Glibc

/// The one way into an event loop's thread: jobs that any thread posts and the loop's handles in order.
///
/// An `eventfd(2)` wakes the loop, once for all jobs that are posted before the loop takes them.
package final class Mailbox<Job: Sendable>: Sendable {
  /// The jobs that wait to be taken; nil once it is closed.
  private let posted = Locked<[Job]?>([])
  /// The jobs that the loop's thread has taken and not handled yet, the oldest last.
  private nonisolated(unsafe) var taken: [Job] = []
  private let descriptor: Int32

  /// Creates an empty mailbox; if the kernel has no descriptor left, its loop looks into it from time to time.
  package init() { descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC)) }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  /// Posts a job; a closed mailbox drops it.
  package func post(_ job: Job) {
    let isFirst = posted.withLock { jobs in
      jobs?.append(job)
      return jobs?.count == 1
    }
    if isFirst, descriptor >= 0 { eventfd_write(descriptor, 1) }
  }

  /// Hands each job, those posted before included, to `handler` on `loop`.
  package func deliver(on loop: EventLoop, to handler: @escaping (Job) -> Void) {
    loop.add(MailboxSource(descriptor) { [weak self] in self?.deliver(to: handler) })
  }

  /// Hands the jobs that are there to `handler`, oldest first; those that are posted meanwhile come in the loop's next turn.
  ///
  /// Only the loop's thread may call this. A handler may call it again: no job is taken before an older one.
  package func deliver(to handler: (Job) -> Void) {
    let jobs = posted.withLock { jobs in
      defer { if jobs != nil { jobs = [] } }
      return jobs ?? []
    }
    taken.insert(contentsOf: jobs.reversed(), at: 0)
    while let job = taken.popLast() { handler(job) }
  }

  /// Drops all jobs, also those that are posted later: nobody takes them any more, and a job may hold the mailbox.
  ///
  /// Only the loop's thread may call this.
  package func close() {
    // They are freed outside of the lock.
    let jobs = posted.withLock { jobs in
      defer { jobs = nil }
      return jobs
    }
    taken = []
    withExtendedLifetime(jobs) {}
  }
}

/// A mailbox's descriptor among those that a loop waits for.
private final class MailboxSource: EventSource {
  private let descriptor: Int32
  private let handler: () -> Void

  init(_ descriptor: Int32, _ handler: @escaping () -> Void) {
    self.descriptor = descriptor
    self.handler = handler
  }

  func prepare(_ set: inout PollSet) {
    if descriptor >= 0 {
      set.add(descriptor, events: Int16(POLLIN), source: self, token: 0)
    } else {
      set.wake(at: SuspendingClock.now + .milliseconds(50))
    }
  }

  func ready(token: UInt, events: Int16) {
    var count: eventfd_t = 0
    eventfd_read(descriptor, &count)
  }

  func dispatch() { handler() }
}

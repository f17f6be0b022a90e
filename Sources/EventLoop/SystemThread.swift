internal import CLinux
internal import Glibc

/// A thread of the system's own, since a task must not block one of Swift's.
///
/// It takes no signals, which are the program's: one that the main thread waits for would end the process here.
package final class SystemThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private let handle: pthread_t
  private var isJoined = false

  /// Starts a thread that runs `body`; nil if the system refuses.
  package init?(_ body: @escaping @Sendable () -> Void) {
    // What the thread itself causes is not blocked: `pthread_sigmask(3)`.
    var (blocked, before) = (sigset_t(), sigset_t())
    sigfillset(&blocked)
    for signal in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP] { sigdelset(&blocked, signal) }
    pthread_sigmask(SIG_BLOCK, &blocked, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let argument = Unmanaged.passRetained(Body(body))
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, argument.toOpaque())
    guard result == 0 else {
      argument.release()
      return nil
    }
    handle = thread
  }

  deinit { if !isJoined { pthread_detach(handle) } }

  /// Waits until the thread has ended, at most `time`, nil: as long as that takes.
  /// - Returns: whether it has ended.
  package func hasEnded(within time: Duration?) -> Bool {
    guard !isJoined else { return true }
    if let time {
      guard time > .zero else {
        isJoined = pthread_tryjoin_np(handle, nil) == 0
        return isJoined
      }
      var deadline = timespec()
      clock_gettime(CLOCK_MONOTONIC, &deadline)
      let nanoseconds = deadline.tv_nsec + Int(time.milliseconds) * 1_000_000
      deadline.tv_sec += nanoseconds / 1_000_000_000
      deadline.tv_nsec = nanoseconds % 1_000_000_000
      isJoined = pthread_clockjoin_np(handle, nil, CLOCK_MONOTONIC, &deadline) == 0
    } else {
      isJoined = pthread_join(handle, nil) == 0
    }
    return isJoined
  }
}

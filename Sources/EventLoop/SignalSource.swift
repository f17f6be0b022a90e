internal import CLinux
internal import Glibc

/// Unix signals as events of a loop, through a descriptor, so that no handler ever interrupts other code.
///
/// `signalfd(2)`. The signals are blocked in the calling thread; create it before any other thread. It belongs to the loop, for
/// as long as that lives.
package final class SignalSource {
  private let descriptor: Int32
  private let handler: (Int32) -> Void

  /// Blocks `signals`, and calls `handler` on `loop` with the number of each that arrives.
  /// - Throws: `SystemError` if the kernel has no descriptor left.
  package init(_ signals: [Int32], on loop: EventLoop, _ handler: @escaping (Int32) -> Void) throws(SystemError) {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    sigprocmask(SIG_BLOCK, &set, nil)
    let descriptor = signalfd(-1, &set, Int32(SFD_NONBLOCK | SFD_CLOEXEC))
    guard descriptor >= 0 else { throw SystemError("signalfd") }
    self.descriptor = descriptor
    self.handler = handler
    loop.add(self)
  }

  deinit { close(descriptor) }
}

extension SignalSource: EventSource {
  package func prepare(_ set: inout PollSet) {
    set.add(descriptor, events: Int16(POLLIN), source: self, token: 0)
  }

  package func ready(token: UInt, events: Int16) {
    var info = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    while read(descriptor, &info, size) == size { handler(Int32(info.ssi_signo)) }
  }
}

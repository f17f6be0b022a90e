internal import CLinux
internal import Glibc

/// The one way into an event loop's thread: letters that any thread posts and the loop's handles in order.
///
/// An `eventfd(2)` wakes the loop.
public final class Mailbox<Letter: Sendable>: Sendable {
  private let letters = Locked<[Letter]>([])
  private let descriptor: Int32

  /// Creates an empty mailbox; where the kernel gives no descriptor, its loop looks into it from time to time.
  public init() { descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC)) }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Posts a letter.
  public func post(_ letter: Letter) {
    letters.withLock { $0.append(letter) }
    if descriptor >= 0 { eventfd_write(descriptor, 1) }
  }

  /// Has `loop` hand each letter, those posted before included, to `handler`.
  public func deliver(on loop: EventLoop, to handler: @escaping (Letter) -> Void) {
    loop.add(MailboxSource(descriptor) { [weak self] in self?.deliver(to: handler) })
  }

  /// Hands all letters that there are to `handler`, oldest first, also those that it posts meanwhile.
  ///
  /// For the loop's thread. A handler may call this itself: no letter is taken before an older one.
  public func deliver(to handler: (Letter) -> Void) {
    while let letter = letters.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { handler(letter) }
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

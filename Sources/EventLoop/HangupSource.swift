internal import Glibc

/// The end of whoever reads or writes at the other side of a descriptor, as an event of a loop.
///
/// `poll(2)` with `POLLHUP` and `POLLERR`: a pipe's last reader or a terminal that is gone. Files never end so.
package final class HangupSource {
  private let descriptor: Int32
  private var handler: (() -> Void)?

  /// Calls `handler` once on `loop` when the other side of `descriptor`, which stays open, is gone.
  package init(_ descriptor: Int32, on loop: EventLoop, _ handler: @escaping () -> Void) {
    self.descriptor = descriptor
    self.handler = handler
    loop.add(self)
  }
}

extension HangupSource: EventSource {
  package func prepare(_ set: inout PollSet) {
    guard handler != nil else { return }
    set.add(descriptor, events: 0, source: self, token: 0)
  }

  package func ready(token: UInt, events: Int16) {
    let handler = handler
    self.handler = nil
    handler?()
  }
}

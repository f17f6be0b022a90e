internal import Glibc

/// A descriptor among those that a loop waits for, such as a terminal or a pipe.
///
/// It stays open: it is its creator's.
package final class DescriptorSource {
  /// What to wait for.
  package enum Condition {
    /// Something can be read, or the other side is gone.
    case readable
    /// The other side of a pipe or a terminal is gone: `POLLHUP` and `POLLERR` of `poll(2)`. A file never hangs up.
    case hangup
  }

  private let descriptor: Int32
  private let events: Int16
  private var handler: (() -> Void)?
  private weak var loop: EventLoop?

  /// Calls `handler` on `loop` in each turn in which `descriptor` meets `condition`, until `cancel`.
  package init(
    _ descriptor: Int32, _ condition: Condition, on loop: EventLoop, _ handler: @escaping () -> Void
  ) {
    self.descriptor = descriptor
    events = condition == .readable ? Int16(POLLIN) : 0
    self.handler = handler
    self.loop = loop
    loop.add(self)
  }

  /// Stops waiting.
  package func cancel() {
    handler = nil
    loop?.remove(self)
  }
}

extension DescriptorSource: EventSource {
  package func prepare(_ set: inout PollSet) {
    set.add(descriptor, events: events, source: self, token: 0)
  }

  package func ready(token: UInt, events: Int16) { handler?() }
}

internal import Glibc

/// What can be read from a descriptor, such as a terminal's keys, as an event of a loop.
package final class ReadSource {
  private let descriptor: Int32
  private var handler: (() -> Void)?

  /// Calls `handler` on `loop` whenever `descriptor`, which stays open, has something to read or has ended, until
  /// `cancel`.
  package init(_ descriptor: Int32, on loop: EventLoop, _ handler: @escaping () -> Void) {
    self.descriptor = descriptor
    self.handler = handler
    loop.add(self)
  }

  /// Stops reading.
  package func cancel() { handler = nil }
}

extension ReadSource: EventSource {
  package func prepare(_ set: inout PollSet) {
    guard handler != nil else { return }
    set.add(descriptor, events: Int16(POLLIN), source: self, token: 0)
  }

  package func ready(token: UInt, events: Int16) { handler?() }
}

internal import Glibc

/// What can be read from a descriptor, such as a terminal's keys, as an event of a loop.
public final class ReadSource {
  private let descriptor: Int32
  private var handler: (() -> Void)?

  /// Has `loop` call `handler` whenever `descriptor`, which stays the caller's, has something to read or has ended, until
  /// `cancel`.
  public init(_ descriptor: Int32, on loop: EventLoop, _ handler: @escaping () -> Void) {
    self.descriptor = descriptor
    self.handler = handler
    loop.add(self)
  }

  /// Has nothing more read.
  public func cancel() { handler = nil }
}

extension ReadSource: EventSource {
  func prepare(_ set: inout PollSet) {
    guard handler != nil else { return }
    set.add(descriptor, events: Int16(POLLIN), source: self, token: 0)
  }

  func ready(token: UInt, events: Int16) { handler?() }
}

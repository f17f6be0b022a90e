package import EventLoop
internal import Glibc

/// The pipes between a browser and its host, which never block their loop.
package final class BrowserPipe {
  /// The most that one turn reads.
  private static let chunk = 256 << 10
  /// The most that waits until the browser reads it.
  private static let longestQueue = 8 << 20

  private weak var loop: EventLoop?
  private let input: Int32
  private let output: Int32
  private var framing = MessageFraming()
  private var waiting: [UInt8] = []
  /// How many of the waiting bytes the browser has.
  private var written = 0
  private var buffer = [UInt8](repeating: 0, count: BrowserPipe.chunk)
  private var isOpen = true

  /// Called with each message.
  package var onMessage: (([UInt8]) -> Void)?
  /// Called with the length of each message that is too long.
  package var onOversized: ((Int) -> Void)?
  /// Called once when the browser has closed its end; whether that was within a message.
  package var onEnd: ((_ isCutOff: Bool) -> Void)?

  /// Reads from `input` and writes to `output`, which stay open.
  package init(input: Int32, output: Int32, on loop: EventLoop) {
    (self.input, self.output, self.loop) = (input, output, loop)
    _ = fcntl(output, F_SETFL, fcntl(output, F_GETFL) | O_NONBLOCK)
    loop.add(self)
  }

  /// Sends a message, as soon as the browser reads.
  /// - Returns: whether there was room for it.
  package func send(_ message: [UInt8]) -> Bool {
    guard isOpen, waiting.count - written + message.count <= Self.longestQueue else { return false }
    waiting.removeFirst(written)
    written = 0
    waiting += MessageFraming.frame(message)
    write()
    return true
  }

  private func write() {
    guard isOpen, !waiting.isEmpty else { return }
    let count = waiting.withUnsafeBytes { Glibc.write(output, $0.baseAddress.map { $0 + written }, $0.count - written) }
    // A browser that closes only what it reads has gone, too.
    if count < 0, errno != EAGAIN, errno != EINTR { return end() }
    if count > 0 { written += count }
    if written == waiting.count { (waiting, written) = ([], 0) }
  }

  private func end() {
    isOpen = false
    loop?.remove(self)
    onEnd?(framing.isCutOff)
  }

  private func read() {
    let count = Glibc.read(input, &buffer, buffer.count)
    guard count > 0 else {
      if count < 0, errno == EAGAIN || errno == EINTR { return }
      return end()
    }
    framing.append(buffer[..<count])
    while let piece = framing.next() {
      switch piece {
      case .message(let message): onMessage?(message)
      case .oversized(let length): onOversized?(length)
      }
    }
  }
}

extension BrowserPipe: EventSource {
  package func prepare(_ set: inout PollSet) {
    guard isOpen else { return }
    set.add(input, events: Int16(POLLIN), source: self, token: 0)
    if !waiting.isEmpty { set.add(output, events: Int16(POLLOUT), source: self, token: 1) }
  }

  package func ready(token: UInt, events: Int16) {
    guard isOpen else { return }
    if token == 1 { write() } else { read() }
  }
}

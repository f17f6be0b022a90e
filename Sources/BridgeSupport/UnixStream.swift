package import EventLoop
internal import Glibc

/// A connection to a socket, `unix(7)`, that never blocks its loop.
package final class UnixStream {
  /// The most that one turn reads.
  private static let chunk = 256 << 10

  private weak var loop: EventLoop?
  private var descriptor: Int32
  private var output: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: UnixStream.chunk)

  /// Called with what has arrived.
  package var onBytes: (([UInt8]) -> Void)?
  /// Called once when the other side is gone, but not after `close`.
  package var onEnd: (() -> Void)?

  /// Connects to the socket at `path`.
  /// - Throws: `SystemError` if nobody listens there, or too many wait to be heard.
  package init(path: String, on loop: EventLoop) throws(SystemError) {
    // From here on `deinit` closes it, even if this throws.
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else {
      errno = ENAMETOOLONG
      throw SystemError("connect to a socket")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw SystemError("connect to \(path)") }
    self.loop = loop
    loop.add(self)
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  /// The process that listened when the connection was made (unix(7), `SO_PEERCRED`); 0 if that is not known here.
  package var process: Int32 {
    // `struct ucred`, which Glibc's module leaves out: the process, the user and the group.
    var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
    var size = socklen_t(MemoryLayout.size(ofValue: credentials))
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 ? credentials.0 : 0
  }

  /// Sends `bytes`, as soon as the other side reads.
  package func send(_ bytes: some Sequence<UInt8>) {
    output += bytes
    write()
  }

  /// How many bytes the other side has not taken yet.
  package var unsent: Int { output.count }

  /// Ends the connection.
  package func close() {
    guard descriptor >= 0 else { return }
    loop?.remove(self)
    Glibc.close(descriptor)
    descriptor = -1
    (onBytes, onEnd) = (nil, nil)
  }

  private func write() {
    guard descriptor >= 0, !output.isEmpty else { return }
    let sent = Glibc.send(descriptor, output, output.count, Int32(MSG_NOSIGNAL))
    // The end of the other side shows when it is read from.
    if sent > 0 { output.removeFirst(sent) }
  }

  private func read() {
    let count = Glibc.read(descriptor, &buffer, buffer.count)
    if count > 0 {
      onBytes?(Array(buffer[..<count]))
    } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
      let handler = onEnd
      close()
      handler?()
    }
  }
}

extension UnixStream: EventSource {
  package func prepare(_ set: inout PollSet) {
    guard descriptor >= 0 else { return }
    set.add(descriptor, events: Int16(POLLIN) | (output.isEmpty ? 0 : Int16(POLLOUT)), source: self, token: 0)
  }

  package func ready(token: UInt, events: Int16) {
    if events & Int16(POLLOUT) != 0 { write() }
    if events & ~Int16(POLLOUT) != 0, descriptor >= 0 { read() }
  }
}

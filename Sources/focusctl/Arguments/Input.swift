import Glibc

/// Standard input, for values that are too long for an argument, or that other programs write.
enum Input {
  /// More than any value that the daemon takes, as JSON.
  static let limit = 64 << 20

  /// All of standard input, without the line break at its end, so that what `get` prints can be given back.
  /// - Throws: `CommandError` if it cannot be read, is too long or is not UTF-8.
  static func text() throws(CommandError) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      guard count != 0 else { break }
      if count > 0 {
        bytes += buffer[..<count]
      } else if errno == EAGAIN {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        poll(&input, 1, -1)
      } else if errno != EINTR {
        throw .usage("cannot read standard input: \(String(cString: strerror(errno)))")
      }
      guard bytes.count <= limit else { throw .usage("standard input has more than \(limit >> 20) MiB") }
    }
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .usage("standard input is not valid UTF-8, which D-Bus requires")
    }
    return text
  }
}

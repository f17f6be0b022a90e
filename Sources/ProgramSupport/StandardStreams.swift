internal import Glibc

/// The descriptors 0, 1 and 2, which whoever starts a program may have closed.
package enum StandardStreams {
  /// Opens `/dev/null` for each of them that is closed, so that no other file gets its number.
  ///
  /// Each is opened the wrong way round: a read from what stands for standard input fails, and so does a write to what
  /// stands for the others, as they would on a closed descriptor. Call it before anything else opens a file.
  package static func open() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
      // The lowest number that is free is this one: those below it are open by now.
      _ = Glibc.open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Whether standard output was open, or is by now: nothing can be written to what `open` opens in its place.
  package static var hasOutput: Bool {
    let flags = fcntl(STDOUT_FILENO, F_GETFL)
    return flags >= 0 && flags & O_ACCMODE != O_RDONLY
  }

  /// Writes `text` to standard output.
  /// - Returns: 0, or the number of the error that prevented it.
  package static func write(_ text: String) -> Int32 {
    var text = text
    return text.withUTF8 { write($0, to: STDOUT_FILENO) }
  }

  /// Writes all of `bytes`, also to a descriptor that does not block, and returns 0, or the number of the error that
  /// prevented it.
  package static func write(_ bytes: UnsafeBufferPointer<UInt8>, to descriptor: Int32) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = Glibc.write(descriptor, UnsafeBufferPointer(rebasing: rest).baseAddress, rest.count)
      if written >= 0 {
        rest = rest.dropFirst(written)
      } else if errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&wait, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }
}

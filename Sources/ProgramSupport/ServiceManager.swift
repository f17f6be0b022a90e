package import EventLoop
internal import Glibc

/// The service manager that started the process, if any: `sd_notify(3)`.
package struct ServiceManager {
  private let socketPath: String?

  /// The watchdog interval that the manager set, or nil.
  private let watchdogInterval: Duration?

  /// Whether standard error goes to the journal.
  package let readsPriorities: Bool

  /// Reads what the manager passed in the environment.
  package init() {
    socketPath = Environment.value("NOTIFY_SOCKET")
    // Programs inherit the variable from what the manager started, and may have another standard error: systemd.exec(5).
    var errors = stat()
    readsPriorities =
      fstat(STDERR_FILENO, &errors) == 0 && Environment.value("JOURNAL_STREAM") == "\(errors.st_dev):\(errors.st_ino)"
    let forUs = Environment.value("WATCHDOG_PID").map { $0 == String(getpid()) } ?? true
    let interval = Environment.value("WATCHDOG_USEC").flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
    watchdogInterval = forUs && socketPath != nil ? interval.map { .microseconds($0) } : nil
  }

  /// Whether there is one, which waits for `READY=1`.
  package var isPresent: Bool { socketPath != nil }

  /// Sends `state`, such as `READY=1` or `STATUS=…`, to the manager, with a file descriptor if it needs one; does nothing without one.
  package func notify(_ state: String, _ file: Int32? = nil) {
    guard let path = socketPath, let first = path.utf8.first else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(path.utf8)
    // An abstract address is written with '@' for its leading NUL.
    if first == UInt8(ascii: "@") { bytes[0] = 0 }
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + bytes.count } ?? 0

    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(length)) }
    }
    guard connected == 0 else { return }
    _ = SocketMessage.send(Array(state.utf8)[...], file.map { [$0] } ?? [], to: descriptor, 0)
  }

  /// Has the manager hold a file open, too, until its other side is closed or the service is stopped: `sd_notify(3)`, `FDSTORE=1`.
  package func hold(_ file: Int32) { notify("FDSTORE=1", file) }

  /// Closes the files that the manager passes on from an earlier process of the service: it keeps them open itself.
  func closePassed() {
    guard Environment.value("LISTEN_PID") == String(getpid()),
      let count = Environment.value("LISTEN_FDS").flatMap({ UInt16($0) })
    else { return }
    // `SD_LISTEN_FDS_START` of sd_listen_fds(3) is 3.
    for file in 3..<3 + Int32(count) { close(file) }
  }

  /// Notifies the watchdog twice in each of its intervals, as long as `loop` turns.
  package func keepAlive(_ loop: EventLoop) {
    guard let interval = watchdogInterval else { return }
    loop.schedule(after: max(interval / 2, .milliseconds(1))) { [weak loop] in
      notify("WATCHDOG=1")
      if let loop { keepAlive(loop) }
    }
  }
}

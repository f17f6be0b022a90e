internal import Glibc

/// The service manager that started the process, if any: `sd_notify(3)`.
struct ServiceManager {
  private let socketPath: String?

  /// The watchdog interval that the manager set, or nil.
  let watchdogInterval: Duration?

  /// Whether standard error goes to the journal.
  let readsPriorities: Bool

  init() {
    socketPath = ServiceManager.environment("NOTIFY_SOCKET")
    readsPriorities = ServiceManager.environment("JOURNAL_STREAM") != nil
    let forUs = ServiceManager.environment("WATCHDOG_PID").map { $0 == String(getpid()) } ?? true
    let interval = ServiceManager.environment("WATCHDOG_USEC").flatMap { Int64($0) }
    watchdogInterval = forUs ? interval.map { .microseconds($0) } : nil
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// Sends `state`, such as `READY=1` or `STATUS=…`, to the manager; does nothing if there is none.
  func notify(_ state: String) {
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
    let message = Array(state.utf8)
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), address, socklen_t(length))
      }
    }
  }
}

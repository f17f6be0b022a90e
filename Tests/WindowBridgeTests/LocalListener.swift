import Foundation
import Glibc

/// A socket at a path, and a thread for each connection to it.
final class LocalListener: Sendable {
  private let descriptor: Int32

  /// Listens at `path`.
  init(_ path: String) {
    let listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    descriptor = listening
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listening, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    listen(listening, 8)
  }

  /// Calls `begin` with each connection, one after another, then `serve` with it on its own thread.
  func run(begin: @escaping @Sendable (Int32) -> Void, serve: @escaping @Sendable (Int32) -> Void) {
    let descriptor = descriptor
    Thread.detachNewThread {
      while true {
        let client = accept(descriptor, nil, nil)
        guard client >= 0 else { return }
        begin(client)
        Thread.detachNewThread { serve(client) }
      }
    }
  }

  deinit {
    end()
    close(descriptor)
  }

  /// Accepts no more connections, and leaves the socket in the file system, as a killed program does.
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

import Foundation
import Glibc
import TestSupport

/// A service manager's end of `sd_notify(3)`.
final class NotifySocket: Sendable {
  /// What was told, in order.
  let told = Observed<[String]>([])
  private let descriptor: Int32

  init(path: String) throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    Thread.detachNewThread { [told, descriptor] in
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        // An empty one is what `close` causes.
        guard count > 0 else { break }
        let text = String(decoding: buffer.prefix(count), as: UTF8.self)
        told.update { $0.append(text) }
      }
      Glibc.close(descriptor)
    }
  }

  /// Waits until `text` was told.
  /// - Throws: `DeadlinePassed`.
  func wait(for text: String) async throws {
    _ = try await told.wait(for: text) { $0.contains(text) ? true : nil }
  }

  /// Ends the receiving.
  func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

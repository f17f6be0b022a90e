internal import Foundation
internal import Glibc

/// How long the tests of each file have had a bus, in the file that `FOCUSD_TEST_TIMES` names.
///
/// The times that the runner prints are also those of waiting for other tests.
final class TimesTaken: Sendable {
  static let shared = TimesTaken()

  private let descriptor: Int32?

  private init() {
    descriptor = ProcessInfo.processInfo.environment["FOCUSD_TEST_TIMES"].map {
      open($0, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    }
  }

  func add(_ time: Duration, of file: String) {
    guard let descriptor else { return }
    // One write is one line, whoever else writes.
    let line = Array("\(time / .seconds(1)) \(file)\n".utf8)
    _ = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
  }
}

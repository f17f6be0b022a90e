import Foundation
import TestSupport
import Testing

extension ManagedProcess {
  /// The memory that the process has in use, in KiB.
  var residentMemory: Int {
    let status = (try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }

  /// Does the same thing again and again: after the first times, which warm up, the process needs no more than it did.
  func needsNoMore(
    times: Int = 3, _ what: String, at location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
  ) async throws {
    for _ in 0..<2 { try await body() }
    let before = residentMemory
    for _ in 0..<times { try await body() }
    let after = residentMemory
    print("\(what): \(before) KiB before, \(after) KiB after")
    // Sanitizers keep what was freed.
    guard ProcessInfo.processInfo.environment["FOCUSD_SANITIZED"] == nil else { return }
    #expect(after <= before + before / 20, "\(what)", sourceLocation: location)
  }
}

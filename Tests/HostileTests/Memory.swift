import Foundation
import TestSupport
import Testing

extension ManagedProcess {
  /// The memory that the process has in use, in KiB.
  var residentMemory: Int { kibibytes("VmRSS:") }

  /// The most that it has had in use since it was started, or since `forgetPeak`, in KiB.
  var peakMemory: Int { kibibytes("VmHWM:") }

  /// Has `peakMemory` begin with what is in use now.
  func forgetPeak() {
    try? "5".write(toFile: "/proc/\(processID)/clear_refs", atomically: false, encoding: .utf8)
  }

  private func kibibytes(_ name: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }

  /// The processor time that the process has used.
  var processorTime: Duration {
    let status = (try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8)) ?? ""
    let numbers = status.split(separator: ")").last.map { $0.split(separator: " ").map { Int($0) ?? 0 } } ?? []
    guard numbers.count > 12 else { return .zero }
    return .milliseconds((numbers[11] + numbers[12]) * 1000 / sysconf(Int32(_SC_CLK_TCK)))
  }

  /// Does the same thing again and again: after the first times, which warm up, the process needs no more than it did.
  ///
  /// What is larger than ever by chance stays so, once: so what grows is tried again, and what leaks grows each time.
  func needsNoMore(
    times: Int = 3, _ what: String, at location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
  ) async throws {
    for _ in 0..<2 { try await body() }
    var growths: [String] = []
    while growths.count < 3 {
      let before = residentMemory
      for _ in 0..<times { try await body() }
      let after = residentMemory
      growths.append("\(before) KiB before, \(after) KiB after")
      if isSanitized || after <= before + before / 20 { return print("\(what): \(growths.joined(separator: "; "))") }
    }
    Issue.record("\(what): \(growths.joined(separator: "; "))", sourceLocation: location)
  }
}

import TestSupport
import Testing

extension ManagedProcess {
  /// Does the same thing again and again: after the first times, which warm up, the process needs no more than it did.
  ///
  /// What is larger than ever by chance stays so, once: so what grows is tried again, and what leaks grows each time. Of what it
  /// sends, `queue` KiB may have to wait for the bus one time, and not another.
  func needsNoMore(
    times: Int = 3, queue: Int = 0, _ what: String, at location: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
  ) async throws {
    for _ in 0..<2 { try await body() }
    var growths: [String] = []
    while growths.count < 3 {
      let before = residentMemory
      for _ in 0..<times { try await body() }
      let after = residentMemory
      growths.append("\(before) KiB before, \(after) KiB after")
      if isSanitized || after <= before + max(before / 20, queue) {
        return print("\(what): \(growths.joined(separator: "; "))")
      }
    }
    Issue.record("\(what): \(growths.joined(separator: "; "))", sourceLocation: location)
  }
}

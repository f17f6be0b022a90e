import TestSupport
import Testing

/// Checks that the memory did not grow by `limit` bytes each time that it was measured; a load that comes in bursts may
/// need more once, and what leaks needs more each time.
func expectNoGrowth(_ memory: [Int], _ limit: Int, at location: SourceLocation = #_sourceLocation) {
  guard !isSanitized else { return }
  let growth = zip(memory.dropFirst(), memory).map { $0 - $1 }
  #expect((growth.min() ?? 0) < limit, "\(memory)", sourceLocation: location)
}

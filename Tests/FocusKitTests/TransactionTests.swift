import FocusKit
import Synchronization
import Testing

private struct ReasonKey: TransactionKey { static let defaultValue = "none" }
private struct DepthKey: TransactionKey { static let defaultValue = 0 }

extension Transaction {
  fileprivate var reason: String {
    get { self[ReasonKey.self] }
    set { self[ReasonKey.self] = newValue }
  }
  fileprivate var depth: Int {
    get { self[DepthKey.self] }
    set { self[DepthKey.self] = newValue }
  }
}

@Suite struct TransactionTests {
  private final class Log: Sendable {
    let entries = Mutex<[String]>([])
    func add(_ transaction: Transaction) {
      entries.withLock { $0.append("\(transaction.reason) \(transaction.depth)") }
    }
  }

  @Test func theInnerOneWinsAndTheOuterOneIsRestored() {
    let log = Log()
    let binding = Binding(get: { 0 }, set: { _, transaction in log.add(transaction) })
    binding.wrappedValue = 1
    withTransaction(\.reason, "outer") {
      binding.wrappedValue = 1
      withTransaction(\.depth, 2) { binding.wrappedValue = 1 }
      withTransaction(\.reason, "inner") { binding.wrappedValue = 1 }
      binding.wrappedValue = 1
    }
    binding.wrappedValue = 1
    #expect(log.entries.withLock { $0 } == ["none 0", "outer 0", "outer 2", "inner 0", "outer 0", "none 0"])
  }

  @Test func aBindingCarriesItsOwn() {
    let log = Log()
    var binding = Binding(get: { 0 }, set: { _, transaction in log.add(transaction) })
    binding.transaction.reason = "own"
    binding.wrappedValue = 1
    withTransaction(\.depth, 3) { Binding<Int?>(binding).wrappedValue = 1 }
    binding.transaction(Transaction()).wrappedValue = 1
    #expect(log.entries.withLock { $0 } == ["own 0", "own 3", "none 0"])
  }
}

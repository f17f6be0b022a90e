/// The key of a value that accompanies a change, such as its reason.
public protocol TransactionKey {
  /// The type of the value.
  associatedtype Value: Sendable
  /// The value in a transaction that does not set the key.
  static var defaultValue: Value { get }
}

/// The context of a change of a value: SwiftUI's `Transaction`.
///
/// It reaches the setter of a binding in this process, and no other program.
///
/// A program adds its own values by extending it with computed properties over a `TransactionKey`.
public struct Transaction: Sendable {
  @TaskLocal static var current = Transaction()

  private var values: [ObjectIdentifier: any Sendable] = [:]

  /// Creates an empty transaction.
  public init() {}

  /// The value of `key`, or its default.
  public subscript<Key: TransactionKey>(key: Key.Type) -> Key.Value {
    get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }

  /// This transaction with its values replaced by those of `inner` for the same keys.
  func merging(_ inner: Transaction) -> Transaction {
    guard !inner.values.isEmpty else { return self }
    var merged = self
    merged.values.merge(inner.values) { $1 }
    return merged
  }
}

/// Runs `body` with `transaction` for its changes; if nested, the inner transaction wins, key by key.
/// - Throws: The error that `body` throws.
/// - Returns: The result of `body`.
public func withTransaction<Result>(_ transaction: Transaction, _ body: () throws -> Result) rethrows -> Result {
  try Transaction.$current.withValue(Transaction.current.merging(transaction), operation: body)
}

/// Runs `body` with `value` for the key at `keyPath` in the transaction of its changes.
/// - Throws: The error that `body` throws.
/// - Returns: The result of `body`.
public func withTransaction<Result, Value>(
  _ keyPath: WritableKeyPath<Transaction, Value>, _ value: Value, _ body: () throws -> Result
) rethrows -> Result {
  var transaction = Transaction()
  transaction[keyPath: keyPath] = value
  return try withTransaction(transaction, body)
}

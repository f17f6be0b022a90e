/// A kind of value that travels with a change, such as why it is made.
public protocol TransactionKey {
  /// The kind of the value.
  associatedtype Value: Sendable
  /// The value of a transaction that says nothing of the key.
  static var defaultValue: Value { get }
}

/// What travels with a change of a value: SwiftUI's `Transaction`, without animations.
///
/// A program adds values of its own by extending it with computed properties over a `TransactionKey`.
public struct Transaction: Sendable {
  @TaskLocal static var current = Transaction()

  private var values: [ObjectIdentifier: any Sendable] = [:]

  /// Creates a transaction that says nothing.
  public init() {}

  /// The value of `key`, or its default.
  public subscript<Key: TransactionKey>(key: Key.Type) -> Key.Value {
    get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }

  /// This transaction with what `inner` says in place of what this one says of the same keys.
  func merging(_ inner: Transaction) -> Transaction {
    guard !inner.values.isEmpty else { return self }
    var merged = self
    merged.values.merge(inner.values) { $1 }
    return merged
  }
}

/// Runs `body`, whose changes carry `transaction`; within another one the inner wins, key by key.
/// - Throws: what `body` throws.
/// - Returns: what `body` returns.
public func withTransaction<Result>(_ transaction: Transaction, _ body: () throws -> Result) rethrows -> Result {
  try Transaction.$current.withValue(Transaction.current.merging(transaction), operation: body)
}

/// Runs `body`, whose changes carry `value` for the key at `keyPath`.
/// - Throws: what `body` throws.
/// - Returns: what `body` returns.
public func withTransaction<Result, Value>(
  _ keyPath: WritableKeyPath<Transaction, Value>, _ value: Value, _ body: () throws -> Result
) rethrows -> Result {
  var transaction = Transaction()
  transaction[keyPath: keyPath] = value
  return try withTransaction(transaction, body)
}

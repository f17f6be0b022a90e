import FocusKit

private struct ReasonKey: TransactionKey {
  static let defaultValue: String? = nil
}
struct FlagKey: TransactionKey { static let defaultValue = false }
struct ComputedKey: TransactionKey {
  static var defaultValue: Int { 4 }
}
extension Transaction {
  var reason: String? {
    get { self[ReasonKey.self] }
    set { self[ReasonKey.self] = newValue }
  }
  var flag: Bool {
    get { self[FlagKey.self] }
    set { self[FlagKey.self] = newValue }
  }
}
func transactions() {
  let state = State(wrappedValue: 1)
  let b = Binding<Int>(
    get: { 1 },
    set: { value, transaction in
      print(value, transaction.reason ?? "none")
      withTransaction(transaction) { state.wrappedValue = value }
    })
  var transaction = Transaction()
  transaction.reason = "x"
  withTransaction(transaction) { b.wrappedValue = 2 }
  withTransaction(\.flag, true) { b.wrappedValue = 3 }
  let r: Int = withTransaction(\.reason, "y") { 4 }
  b.transaction(transaction).wrappedValue = r
  var c = b
  c.transaction.flag = true
  c.wrappedValue = 8
}

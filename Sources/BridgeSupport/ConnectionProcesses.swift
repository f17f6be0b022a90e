package import DBus
package import DBusTypes

/// The processes of all connections on the bus, read when they are needed.
package final class ConnectionProcesses {
  /// Each connection's process, which never changes; 0 if the bus does not know it.
  package private(set) var known: [BusName: UInt32] = [:]
  private var isReading = false
  /// Whether connections may have come since the names were read.
  private var isStale = false
  private var waiters: [() -> Void] = []

  package init() {}

  package subscript(connection: BusName) -> UInt32? { known[connection] }

  /// Asks for the connections that are not known, and calls `handler` if there are any.
  package func read(from connection: Connection, _ handler: @escaping () -> Void) {
    guard !isReading else {
      isStale = true
      return
    }
    (isReading, isStale) = (true, false)
    connection.askNames { [weak self, weak connection] result in
      guard let self, let connection else { return }
      let names = ((try? result.get()) ?? []).filter(\.isUnique)
      known = known.filter { names.contains($0.key) }
      var missing = names.count { known[$0] == nil }
      guard missing > 0 else { return ended(connection, handler) }
      for name in names where known[name] == nil {
        connection.askProcess(of: name, timeout: .seconds(25)) { [weak self, weak connection] result in
          guard let self, let connection else { return }
          known[name] = (try? result.get()) ?? 0
          missing -= 1
          guard missing == 0 else { return }
          ended(connection, handler)
          handler()
        }
      }
    }
  }

  /// Asks for the connections that are not known, and calls `handler` when all are, in any case.
  package func update(from connection: Connection, _ handler: @escaping () -> Void) {
    waiters.append(handler)
    read(from: connection) {}
  }

  private func ended(_ connection: Connection, _ handler: @escaping () -> Void) {
    isReading = false
    let told = isStale ? [] : waiters
    if !isStale { waiters = [] }
    for waiter in told { waiter() }
    if isStale { read(from: connection, handler) }
  }
}

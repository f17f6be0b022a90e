internal import Foundation

/// An error that came back over the bus.
package struct RemoteError: Error, Hashable, Sendable, CustomStringConvertible {
  package let name: String
  package let message: String
  package var description: String { "\(name): \(message)" }

  package init(name: String, message: String) {
    self.name = name
    self.message = message
  }
}

/// A signal as GDBus received it, its arguments in GVariant's text form.
package struct ReceivedSignal: Hashable, Sendable {
  package let sender: String
  package let path: String
  package let interface: String
  package let member: String
  package let arguments: String
}

/// A process with a connection of its own, in Python with GDBus, that does on the bus what it is told.
///
/// Arguments and results are tuples in GVariant's text form, such as `('text1', {'demo.Form.Number': <1>}, @a{sv} {})`.
/// It exports `/peer` with the interface `test.Peer`; the script beside this file says with which methods.
package final class GDBusPeer: Sendable {
  private struct Order: Encodable {
    var id: Int
    var operation: String
    var destination: String?
    var path: String?
    var interface: String?
    var member: String?
    var arguments: String?
  }

  private struct Event: Decodable {
    struct Signal: Decodable {
      let sender: String
      let path: String
      let interface: String
      let member: String
      let arguments: String
    }
    let id: Int?
    let result: String?
    let error: String?
    let message: String?
    let signal: Signal?
  }

  /// The peer's unique name on the bus.
  package let uniqueName: String
  private let process: ManagedProcess
  private let lastOrder = Observed(0)

  package init(on bus: PrivateBus) async throws {
    guard let script = Bundle.module.path(forResource: "gdbus_peer", ofType: "py", inDirectory: "Resources") else {
      throw SpawnError(program: "gdbus_peer.py", reason: "it is not among the test's resources")
    }
    process = try await bus.start(["/usr/bin/python3", "-u", script, bus.address])
    uniqueName = try await process.line("unique name")
  }

  private func order(_ order: Order) async throws -> Int {
    var order = order
    order.id = lastOrder.update {
      $0 += 1
      return $0
    }
    process.send(line: String(decoding: try JSONEncoder().encode(order), as: UTF8.self))
    return order.id
  }

  /// Begins a call without waiting for its reply, which `reply(to:)` does.
  /// - Throws: what encoding throws.
  package func begin(
    _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: String = "()"
  ) async throws -> Int {
    try await order(
      Order(
        id: 0, operation: "call", destination: destination, path: path, interface: interface, member: member,
        arguments: arguments))
  }

  /// Waits for the reply to what `begin` began.
  /// - Throws: `RemoteError` if it is an error; `DeadlinePassed`.
  package func reply(to id: Int) async throws -> String {
    let event = try await process.progress.wait(for: "reply \(id)") { progress in
      // By the script's own spelling: decoding every line for every reply would take far longer than the calls.
      progress.output.last { $0.hasPrefix("{\"id\": \(id),") }.flatMap(Self.decode)
    }
    if let error = event.error { throw RemoteError(name: error, message: event.message ?? "") }
    return event.result ?? ""
  }

  /// Calls a method and waits for the reply.
  /// - Throws: as `reply(to:)` does.
  @discardableResult
  package func call(
    _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: String = "()"
  ) async throws -> String {
    try await reply(to: begin(destination, path, interface, member, arguments))
  }

  /// Has the peer ask for a bus name.
  /// - Throws: as `reply(to:)` does.
  package func own(_ name: String) async throws {
    try await call(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName", "('\(name)', uint32 4)")
  }

  /// Has the peer note each signal of `interface` (any where empty) from `sender` from now on.
  /// - Throws: as `reply(to:)` does.
  package func subscribe(to sender: String, interface: String = "") async throws {
    let id = try await order(Order(id: 0, operation: "subscribe", destination: sender, interface: interface))
    _ = try await reply(to: id)
    // The match reaches the bus before this call, so what follows its reply is seen.
    try await call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId")
  }

  /// The signals noted so far, in their order.
  package var signals: [ReceivedSignal] { Self.signals(in: process.progress.now) }

  /// Waits until `match` finds something in the signals noted so far.
  /// - Throws: `DeadlinePassed`.
  package func signals<Found: Sendable>(
    _ what: String, _ match: @escaping @Sendable ([ReceivedSignal]) -> Found?
  ) async throws -> Found {
    try await process.progress.wait(for: what) { match(Self.signals(in: $0)) }
  }

  /// Ends the peer at once, as a crash does.
  /// - Throws: `DeadlinePassed`.
  package func kill() async throws { try await process.stop() }

  /// Begins to end the peer at once.
  package func terminate() { process.terminate(9) }

  private static func decode(_ line: String) -> Event? {
    try? JSONDecoder().decode(Event.self, from: Data(line.utf8))
  }

  private static func signals(in progress: ManagedProcess.Progress) -> [ReceivedSignal] {
    progress.output.lazy.filter { $0.hasPrefix("{\"signal\"") }.compactMap { line in
      guard let signal = decode(line)?.signal else { return nil }
      return ReceivedSignal(
        sender: signal.sender, path: signal.path, interface: signal.interface, member: signal.member,
        arguments: signal.arguments)
    }
  }
}

internal import DBus
internal import DBusTypes
internal import EventLoop

/// Connections to programs themselves, beside the accessibility bus, for calls in which a program may do anything.
///
/// ATK's bridge carries a call out while it receives from the connection that it came on. If that opens a dialog with a loop of
/// its own, as GTK 3's do, nothing else that comes on this connection is answered meanwhile; and on the accessibility bus, the
/// first key that is pressed in the dialog freezes the program for good, since it asks the registry about it.
final class PeerConnections {
  /// How many programs are known at most.
  private static let limit = 256

  /// Nil: the program offers no connection, or none that can be reached from here.
  private var connections: [BusName: Connection?] = [:]

  /// Hands over the connection to `program`, which is asked on `bus`; nil if it offers none.
  func find(_ program: BusName, on bus: ProgramBus, _ handler: @escaping (Connection?) -> Void) {
    if let known = connections[program] { return handler(known) }
    bus.call(
      program, AccessibilityNames.root, AccessibilityNames.application, "GetApplicationBusAddress", isOptional: true
    ) { [weak self, weak bus] answer in
      guard let self, let bus else { return handler(nil) }
      guard case .success(let values) = answer, case .string(let address)? = values.first,
        Self.isPathOfSocket(address)
      else {
        if !answer.isLate { note(nil, of: program) }
        return handler(nil)
      }
      bus.connection.askProcess(of: program, timeout: ProgramBus.questionTimeout) { [weak self, weak bus] process in
        guard let self, let bus else { return handler(nil) }
        handler(connections[program] ?? open(address, to: program, of: try? process.get(), bus))
      }
    }
  }

  /// The connection to `program` that is open.
  subscript(program: BusName) -> Connection? { connections[program] ?? nil }

  /// A program has left.
  func forget(_ program: BusName) { connections[program] = nil }

  /// Opens the connection, unless another process listens there than that of `program`.
  private func open(_ address: String, to program: BusName, of process: UInt32?, _ bus: ProgramBus) -> Connection? {
    guard let connection = try? Connection(toPeer: address, on: bus.loop), let process,
      connection.peerProcess == process
    else {
      note(nil, of: program)
      return nil
    }
    connection.limitMessages(to: 1 << 16)
    // Not from within its own dispatching: this may be the last to hold it.
    connection.onDisconnect = { [weak self, weak loop = bus.loop] in
      loop?.schedule(after: .zero) { [weak self] in self?.forget(program) }
    }
    note(connection, of: program)
    return connection
  }

  private func note(_ connection: Connection?, of program: BusName) {
    if connections.count >= Self.limit { connections = connections.filter { $0.value != nil } }
    connections[program] = .some(connection)
  }

  /// Whether an address is that of one socket in the file system: others that programs may tell have libdbus run a program.
  private static func isPathOfSocket(_ address: String) -> Bool {
    address.hasPrefix("unix:path=/") && !address.contains(";") && !address.contains(",")
  }
}

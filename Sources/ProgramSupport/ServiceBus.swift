package import DBus

extension ServiceProgram {
  /// The bus that the option `--address` names, else the user's session bus.
  /// - Throws: `NoSessionBus`.
  package static func bus(_ options: ProgramOptions) throws(NoSessionBus) -> Connection.Bus {
    if let address = options.arguments(of: "address").last { return .address(address) }
    guard let bus = Connection.Bus.ofUser else { throw NoSessionBus() }
    return bus
  }
}

/// The environment names no session bus.
package struct NoSessionBus: Error, CustomStringConvertible {
  package let description = "no session bus: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set"
}

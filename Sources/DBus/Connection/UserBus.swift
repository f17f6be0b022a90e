internal import EventLoop

extension Connection.Bus {
  /// The user's session bus: that of the environment, else the user manager's; nil if the environment names neither.
  ///
  /// libdbus, which `session` leaves it to, would start one of its own then.
  package static var ofUser: Connection.Bus? {
    if let address = Environment.value("DBUS_SESSION_BUS_ADDRESS") { return .address(withoutGUID(address)) }
    return Environment.value("XDG_RUNTIME_DIR").map { .address("unix:path=\($0)/bus") }
  }

  /// The same address without the identity of the bus: one that comes back at the same place has another.
  package static func withoutGUID(_ address: String) -> String {
    address.split(separator: ";").map { server in
      let parts = server.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { return String(server) }
      return parts[0] + ":" + parts[1].split(separator: ",").filter { !$0.hasPrefix("guid=") }.joined(separator: ",")
    }.joined(separator: ";")
  }
}

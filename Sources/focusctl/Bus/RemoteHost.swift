import DBusTypes

/// Another machine whose bus is reached through ssh, as by `busctl -H`.
struct RemoteHost: Hashable, Sendable {
  private let name: String
  private let port: String?

  /// Reads `[USER@]HOST[:PORT]`; an IPv6 address stands in brackets.
  /// - Throws: `CommandError` if it is not a valid host.
  init(_ text: String) throws(CommandError) {
    var name = text[...]
    var port: String?
    if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
      port = String(text[text.index(after: colon)...])
      name = text[..<colon]
    }
    let isPort = port.map { UInt16($0) != nil } ?? true
    let host = name.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    guard isPort, !host.isEmpty, name.first != "-", name.first != "@",
      name.unicodeScalars.allSatisfy({
        $0.value > 0x20 && $0.value != 0x7f && !"/\"'`$;&|<>()\\".unicodeScalars.contains($0)
      })
    else { throw .usage("'\(text.excerpt)' is not a host: expected [USER@]HOST[:PORT], as for ssh") }
    // ssh takes an address without brackets.
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    self.name = isBracketed ? String(name.dropLast(host.count)) + host.dropFirst().dropLast() : String(name)
    self.port = port
  }

  /// The D-Bus address of that machine's session bus of the user, or of its system bus.
  func address(ofSystemBus isSystem: Bool) -> String {
    let words = ["-xT"] + (port.map { ["-p", $0] } ?? []) + ["--", name, RemoteHost.bridge(toSystemBus: isSystem)]
    return "unixexec:path=ssh,"
      + words.enumerated().map { "argv\($0.offset + 1)=\(RemoteHost.escaped($0.element))" }.joined(separator: ",")
  }

  /// The command for the remote shell.
  ///
  /// Before systemd 254, the bridge accepts `--user` but connects to the system bus.
  private static func bridge(toSystemBus isSystem: Bool) -> String {
    guard !isSystem else { return "systemd-stdio-bridge" }
    let address = "${DBUS_SESSION_BUS_ADDRESS:-unix:path=$XDG_RUNTIME_DIR/bus}"
    return "exec sh -c 'exec systemd-stdio-bridge --bus-path=\"\(address)\"'"
  }

  /// A value in an address: all other bytes are written as their number.
  private static func escaped(_ value: String) -> String {
    value.utf8.map { byte in
      let isPlain = isDigit(byte) || (0x61...0x7a).contains(byte | 0x20) || "-_/.\\*".utf8.contains(byte)
      let digits = String(byte, radix: 16)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.count < 2 ? "0" : "") + digits
    }.joined()
  }
}

package import DBus
internal import DBusTypes

/// Questions to the bus that only tests have.
extension Connection {
  /// Asks to be sent the signals that `rule` matches, and waits until the bus has taken it.
  /// - Throws: `DBusError` if the bus refuses the rule.
  package func addMatch(_ rule: MatchRule) throws(DBusError) {
    _ = try askBus("AddMatch", [.string(rule.description)])
  }

  /// The bus's id, which differs from that of every other, also of one at the same address before or after it.
  /// - Throws: `DBusError` if the bus does not answer.
  package func busID() throws(DBusError) -> String { try askBus("GetId").first?.basicText ?? "" }

  private func askBus(_ member: String, _ arguments: [DBusValue] = []) throws(DBusError) -> [DBusValue] {
    let question = try OutgoingMessage.methodCall(
      to: .bus, path: ObjectPath(known: "/org/freedesktop/DBus"), interface: .bus, member: MemberName(known: member),
      arguments)
    return try call(question).arguments()
  }
}

package import DBusTypes

/// What the bus's signal `NameOwnerChanged` tells (D-Bus Specification, "Message Bus Messages").
package struct NameOwnerChange {
  static let member = MemberName(known: "NameOwnerChanged")

  package let name: BusName
  /// The connections that owned the name and that own it now; nil: none did, or does.
  package let before, now: BusName?
}

extension Message {
  /// What the bus tells of a name; nil if this is not `NameOwnerChanged`, or not the bus's.
  package var nameOwnerChange: NameOwnerChange? {
    guard sender == .bus, isSignal(.bus, NameOwnerChange.member), let values = try? arguments(), values.count == 3,
      case .string(let name) = values[0], case .string(let before) = values[1], case .string(let now) = values[2]
    else { return nil }
    return NameOwnerChange(
      name: BusName(known: name), before: before.isEmpty ? nil : BusName(known: before),
      now: now.isEmpty ? nil : BusName(known: now))
  }
}

extension MatchRule {
  /// Another connection owns `name`, or none does.
  package static func nameOwnerChanges(of name: BusName) -> MatchRule { nameOwnerChanges(arguments: [0: name.text]) }

  /// The same of each name that is `namespace` or below it.
  package static func nameOwnerChanges(below namespace: String) -> MatchRule { nameOwnerChanges(namespace: namespace) }

  /// A name has no owner any more, also a connection's own, which leaves the bus.
  package static let departures = nameOwnerChanges(arguments: [2: ""])

  private static func nameOwnerChanges(namespace: String? = nil, arguments: [Int: String] = [:]) -> MatchRule {
    MatchRule(
      sender: .bus, interface: .bus, member: NameOwnerChange.member, namespace: namespace, arguments: arguments)
  }
}

internal import DBus
internal import DBusTypes

/// The connections that own names below `org.focusd.Bridge1.`, and so may speak for programs that never heard of focusd.
final class Bridges {
  /// What the bus tells of every such name.
  static let rule = MatchRule(
    sender: .bus, interface: .bus, member: MemberName(known: "NameOwnerChanged"), namespace: "org.focusd.Bridge1")

  private var owners: [BusName: BusName] = [:]

  /// Whether `name` is a bridge's.
  static func isName(_ name: BusName) -> Bool { name.text.hasPrefix("org.focusd.Bridge1.") }

  /// The unique name of the connection that owns `name`, or nil.
  func owner(of name: BusName) -> BusName? { owners[name] }

  /// Whether `connection` owns a bridge's name.
  func isBridge(_ connection: BusName) -> Bool { owners.values.contains(connection) }

  /// Takes note of who owns `name` now.
  func setOwner(of name: BusName, _ owner: BusName?) { owners[name] = owner }
}

/// The registrants whose registrations are under way: one may leave while another connection's object answers.
struct Registrants {
  private var underWay: [BusName: Int] = [:]
  private var gone: Set<BusName> = []

  mutating func begin(_ registrant: BusName) { underWay[registrant, default: 0] += 1 }

  /// Takes note that `connection` has left the bus.
  mutating func left(_ connection: BusName) {
    if underWay[connection] != nil { gone.insert(connection) }
  }

  /// Ends one registration.
  /// - Returns: whether the registrant has left meanwhile.
  mutating func end(_ registrant: BusName) -> Bool {
    let hasLeft = gone.contains(registrant)
    if let count = underWay[registrant], count > 1 {
      underWay[registrant] = count - 1
    } else {
      underWay[registrant] = nil
      gone.remove(registrant)
    }
    return hasLeft
  }
}

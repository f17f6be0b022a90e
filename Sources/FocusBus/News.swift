package import DBus
package import DBusTypes
internal import FocusContract

/// What a signal tells a client of the daemon.
package enum News {
  /// Another connection holds the daemon's name; nil stands for nobody.
  case daemon(before: BusName?, now: BusName?)
  /// What became of properties; nil stands for one that has no value any more.
  case properties(path: ObjectPath, interface: String, [(name: String, value: DBusValue?)])
  /// A field came or went.
  case field(path: ObjectPath)

  /// Reads `message`; nil where it is no signal of `daemon`, the connection that holds the daemon's name, or of the bus
  /// about it, or not as these are.
  ///
  /// Anyone may send a signal to a connection that it names, whatever the connection's match rules say.
  package init?(_ message: Message, from daemon: BusName?) {
    guard message.kind == .signal, let sender = message.sender, sender == .bus || sender == daemon,
      let arguments = try? message.arguments()
    else { return nil }
    switch (message.interface, message.member?.text) {
    case (.bus, "NameOwnerChanged"):
      guard sender == .bus, arguments.count == 3, arguments[0] == .string(Focus1.busName.text),
        case .string(let before) = arguments[1], case .string(let now) = arguments[2]
      else { return nil }
      self = .daemon(before: try? BusName(before), now: try? BusName(now))
    case (.properties, "PropertiesChanged"):
      guard let path = message.path, arguments.count == 3, case .string(let interface) = arguments[0],
        case .dictionary(let changed) = arguments[1], case .array(let invalidated) = arguments[2]
      else { return nil }
      let values = changed.entries.map { (name: $0.key.basicText ?? "", value: $0.value.variantContent) }
      let gone = invalidated.map { (name: $0.basicText ?? "", value: DBusValue?.none) }
      self = .properties(path: path, interface: interface, values + gone)
    case (.objectManager, "InterfacesAdded"), (.objectManager, "InterfacesRemoved"):
      guard case .objectPath(let path)? = arguments.first else { return nil }
      self = .field(path: path)
    default: return nil
    }
  }
}

extension MatchRule {
  /// The daemon comes and goes.
  package static let daemon = MatchRule(
    sender: .bus, interface: .bus, member: MemberName(known: "NameOwnerChanged"), arguments: [0: Focus1.busName.text])

  /// Fields come and go.
  package static let fields = MatchRule(sender: Focus1.busName, path: Focus1.root, interface: .objectManager)

  /// The properties of the object at `path` change.
  package static func properties(of path: ObjectPath) -> MatchRule {
    MatchRule(
      sender: Focus1.busName, path: path, interface: .properties, member: MemberName(known: "PropertiesChanged"))
  }
}

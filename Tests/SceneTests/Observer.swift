import DBus
import DBusTypes
import EventLoop
import TestSupport

/// A connection that calls the daemon and notes every signal of it, in the order in which the bus delivered both.
final class Observer {
  private let loop = EventLoop()
  private let connection: Connection
  /// What arrived so far: a line for each signal, and "reply" or the error's last name for each call's end.
  private(set) var events: [String] = []
  private var seen = 0

  init(on bus: PrivateBus) throws {
    connection = try Connection(to: .address(bus.address))
    connection.attach(to: loop)
    connection.onMessage = { [weak self] message in
      guard message.kind == .signal, message.path?.text.hasPrefix(Names.manager) == true else { return }
      self?.events.append(Self.line(message))
    }
    try connection.addMatch(MatchRule(sender: BusName(Names.service)))
  }

  /// Calls a method, waits for its reply, and returns what arrived since the last one's reply.
  @discardableResult
  func call(_ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []) throws -> [String] {
    let start = seen
    let message = try OutgoingMessage.methodCall(
      to: BusName(Names.service), path: ObjectPath(path), interface: InterfaceName(interface),
      member: MemberName(member),
      arguments)
    // More may arrive in the turn that brings the reply; that belongs to the next call.
    var end: Int?
    try connection.call(message) { [weak self] result in
      switch result {
      case .success(let reply):
        self?.results = (try? reply.arguments()) ?? []
        self?.events.append(reply.error.map { Self.last($0.name.text) } ?? "reply")
      case .failure(let error): self?.events.append("\(error)")
      }
      end = self?.events.count
    }
    while end == nil { loop.turn(waitingAtMost: .seconds(30)) }
    seen = end ?? start
    return Array(events[start..<seen])
  }

  /// What the last call returned.
  private(set) var results: [DBusValue] = []

  @discardableResult
  func register(
    _ id: String, _ values: [(String, DBusValue)] = [], _ options: [(String, DBusValue)] = []
  ) throws -> [String] {
    try call(
      Names.manager, "org.focusd.Focus1.Manager", "Register",
      [
        .string(id), .properties(values.map { (name: $0.0, value: $0.1) }),
        .properties(options.map { (name: $0.0, value: $0.1) }),
      ])
  }

  @discardableResult
  func field(_ id: String, _ member: String, _ arguments: [DBusValue] = []) throws -> [String] {
    try call(Names.field(id), "org.focusd.Focus1.Field", member, arguments)
  }

  @discardableResult
  func set(_ interface: String, _ member: String, _ value: DBusValue, at path: String = Names.focused) throws
    -> [String]
  {
    try call(path, Names.properties, "Set", [.string(interface), .string(member), .variant(value)])
  }

  /// Whatever is still on its way once all that was called before has been answered.
  func rest() throws -> [String] {
    try call(Names.manager, "org.freedesktop.DBus.Peer", "Ping")
  }

  private static func line(_ signal: Message) -> String {
    let arguments = (try? signal.arguments()) ?? []
    let path = signal.path.map { last($0.text, of: "/") } ?? ""
    switch signal.member?.text {
    case "PropertiesChanged" where arguments.count == 3:
      return "\(path) \(text(arguments[0])) \(text(arguments[1])) \(text(arguments[2]))"
    case "InterfacesAdded" where arguments.count == 2:
      guard case .dictionary(let interfaces) = arguments[1] else { break }
      return "added \(last(text(arguments[0]), of: "/")) \(interfaces.entries.map { text($0.key) }.sorted())"
    case "InterfacesRemoved" where arguments.count == 2:
      guard case .array(let interfaces) = arguments[1] else { break }
      return "removed \(last(text(arguments[0]), of: "/")) \(interfaces.map { text($0) }.sorted())"
    default: break
    }
    return "\(path) \(signal.interface?.text ?? "").\(signal.member?.text ?? "") \(arguments.map { text($0) })"
  }

  private static func last(_ name: String, of separator: Character = ".") -> String {
    name.split(separator: separator).last.map(String.init) ?? name
  }

  private static func text(_ value: DBusValue) -> String {
    switch value {
    case .variant(let content): text(content)
    case .array(let array) where array.bytes != nil: "\(array.count) bytes"
    case .array(let array): "[" + array.map { text($0) }.joined(separator: ", ") + "]"
    case .structure(let members): "(" + members.map { text($0) }.joined(separator: ", ") + ")"
    case .dictionary(let dictionary):
      "{" + dictionary.entries.map { "\(text($0.key)): \(text($0.value))" }.sorted().joined(separator: ", ") + "}"
    default: value.basicText ?? "?"
    }
  }
}

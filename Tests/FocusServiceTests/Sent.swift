import BusSupport
import CDBus
import DBusTypes

@testable import DBus

/// A message that the service has sent.
struct Sent: Sendable {
  let kind: Message.Kind
  let serial: UInt32
  /// The number of the call that the message replies to, as the bus delivered it.
  let replySerial: UInt32
  let destination: String
  let path: String
  let interface: String
  /// For a reply, the method that was called.
  let member: String
  let wantsReply: Bool
  let arguments: [DBusValue]
  /// The short name of the error that the message is.
  let error: String?

  /// Reads `message`, which answers `call` if it is a reply.
  init(_ message: Message, answering call: (caller: String, member: String)?) {
    kind = message.kind
    serial = message.serial
    replySerial = message.replySerial
    let destination = dbus_message_get_destination(message.raw).map { String(cString: $0) } ?? ""
    self.destination = destination
    path = message.path?.text ?? ""
    interface = message.interface?.text ?? ""
    // A reply that goes to someone else answers nothing.
    let answered = call.map { $0.caller == destination ? $0.member : "a call of \($0.caller)" }
    member = message.member?.text ?? answered ?? "nothing"
    wantsReply = message.wantsReply
    arguments = (try? message.arguments()) ?? []
    error = message.error.map { Focus1.shortName($0.name.text) }
  }

  var isReply: Bool { kind == .methodReturn || kind == .error }
  var isSignal: Bool { kind == .signal }
}

/// A line for each message: what it says, in the words of a table.
///
/// Objects are named by a field's id, `focused` or `manager`; a revision is `#`.
extension Sent: CustomStringConvertible {
  var description: String {
    switch kind {
    case .error: "\(member): \(error ?? "")"
    case .methodReturn: arguments.isEmpty ? member : "\(member) = \(Self.text(arguments))"
    case .methodCall where destination == "org.freedesktop.DBus": "bus: \(member)"
    case .methodCall: (["\(destination): \(member)"] + arguments.map { Self.text($0) }).joined(separator: " ")
    case .signal, .other: signal
    }
  }

  private var signal: String {
    switch (member, arguments.count) {
    case ("PropertiesChanged", 3):
      var text = "\(Self.name(path)): \(Self.short(arguments[0].basicText ?? ""))"
      if case .dictionary(let changed) = arguments[1] {
        for entry in changed.entries { text += " \(Self.text(entry.key))=\(Self.text(entry.value))" }
      }
      if case .array(let invalidated) = arguments[2] { for name in invalidated { text += " -\(Self.text(name))" } }
      return text
    case ("InterfacesAdded", 2):
      guard case .dictionary(let interfaces) = arguments[1] else { return member }
      return Self.names("+", arguments[0], interfaces.entries.map(\.key))
    case ("InterfacesRemoved", 2):
      guard case .array(let interfaces) = arguments[1] else { return member }
      return Self.names("-", arguments[0], Array(interfaces))
    default: return "\(Self.name(path)): \(interface).\(member)"
    }
  }

  /// The interfaces but for those that every field has.
  private static func names(_ sign: String, _ place: DBusValue, _ interfaces: [DBusValue]) -> String {
    let own = interfaces.compactMap(\.basicText).filter { !$0.hasPrefix("org.") }
    return ([sign, text(place)] + own).joined(separator: " ")
  }

  private static func short(_ interface: String) -> String {
    interface.hasPrefix(Focus1.name + ".") ? String(interface.dropFirst(Focus1.name.count + 1)) : interface
  }

  private static func name(_ path: String) -> String {
    Focus1.id(path) ?? (path == Focus1.manager ? "manager" : path == Focus1.focused ? "focused" : path)
  }

  private static func text(_ values: [DBusValue]) -> String { values.map { text($0) }.joined(separator: " ") }

  static func text(_ value: DBusValue) -> String {
    switch value {
    case .objectPath(let path): name(path.text)
    case .uint64: "#"
    case .variant: value.variantContent.map { text($0) } ?? ""
    case .array(let elements): "[" + elements.map { text($0) }.joined(separator: " ") + "]"
    case .structure(let members): "(" + text(members) + ")"
    case .dictionary(let dictionary):
      "{" + dictionary.entries.map { "\(text($0.key)): \(text($0.value))" }.joined(separator: ", ") + "}"
    default: value.basicText ?? "?"
    }
  }
}

extension [Sent] {
  /// What is sent, but for questions about processes, which can come at any time.
  var lines: [String] { map(\.description).filter { $0 != "bus: GetConnectionUnixProcessID" } }

  /// What clients are told: signals and replies.
  var told: [String] { filter { $0.isSignal || $0.isReply }.lines }
}

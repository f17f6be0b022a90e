import DBus
import DBusTypes
import EventLoop
import TestSupport

/// The thread of a liar: its connection, and what it says.
final class LiarThread {
  let loop = EventLoop()
  private var connection: Connection?
  private let lie: Liar.Lie?
  private let calls: Observed<[String]>
  private var held: [Message] = []
  private var isSilent: Bool

  init(address: String, _ lie: Liar.Lie?, _ calls: Observed<[String]>) throws {
    (self.lie, self.calls) = (lie, calls)
    isSilent = lie == .answersLate
    let connection = try Connection(to: .address(address))
    self.connection = connection
    connection.onMessage = { [weak self] in self?.received($0) }
    connection.attach(to: loop)
  }

  var name: String { connection?.uniqueName?.text ?? "" }

  func leave() {
    connection?.onMessage = nil
    connection = nil
    held = []
  }

  private func received(_ message: Message) {
    guard message.kind == .methodCall, let member = message.member?.text else { return }
    calls.update { $0.append(member) }
    if isSilent { return held.append(message) }
    if lie == .leaves(at: member) { return leave() }
    for _ in 0..<(lie == .answersTwice ? 2 : 1) { answer(message, member) }
    if lie == .leavesAfter(member) { leave() }
  }

  func answerHeld() {
    isSilent = false
    for message in held { answer(message, message.member?.text ?? "") }
    held = []
  }

  private func answer(_ message: Message, _ member: String) {
    let values: [DBusValue] =
      switch member {
      case "Introspect": [.string(description)]
      case "GetAll": [.properties(properties)]
      case "Get": [.variant(lie == .otherTypes ? .string("one") : .int32(1))]
      default: []
      }
    if let reply = try? message.reply(values) { _ = try? connection?.send(reply) }
  }

  private var description: String {
    if case .description(let text)? = lie { return text }
    let texts = (0..<60).map { #"<property name="Text\#($0)" type="s" access="read"/>"# }.joined()
    return """
      <node><interface name="demo.Liar">
        <property name="Number" type="i" access="readwrite"/>\(texts)<method name="Do"/>
      </interface></node>
      """
  }

  private var properties: [(name: String, value: DBusValue)] {
    let number: [(name: String, value: DBusValue)] = [(name: "Number", value: .int32(1))]
    return switch lie {
    case .otherTypes: [(name: "Number", value: .strings(["1"])), (name: "Text0", value: .double(0.5))]
    case .strayProperties: number + stray
    case .hugeProperties(let count): number + texts(count)
    default: number
    }
  }

  private var stray: [(name: String, value: DBusValue)] {
    ["Stray", "", "no name", "demo.Liar.Number", String(repeating: "x", count: 300)].map {
      (name: $0, value: .int32(7))
    }
  }

  /// 60 MiB in `count` values, each of 1 MiB at most where there are 60.
  private func texts(_ count: Int) -> [(name: String, value: DBusValue)] {
    let text = String(repeating: "x", count: (60 << 20) / count - 8)
    return (0..<count).map { (name: "Text\($0)", value: .string(text)) }
  }

  func tellChanges() {
    switch lie {
    case .otherTypes: tell(properties)
    case .strayProperties:
      tell(stray, invalidated: ["Gone", "", "no name"])
      tell(stray, of: "demo.Stray")
    case .hugeChanges(let count): tell(texts(count))
    default: break
    }
  }

  private func tell(
    _ changed: [(name: String, value: DBusValue)], invalidated: [String] = [], of interface: String = "demo.Liar"
  ) {
    let signal = try? OutgoingMessage.signal(
      path: ObjectPath(Liar.path), interface: InterfaceName(Focus1.properties), member: MemberName("PropertiesChanged"),
      [.string(interface), .properties(changed), .strings(invalidated)])
    if let signal { _ = try? connection?.send(signal) }
  }

  func register(
    _ id: String, _ options: [(name: String, value: DBusValue)], _ outcome: Observed<Liar.Outcome?>
  ) {
    do {
      let object = (name: "object", value: DBusValue.objectPath(try ObjectPath(Liar.path)))
      let message = try Caller.message(
        Focus1.manager, Focus1.managerInterface, "Register",
        [.string(id), .properties([]), .properties([object] + options)])
      try connection?.call(message, timeout: .seconds(60)) { result in
        let ended: Liar.Outcome =
          switch result {
          case .failure: .left
          case .success(let reply): reply.error.map { .refused($0.name.text) } ?? .registered
          }
        outcome.update { $0 = ended }
      }
    } catch {
      outcome.update { $0 = .left }
    }
  }
}

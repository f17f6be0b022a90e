internal import CDBus
public import DBusTypes

/// What the bus itself offers: the D-Bus specification, section "Message Bus Messages".
extension Connection {
  /// A call of the bus itself.
  /// - Throws: `DBusError` as `OutgoingMessage.methodCall` does.
  func question(_ member: String, _ arguments: [DBusValue] = []) throws(DBusError) -> OutgoingMessage {
    try OutgoingMessage.methodCall(
      to: .bus, path: ObjectPath(known: "/org/freedesktop/DBus"), interface: .bus,
      member: MemberName(known: member), arguments)
  }

  /// Asks for a well-known name without queueing for it.
  /// - Throws: `DBusError` if the bus never grants the name.
  /// - Returns: whether this connection holds the name now.
  public func requestName(_ name: BusName) throws(DBusError) -> Bool {
    Connection.isOwner(try call(questionForName(name)).arguments())
  }

  /// The call of the bus that asks for `name` without queueing for it.
  func questionForName(_ name: BusName) throws(DBusError) -> OutgoingMessage {
    try question("RequestName", [.string(name.text), .uint32(UInt32(DBUS_NAME_FLAG_DO_NOT_QUEUE))])
  }

  /// Whether the answer to `RequestName` says that this connection holds the name.
  static func isOwner(_ answer: [DBusValue]) -> Bool {
    answer.first == .uint32(UInt32(DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER))
      || answer.first == .uint32(UInt32(DBUS_REQUEST_NAME_REPLY_ALREADY_OWNER))
  }

  /// A change of the match rules.
  public enum MatchChange: String, Sendable {
    /// Adds the rule.
    case add = "AddMatch"
    /// Removes the rule.
    case remove = "RemoveMatch"
  }

  /// Has the bus take or drop `rule` without waiting for it; what is sent afterwards finds it done.
  public func changeMatch(_ change: MatchChange, _ rule: MatchRule) {
    guard var message = try? question(change.rawValue, [.string(rule.description)]) else { return }
    message.disableReply()
    _ = try? send(message)
  }

  /// The unique name of who holds `name`, or nil; in the same exchange asks for the signals that `rules` match, those that
  /// come after the answer among them.
  /// - Throws: `DBusError` if the bus refuses a rule, or does not answer.
  public func owner(
    of name: BusName, adding rules: [MatchRule] = [], timeout: Duration = .seconds(25)
  ) throws(DBusError) -> BusName? {
    var questions: [OutgoingMessage] = []
    for rule in rules { questions.append(try questionToAdd(rule)) }
    questions.append(try question("GetNameOwner", [.string(name.text)]))
    var replies = try call(questions, timeout: timeout)
    let answer = replies.popLast()
    for reply in replies { _ = try reply.success() }
    do {
      guard case .string(let owner)? = try answer?.success().arguments().first else { return nil }
      return BusName(known: owner)
    } catch  where error.name == .nameHasNoOwner {
      return nil
    }
  }

  /// Which bus this is, and every name on it; in the same exchange asks for the signals that `rules` match, those of
  /// names that come or go later among them.
  /// - Throws: `DBusError` if the bus refuses a rule, or does not answer.
  public func survey(adding rules: MatchRule...) throws(DBusError) -> (id: String, names: Set<BusName>) {
    var questions: [OutgoingMessage] = []
    for rule in rules { questions.append(try questionToAdd(rule)) }
    questions += [try question("GetId"), try question("ListNames")]
    var answers: [[DBusValue]] = []
    for reply in try call(questions) { answers.append(try reply.success().arguments()) }
    let present = names(in: answers.popLast()?.first)
    return (answers.popLast()?.text ?? "", present)
  }

  /// The process behind `name`.
  /// - Throws: `DBusError` if the name has no owner, or the bus does not know it.
  public func processID(of name: BusName) throws(DBusError) -> UInt32 {
    try Connection.process(call(question("GetConnectionUnixProcessID", [.string(name.text)])).arguments(), of: name)
  }

  static func process(_ answer: [DBusValue], of name: BusName) throws(DBusError) -> UInt32 {
    guard case .uint32(let process)? = answer.first else {
      throw DBusError(.failed, "the bus does not know the process of '\(name)'")
    }
    return process
  }
}

/// The names that the bus answers with.
func names(in answer: DBusValue?) -> Set<BusName> {
  guard case .array(let names)? = answer else { return [] }
  return Set(names.compactMap { $0.basicText.map(BusName.init(known:)) })
}

extension [DBusValue] {
  /// The text that the bus answers with.
  fileprivate var text: String {
    guard case .string(let text)? = first else { return "" }
    return text
  }
}

public import DBus
internal import DBusTypes
internal import FocusModel

/// The bus face of the focus model: one object for each field, one that mirrors what has focus, one that manages.
///
/// It belongs to the thread that runs the loop. What arrives in one turn of the loop is answered at the turn's end:
/// first the signals of what changed, then the replies.
public final class FocusService {
  /// The program's version.
  public static let version = "0.1.0"
  /// The name that the daemon holds on the bus.
  public static let busName = "org.focusd.Focus1"
  /// How many bytes may wait for the end of a turn before what is done so far is sent.
  private static let outboxSize = 8 << 20

  let connection: Connection
  let log: Log
  var model = FocusModel()
  private var signals: [Message] = []
  private var replies: [Message] = []
  private var outboxBytes = 0

  /// Called at the end of each turn that changed something that everyone is shown.
  public var onChange: (() -> Void)?

  /// Serves on `connection`, whose messages `loop` is to deliver.
  public init(_ connection: Connection, on loop: EventLoop, log: Log) {
    self.connection = connection
    self.log = log
    connection.onMessage = { [weak self] in self?.receive($0) }
    loop.onTurnEnd = { [weak self] in self?.endTurn() }
    connection.attach(to: loop)
  }

  /// Begins to serve: watches who leaves the bus, then takes the bus name.
  /// - Throws: `DBusError` where the bus refuses; `failed` where another process holds the name, which the message names.
  public func start() throws(DBusError) {
    let leaving = MatchRule(
      sender: .bus, interface: .bus, member: MemberName(known: "NameOwnerChanged"), arguments: [2: ""])
    try connection.addMatch(leaving)
    let name = BusName(known: FocusService.busName)
    guard try !connection.requestName(name) else { return }
    var holder = "somebody"
    if let owner = try connection.owner(of: name) {
      holder = (try? connection.processID(of: owner)).map { "process \($0) (\(owner))" } ?? "\(owner)"
    }
    throw DBusError(.failed, "the bus name \(name) is held by \(holder) already")
  }

  /// How many fields there are and which has focus, for people.
  public var status: String {
    let fields = model.fields.count == 1 ? "1 field" : "\(model.fields.count) fields"
    return fields + (model.focusedField.map { ", focus on \($0)" } ?? ", nothing focused")
  }

  private func receive(_ message: Message) {
    switch message.kind {
    case .methodCall: answer(message)
    case .signal: ownerMayHaveLeft(message)
    case .methodReturn, .error, .other: break
    }
    if outboxBytes > FocusService.outboxSize { endTurn() }
  }

  private func ownerMayHaveLeft(_ message: Message) {
    guard message.sender == .bus, message.isSignal(.bus, MemberName(known: "NameOwnerChanged")),
      let arguments = try? message.arguments(), arguments.count == 3,
      case .string(let name) = arguments[0], case .string("") = arguments[2]
    else { return }
    let changes = model.ownerLeft(BusName(known: name))
    if !changes.isEmpty { log.debug("\(name) left the bus: \(status)") }
    announce(changes)
  }

  private func answer(_ message: Message) {
    do {
      let results = try perform(message)
      if message.wantsReply { post(reply: try message.reply(results)) }
    } catch {
      let error = DBusError(any: error)
      log.debug("\(message.sender?.text ?? "?") \(message.member?.text ?? "?"): \(error.name)")
      guard message.wantsReply, let reply = try? message.reply(error) else { return }
      post(reply: reply)
    }
  }

  /// Finds the method that `message` calls, checks its arguments and runs it.
  /// - Throws: what the caller is to be told.
  private func perform(_ message: Message) throws -> [DBusValue] {
    guard let client = message.sender, let path = message.path, let member = message.member else {
      throw DBusError(.invalidArgs, "a method call names its object and its method")
    }
    guard let target = Target(path), exists(target) else {
      throw DBusError(.unknownObject, "there is no object at \(path); the fields are below /org/focusd/Focus1/field")
    }
    let method = try find(member, of: message.interface, at: target, path)
    let arguments = try message.arguments()
    try method.check(arguments)
    return try method.handler(self, Call(client: client, target: target, arguments: arguments))
  }

  private func exists(_ target: Target) -> Bool {
    guard case .field(let id) = target else { return true }
    return model.fields[id] != nil
  }

  private func find(
    _ member: MemberName, of interface: InterfaceName?, at target: Target, _ path: ObjectPath
  ) throws -> ServedInterface.Method {
    guard let interface else {
      for served in target.interfaces {
        if let method = served.method(member) { return method }
      }
      throw DBusError(.unknownMethod, "no interface of \(path) has a method '\(member)'")
    }
    if let served = target.interface(interface.text) {
      if let method = served.method(member) { return method }
      throw DBusError(.unknownMethod, "the interface \(interface) has no method '\(member)'")
    }
    guard let place = target.place, !Key.isReserved(interface.text) else {
      throw DBusError(.unknownInterface, "\(path) has no interface '\(interface)'")
    }
    guard place == .focused else {
      throw DBusError(.unknownMethod, "\(path) has no command '\(interface).\(member)'")
    }
    throw DBusError(.notFocused, "nothing that has focus has the command '\(interface).\(member)'")
  }

  /// Has everyone told of `changes` at the end of the turn, before any reply.
  func announce(_ changes: [Change]) {
    for change in changes {
      do {
        for signal in try Announcer.signals(of: change, model) {
          signals.append(signal)
          outboxBytes += signal.bodySize
        }
      } catch {
        log.error("a change could not be told of: \(error.name)")
      }
    }
  }

  private func post(reply: Message) {
    replies.append(reply)
    outboxBytes += reply.bodySize
  }

  /// Sends what the turn has brought about: signals, then replies.
  private func endTurn() {
    announce(model.settle())
    guard !signals.isEmpty || !replies.isEmpty else { return }
    if !signals.isEmpty { onChange?() }
    do {
      for signal in signals { try connection.send(signal) }
      for reply in replies { try connection.send(reply) }
    } catch {
      log.error("the bus takes no messages: \(error.message)")
    }
    signals.removeAll(keepingCapacity: true)
    replies.removeAll(keepingCapacity: true)
    outboxBytes = 0
  }
}

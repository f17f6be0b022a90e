import BusSupport
import DBus
import DBusTypes
import Synchronization
import TestSupport

/// A client with an object of its own behind a field, served on a thread of its own.
final class BoundOwner: Sendable {
  static let id = "slider"
  static let levelKey = "demo.Bound.Level"
  private static let description = """
    <node><interface name="demo.Bound">
      <property name="Level" type="i" access="readwrite"/>
      <method name="Up"/><method name="Down"/>
    </interface></node>
    """

  private struct State {
    var level: Int32 = 1
    var isStopped = false
    var isSilent = false
    var readings = 0
  }

  /// Calls that wait for the end of the silence.
  private final class Held {
    var calls: [Message] = []
  }

  private let state = Mutex(State())
  private let registered = Observed(false)
  let ended = Observed(false)
  /// How many calls it has left without an answer so far.
  let unanswered = Observed(0)

  /// What the property holds; nobody is told of a change.
  var level: Int32 {
    get { state.withLock { $0.level } }
    set { state.withLock { $0.level = newValue } }
  }

  /// Answers nothing until `answerAgain`.
  func fallSilent() { state.withLock { $0.isSilent = true } }

  /// Answers what was asked meanwhile, and everything from now on.
  func answerAgain(with caller: Caller) throws { try order("AnswerAgain", caller) }

  /// Has the owner register its field once more, with `key` as a stored one and without an object.
  func registerAnew(_ key: String, with caller: Caller) throws {
    try ask("RegisterAnew", caller, [.string(key)])
  }

  /// Waits until all that the owner has sent before is where it goes.
  func settle(_ caller: Caller) throws { try ask("Settle", caller) }

  private func ask(_ member: String, _ caller: Caller, _ arguments: [DBusValue] = []) throws {
    var outcome: Result<[DBusValue], CallError>?
    let message = try OutgoingMessage.methodCall(
      to: BusName(busName), path: ObjectPath("/slider"), interface: InterfaceName("demo.Bound"),
      member: MemberName(member), arguments)
    try caller.begin(message) { outcome = $0 }
    caller.wait { outcome != nil }
    _ = try outcome?.get()
  }

  /// The name of the owner's connection.
  var busName: String { name.withLock { $0 } }

  /// How often its properties were read.
  var readings: Int { state.withLock { $0.readings } }

  private let name = Mutex("")

  init(on bus: PrivateBus) async throws {
    let started = Observed("")
    Task { [self] in
      try? await onThread { [self] in try serve(on: bus, started) }
      ended.update { $0 = true }
    }
    let unique = try await started.wait(for: "bound field") { $0.isEmpty ? nil : $0 }
    name.withLock { $0 = unique }
  }

  private func serve(on bus: PrivateBus, _ started: Observed<String>) throws {
    let caller = try Caller(on: bus)
    let held = Held()
    caller.onCall = { [self, weak caller] message in
      if message.member?.text == "RegisterAnew" {
        let values = (try? message.arguments()) ?? []
        for (path, interface, member, arguments): (String, String, String, [DBusValue]) in [
          (Focus1.field(Self.id), Focus1.fieldInterface, "Unregister", []),
          (
            Focus1.manager, Focus1.managerInterface, "Register",
            [.string(Self.id), .properties([(values.first?.basicText ?? "", .int32(7))]), .properties([])]
          ),
        ] { _ = try? caller?.send(Caller.message(path, interface, member, arguments)) }
        return try? message.reply()
      }
      let answer = answer(message, held)
      guard message.member?.text == "AnswerAgain" else { return answer }
      for call in held.calls {
        if let answer = self.answer(call, held) { _ = try? caller?.send(answer) }
      }
      held.calls = []
      return answer
    }
    try caller.register(
      Self.id, [], [(name: "object", value: .objectPath(try ObjectPath("/slider")))])
    try caller.field(
      Self.id, "SetEnabled",
      [
        .dictionary(
          DBusDictionary(known: .string, .boolean, [.init(key: .string("demo.Bound.Down"), value: .boolean(false))]))
      ])
    let name = caller.name
    started.update { $0 = name }
    caller.wait { state.withLock { $0.isStopped } }
  }

  private func answer(_ message: Message, _ held: Held) -> OutgoingMessage? {
    switch message.member?.text {
    case "AnswerAgain": state.withLock { $0.isSilent = false }
    case "Stop", "Settle": break
    default:
      guard !state.withLock({ $0.isSilent }) else {
        held.calls.append(message)
        unanswered.update { $0 += 1 }
        return nil
      }
    }
    switch message.member?.text {
    case "Introspect": return try? message.reply([.string(Self.description)])
    case "Stop":
      state.withLock { $0.isStopped = true }
      return try? message.reply()
    case "GetAll":
      state.withLock { $0.readings += 1 }
      return try? message.reply([.properties([(name: "Level", value: .int32(level))])])
    case "Get": return try? message.reply([.variant(.int32(level))])
    case "Set":
      if let arguments = try? message.arguments(), case .int32(let new)? = arguments.last?.variantContent {
        level = new
      }
      return try? message.reply()
    default: return try? message.reply()
    }
  }

  /// Ends the thread and its connection.
  func stop(with caller: Caller) async throws {
    try order("Stop", caller)
    _ = try await ended.wait(for: "end of the owner") { $0 ? true : nil }
  }

  private func order(_ member: String, _ caller: Caller) throws {
    try caller.send(
      try OutgoingMessage.methodCall(
        to: BusName(busName), path: ObjectPath("/slider"), interface: InterfaceName("demo.Bound"),
        member: MemberName(member)))
  }
}

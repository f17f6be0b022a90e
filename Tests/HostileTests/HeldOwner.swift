import BusSupport
import DBus
import DBusTypes
import Synchronization
import TestSupport

/// The owner of a bound field, on a thread of its own, that answers when the test says so.
final class HeldOwner: Sendable {
  static let id = "held"
  static let key = "demo.Held.Level"
  static let liveKey = "demo.Held.Live"
  static let path = "/held"
  private static let description = """
    <node><interface name="demo.Held">
      <property name="Level" type="i" access="readwrite"/>
      <property name="Live" type="i" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="false"/>
      </property>
      <method name="Say"><arg type="s" direction="out"/></method>
    </interface><interface name="org.focusd.Focus1.Responder">
      <method name="RequestFocus"><arg type="o" direction="in"/></method>
    </interface></node>
    """

  /// What an owner has done so far.
  struct State: Sendable {
    /// The method that is not answered.
    var heldMember: String?
    /// Whether a call of it waits.
    var isHolding = false
    var name = ""
    var isRegistered = false
    var isOver = false
    /// The number of the last call that came.
    var lastSerial: UInt32 = 0
    var level: Int32 = 1
  }

  let state: Observed<State>

  /// Registers a field, from a thread of its own, and holds the calls of `member` from the first on.
  init(on bus: PrivateBus, holding member: String? = nil) async throws {
    state = Observed(State(heldMember: member))
    Task { [state] in
      try? await onThread { try Self.serve(on: bus, state) }
      state.update { $0.isOver = true }
    }
    _ = try await state.wait(for: "the owner") { !$0.name.isEmpty || $0.isOver ? true : nil }
  }

  /// Waits until the field is registered.
  func registered() async throws { _ = try await state.wait(for: "registration") { $0.isRegistered ? true : nil } }

  /// Waits until a call is held.
  func isAsked() async throws { _ = try await state.wait(for: "a call to hold") { $0.isHolding ? true : nil } }

  /// Holds the calls of `member`.
  func hold(_ member: String) { state.update { $0.heldMember = member } }

  /// Answers what is held, and everything from now on.
  func answer(with caller: Caller) throws { try order("Answer", caller) }

  /// Closes the connection.
  func leave(with caller: Caller) async throws {
    try order("Leave", caller)
    _ = try await state.wait(for: "the owner's end") { $0.isOver ? true : nil }
  }

  private func order(_ member: String, _ caller: Caller) throws {
    try caller.send(
      try OutgoingMessage.methodCall(
        to: BusName(state.now.name), path: ObjectPath("/order"), interface: nil, member: MemberName(member)))
    caller.flush()
  }

  private static func serve(on bus: PrivateBus, _ state: Observed<State>) throws {
    let caller = try Caller(on: bus)
    let isLeft = Atomic(false)
    var held: [Message] = []
    caller.onCall = { [weak caller] call in
      switch call.member?.text {
      case "Answer":
        state.update { $0.heldMember = nil }
        for call in held {
          if let answer = answer(call, state) { _ = try? caller?.send(answer) }
        }
        held = []
      case "Leave": isLeft.store(true, ordering: .relaxed)
      case state.now.heldMember:
        held.append(call)
        state.update { $0.isHolding = true }
      default:
        let serial = call.serial
        state.update { $0.lastSerial = serial }
        return answer(call, state)
      }
      return nil
    }
    let name = caller.name
    state.update { $0.name = name }
    try caller.begin(
      Caller.message(
        Focus1.manager, Focus1.managerInterface, "Register",
        [
          .string(id), .properties([]), .properties([(name: "object", value: .objectPath(try ObjectPath(path)))]),
        ])
    ) { result in
      if case .success = result { state.update { $0.isRegistered = true } }
    }
    caller.wait { isLeft.load(ordering: .relaxed) }
  }

  /// What an ordinary owner answers; it does not take focus because others want it.
  private static func answer(_ call: Message, _ state: Observed<State>) -> OutgoingMessage? {
    let arguments = (try? call.arguments()) ?? []
    switch call.member?.text {
    case "Introspect": return try? call.reply([.string(description)])
    case "GetAll":
      return try? call.reply([
        .properties([(name: "Level", value: .int32(state.now.level)), (name: "Live", value: .int32(7))])
      ])
    case "Get":
      return try? call.reply([.variant(.int32(arguments.last == .string("Live") ? 7 : state.now.level))])
    case "Set":
      if case .int32(let level)? = arguments.last?.variantContent { state.update { $0.level = level } }
      return try? call.reply()
    case "Say": return try? call.reply([.string("the truth")])
    default: return call.reply(DBusError(ErrorName(known: "demo.Held.Busy"), "not now"))
    }
  }
}

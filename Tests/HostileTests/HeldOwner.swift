import BusSupport
import DBusTypes
import TestSupport

/// The owner of a bound field, which answers when the test says so, and does not take focus because others want it.
struct HeldOwner {
  static let id = "held"
  static let key = "demo.Held.Level"
  static let liveKey = "demo.Held.Live"
  static let path = "/held"

  let object: Exported
  private let registration: Peer.Pending

  var peer: Peer { object.owner }

  /// Begins to register a field, and holds the calls of `member` from the first on.
  init(on desktop: TestDesktop, holding member: String? = nil) async throws {
    let xml = document(
      ("demo.Held", property("Level", "i") + property("Live", "i", "read", emits: "false") + method("Say", out: ["s"])),
      (Focus1.responder, method("RequestFocus", in: ["o"])))
    object = Exported(
      try await desktop.peer(), xml, [Self.key: .int32(1), Self.liveKey: .int32(7)], at: Self.path)
    object.state.update { ($0.tells, $0.rules) = (false, Self.rules) }
    if let member { Self.hold(member, object) }
    registration = object.owner.begin(.register(Self.id, object: Self.path))
  }

  private static let rules: [String: Exported.Rule] = [
    "Say": { _, _, _ in .values([.string("the truth")]) },
    "RequestFocus": { _, _, _ in .error("demo.Held.Busy", "not now") },
  ]

  /// Waits until the field is registered.
  func registered() async throws { try await registration.values() }

  /// Waits for the end of the registration.
  /// - Returns: the error that it ends with, or nil.
  func refusal() async throws -> String? { try await registration.refusal() }

  /// Holds the calls of `member`; `object.called` waits for the first of them.
  func hold(_ member: String) { Self.hold(member, object) }

  private static func hold(_ member: String, _ object: Exported) {
    object.state.update { state in
      state.calls = []
      state.rules[member] = { _, _, _ in .hold }
    }
  }

  /// Answers what is held, and everything from now on.
  func answer() {
    object.state.update { $0.rules = Self.rules }
    peer.perform { [object] thread in
      thread.release { Self.rules[$0.member]?($0, object, thread) ?? object.usual($0, thread) }
    }
  }
}

import BusSupport
import DBusTypes
import TestSupport

/// A field with an object behind it, whose owner tells nobody of a change.
struct BoundOwner {
  static let id = "slider"
  static let levelKey = "demo.Bound.Level"

  let object: Exported

  init(on desktop: TestDesktop) async throws {
    let xml = document(("demo.Bound", property("Level", "i") + method("Up") + method("Down")))
    object = Exported(try await desktop.peer(), xml, [Self.levelKey: .int32(1)], at: "/slider")
    object.state.update { $0.tells = false }
    try await object.owner.register(Self.id, object: object.path)
    try await object.owner.setEnabled(Self.id, ["demo.Bound.Down": false])
  }

  /// What the property holds.
  var level: DBusValue? { object.state.now.values[Self.levelKey] }

  func set(_ level: Int32) { object.state.update { $0.values[Self.levelKey] = .int32(level) } }

  /// How often its properties were read.
  var readings: Int { object.count("GetAll") }

  /// Answers nothing until `answerAgain`.
  func fallSilent() {
    object.state.update { state in
      state.calls = []
      for member in ["Introspect", "GetAll", "Get", "Set"] { state.rules[member] = { _, _, _ in .hold } }
    }
  }

  /// Answers what was asked meanwhile, and everything from now on.
  func answerAgain() {
    object.state.update { $0.rules = [:] }
    object.release()
  }
}

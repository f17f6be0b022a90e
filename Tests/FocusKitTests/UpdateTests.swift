import BusSupport
import DBus
import DBusTypes
import FocusKit
import TestSupport
import Testing

/// What `FocusClient.update` does when others write, or focus moves, between its read and its write.
@Suite struct ClientUpdateTests {
  /// A client that waits for each reply where it is, also within a closure that is not `async`.
  private struct Intruder: @unchecked Sendable {
    // Sendable for `update`, which calls its closure on one thread at a time.
    let connection: Connection

    init(_ desktop: TestDesktop) throws { connection = try Connection(to: .address(desktop.bus.address)) }

    func call(_ call: DaemonCall) throws {
      let message = try OutgoingMessage.methodCall(
        to: BusName(call.destination), path: ObjectPath(call.path),
        interface: call.interface.map { try InterfaceName($0) },
        member: MemberName(call.member), call.arguments)
      _ = try connection.call(message).success()
    }
  }

  @Test func anUpdateIsMadeAgainInWhatAnotherProgramWroteMeanwhile() async throws {
    try await TestDesktop.with { desktop in
      let number = State(wrappedValue: 1)
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.number, number.projectedValue).register()
      try await field.focus()
      let intruder = try Intruder(desktop)
      var found: [Int] = []
      let result = try await desktop.client().update(\.number) { value in
        found.append(value)
        if found.count == 1 { try intruder.call(.set("demo.Form.Number", .int64(10))) }
        value *= 3
      }
      #expect(found == [1, 10])
      #expect(result == 30)
      #expect(number.wrappedValue == 30)
    }
  }

  @Test("An update while focus moves to another value, and to an equal one", arguments: [2, 1] as [Int64])
  func anUpdateNeverLandsInAnotherField(other: Int64) async throws {
    try await TestDesktop.with { desktop in
      let intruder = try Intruder(desktop)
      try intruder.call(.register("text1", [("demo.Form.Number", .int64(1))], [("focus", .boolean(true))]))
      try intruder.call(.register("text2", [("demo.Form.Number", .int64(other))]))
      let client = desktop.client()
      var count = 0
      let refused = await #expect(throws: FocusError.self) {
        try await client.update(\.number) { value in
          count += 1
          try intruder.call(.field("text2", "Focus"))
          value = 9
        }
      }
      #expect(refused?.name == FocusError.conflict)
      #expect(count == 1)
      #expect(try await client.read(\.number) == Int(other))
      try intruder.call(.field("text1", "Focus"))
      #expect(try await client.read(\.number) == 1)
    }
  }
}

/// What others may not write, whoever they are.
@Suite struct ReadOnlyTests {
  @Test func nobodyElseWritesAReadOnlyKey() async throws {
    try await TestDesktop.with { desktop in
      let title = State(wrappedValue: "First")
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.title, title.projectedValue)
        .focusedSceneValue(\.subtitle, title.projectedValue).focusedValue(\.number, .constant(7)).register()
      try await field.focus()
      let caller = try await desktop.peer()
      // The scene's keys are a field of their own, which may be registered later.
      try await eventually("the scene's key") { try await desktop.client().read(\.subtitle) == "First" }
      for (key, value) in [
        ("demo.Form.Title", DBusValue.string("x")), ("demo.Form.Subtitle", .string("x")),
        ("demo.Form.Number", .int64(8)),
      ] {
        #expect(try await caller.begin(.set(key, value)).refusal() == "PropertyReadOnly", "\(key)")
        #expect(try await caller.begin(.write(key, value)).refusal() == "PropertyReadOnly", "\(key)")
      }
      #expect(title.wrappedValue == "First")
      title.wrappedValue = "Second"
      for key in [\FocusedValues.title, \.subtitle] {
        try await eventually("the owner's change") { try await desktop.client().read(key) == "Second" }
      }
    }
  }
}

extension FocusedValues {
  fileprivate var subtitle: String? {
    get { self["demo.Form.Subtitle"] }
    set { self["demo.Form.Subtitle"] = newValue }
  }
}

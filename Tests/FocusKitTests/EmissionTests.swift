import BusSupport
import DBusTypes
import DaemonClient
import FocusContract
import TestSupport
import Testing

/// A field whose values change while others ask for them.
@Suite struct EmissionTests {
  private static let (number, size, text) = ("demo.Form.Number", "demo.Form.Size", "demo.Form.Text")

  /// A change that waits to be emitted is older than the first answer.
  @Test func theFirstAnswerDoesNotHideWhatFollowsIt() async throws {
    try await TestDesktop.with { desktop in
      try await Self.publish(
        on: desktop,
        read: { publisher, key in
          guard key == Self.size else { return 0 }
          try publisher.changed(1, Key(Self.number), .int32(1))
          try publisher.changed(1, Key(Self.size), .int32(1))
          return 2
        },
        onTurnEnd: { _ in },
        while: {
          try await eventually("the last value") {
            try await desktop.focusctl("get", Self.size, "--field", "text1").output == ["2"]
          }
        })
    }
  }

  @Test func aWriteIsAnsweredWhileOtherValuesChangeWithoutAnEnd() async throws {
    try await TestDesktop.with { desktop in
      let isChanging = Observed(false)
      var last: Int32 = 0
      try await Self.publish(
        on: desktop, read: { _, _ in 0 },
        onTurnEnd: { publisher in
          guard isChanging.now else { return }
          last += 1
          try publisher.changed(1, Key(Self.number), .int32(last))
          try publisher.changed(1, Key(Self.size), .int32(last))
        },
        while: {
          try await eventually("the field is there") {
            try await desktop.focusctl("get", Self.text, "--field", "text1").status == 0
          }
          isChanging.update { $0 = true }
          let written = try await desktop.focusctl("set", Self.text, "8", "--field", "text1")
          #expect(written.status == 0, "\(written)")
        })
    }
  }

  @Test func aFieldThatIsJoinedWhileChangesWaitTakesTheFocusThatItsStateHas() async throws {
    try await TestDesktop.with { desktop in
      let isJoining = Observed(false)
      try await Self.publish(
        on: desktop, read: { _, _ in 0 },
        onTurnEnd: { publisher in
          guard isJoining.now, var description = publisher.description(of: 1) else { return }
          isJoining.update { $0 = false }
          for value in 1...2 as ClosedRange<Int32> {
            publisher.changed(1, [(try Key(Self.number), .int32(value))], separate: true)
          }
          description.focus = FieldFocus(isWanted: { true }, set: { _ in })
          publisher.describe(description)
          publisher.focusStateChanged(1)
        },
        while: {
          try await eventually("the field is there") {
            try await desktop.focusctl("get", Self.text, "--field", "text1").status == 0
          }
          isJoining.update { $0 = true }
          let peer = try await desktop.peer()
          try await eventually("focus") {
            // Makes a turn of the publisher's.
            _ = try await desktop.focusctl("get", Self.text, "--field", "text1")
            return try await peer.fields("FocusPath") == ["text1"]
          }
        })
    }
  }

  /// Publishes the field `text1` on a thread of its own while `body` runs.
  private static func publish(
    on desktop: TestDesktop, read: @escaping @Sendable (FieldPublisher, String) throws -> Int32,
    onTurnEnd: sending @escaping (FieldPublisher) throws -> Void, while body: () async throws -> Void
  ) async throws {
    try await PublishingThread.run(
      on: desktop,
      add: { publisher in
        var field = FieldDescription(number: 1, group: 1, objectPath: ObjectPath(known: "/text1"))
        field.id = "text1"
        for name in [number, size, text] {
          let key = try Key(name)
          field.properties[key] = FieldProperty(
            type: .int32, tellsChanges: true,
            read: { [weak publisher] handler in
              guard let publisher, let value = try? read(publisher, name) else { return }
              handler(.success(.int32(value)))
              publisher.changed(1, key, .int32(value))
            },
            write: { $1(.success(())) })
        }
        publisher.add(field)
      },
      onTurnEnd: onTurnEnd, while: body)
  }
}

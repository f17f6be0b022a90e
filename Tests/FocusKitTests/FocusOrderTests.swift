import BusSupport
import DBusTypes
import DaemonClient
import TestSupport
import Testing

/// In which order the daemon learns that one field of a program lost focus and another got it.
@Suite struct FocusOrderTests {
  private static let focused = "org.focusd.Focus1.Manager.FocusedField"

  /// A field that wants focus while `wanted` has its number.
  private static func field(_ number: UInt64, _ wanted: Observed<UInt64>) -> FieldDescription {
    var field = FieldDescription(number: number, group: number, objectPath: ObjectPath(known: "/text\(number)"))
    field.id = "text\(number)"
    field.focus = FieldFocus(isWanted: { wanted.now == number }, set: { _ in })
    return field
  }

  /// The program's thread may be held up between telling of the one and telling of the other.
  @Test func focusIsNeverNowhereWhileAProgramMovesIt() async throws {
    try await TestDesktop.with { desktop in
      let (wanted, turns) = (Observed<UInt64>(1), Observed(0))
      let witness = try await desktop.peer()
      try await witness.subscribe()
      try await PublishingThread.run(
        on: desktop,
        add: { publisher in
          for number: UInt64 in [1, 2] { publisher.add(Self.field(number, wanted)) }
        },
        onTurnEnd: { publisher in
          guard wanted.now == 2 else { return }
          let turn = turns.update {
            $0 += 1
            return $0
          }
          // Long after the blur, if there is one.
          if turn == 1 { publisher.focusStateChanged(1) }
          if turn == 40 { publisher.focusStateChanged(2) }
        },
        while: {
          try await witness.signals("focus of the first") { signals in
            signals.values(of: Self.focused, at: Focus1.manager).last == Focus1.fieldPath("text1") ? true : nil
          }
          try await eventually("the second is there") { try await witness.fields() == ["text1", "text2"] }
          wanted.update { $0 = 2 }
          try await witness.signals("focus of the second") { signals in
            signals.values(of: Self.focused, at: Focus1.manager).last == Focus1.fieldPath("text2") ? true : nil
          }
          _ = try await turns.wait(for: "both turns") { $0 > 40 ? true : nil }
          let moves = witness.signals.values(of: Self.focused, at: Focus1.manager)
          #expect(moves == [Focus1.fieldPath("text1"), Focus1.fieldPath("text2")])
        })
    }
  }

  /// It has focus once it is registered, and must give it back.
  @Test func aFieldThatWasLeftBeforeItWasRegisteredTakesNoFocusForGood() async throws {
    try await TestDesktop.with { desktop in
      let (wanted, isNext) = (Observed<UInt64>(1), Observed(false))
      let witness = try await desktop.peer()
      try await witness.subscribe()
      try await PublishingThread.run(
        on: desktop, add: { $0.add(Self.field(1, wanted)) },
        onTurnEnd: { publisher in
          guard isNext.now, publisher.path(of: 1) != nil else { return }
          isNext.update { $0 = false }
          wanted.update { $0 = 2 }
          publisher.add(Self.field(2, wanted))
          wanted.update { $0 = 1 }
          publisher.focusStateChanged(1)
        },
        while: {
          func moves() -> [DBusValue?] { witness.signals.values(of: Self.focused, at: Focus1.manager) }
          try await eventually("focus of the first") { moves() == [Focus1.fieldPath("text1")] }
          isNext.update { $0 = true }
          try await eventually("focus of the first again") { moves().count > 2 }
          #expect(moves() == [1, 2, 1].map { Focus1.fieldPath("text\($0)") })
        })
    }
  }
}

import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Elements of which programs do not tell everything.
@Suite struct IncompleteTests {
  /// A check box that does not tell its name and has been read four times, beside an entry; a second program, which is
  /// known, is not in front any more.
  private static func withCheckBox(
    _ body: (AccessibleDesktop, StubProgram, _ clock: StubProgram) async throws -> Void
  ) async throws {
    try await AccessibleDesktop.with { desktop in
      let (clock, program) = (try await desktop.program("clock", entry: "abc"), try await desktop.program())
      clock.change("/window") { $0.states = 0 }
      clock.set("/loose", StubElement(role: 95, parent: "/org/a11y/atspi/null"))
      program.set("/entry", .entry("text"))
      program.set("/check", .check(true))
      program.change("/check") { $0.lateProperties = ["Accessible.Name"] }
      program.activate()
      program.focus("/check")
      try await desktop.waits(for: "Toggle.Checked", .boolean(true))
      try await program.state.wait(for: "four readings") { readings($0) >= 4 ? () : nil }
      try await body(desktop, program, clock)
    }
  }

  private static func readings(_ state: StubProgram.State) -> Int {
    state.calls.count { $0.path == "/check" && $0.key.hasSuffix("Accessible.Name") }
  }

  /// Such an element is asked for its window again after 0.3, 1, 2, and 4 seconds, if it tells its focus once.
  private static func questions(_ state: StubProgram.State) -> Int {
    state.calls.count { $0.path == "/loose" && $0.key.hasSuffix("Parent") }
  }

  /// It is read then, and once more because of what was before.
  @Test func anElementThatHasFocusAgainIsNotReadMoreOften() async throws {
    try await Self.withCheckBox { desktop, program, clock in
      let start = SuspendingClock.now
      let before = Self.readings(program.state.now)
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("text"))
      // One that was due four seconds after the last may have come before it lost focus.
      let most = SuspendingClock.now - start < .milliseconds(3500) ? 2 : 3
      clock.stateChanged("/loose", "focused", 1)
      program.focus("/check")
      try await desktop.waits(for: "Toggle.Checked", .boolean(true))
      try await clock.state.wait(for: "four questions") { Self.questions($0) >= 4 ? () : nil }
      let readings = Self.readings(program.state.now) - before
      #expect((1...most).contains(readings), "\(readings)")
    }
  }

  /// What was missing may be there soon.
  @Test func anElementThatChangesIsReadMoreOften() async throws {
    try await inTime("seven readings before the fifth question") {
      var questions = 0
      try await Self.withCheckBox { _, program, clock in
        program.nameChanged("/check")
        clock.stateChanged("/loose", "focused", 1)
        // The seventh would come more than eight seconds later, after the fifth question.
        questions = try await program.state.wait(for: "seven readings") { state in
          Self.readings(state) >= 7 ? Self.questions(clock.state.now) : nil
        }
      }
      return questions < 5
    }
  }
}

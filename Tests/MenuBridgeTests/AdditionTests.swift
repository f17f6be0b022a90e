import BusSupport
import DBusTypes
import TestSupport
import Testing

@testable import MenuBridge

/// What a program offers only some time after it was looked at.
@Suite struct AdditionTests {
  /// Whether it is in a menu, and under which name; the window may be behind another meanwhile.
  @Test(
    arguments: [
      ("Document.Save", "save", "_Save", true), ("Document.Save", "save", nil, true),
      ("Edit.Redo", "again", "_Redo", true), ("Edit.Redo", "5001", "_Redo", true),
      ("Document.Save", "save", "_Save", false),
    ] as [(String, String, String?, Bool)])
  func aCommandThatIsAddedLater(command: String, action: String, label: String?, isInFront: Bool) async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      let other = isInFront ? nil : try await stage.program("w2")
      if other != nil { try await stage.has("Edit.Undo") }
      if let label { program.menu("Edit", ["undo": "_Undo", "\(action)": label]) }
      program.replace(action, with: .init())
      if let other {
        let before = readings(program.state.now)
        // The bus has it before what the other tells, which is read at once.
        try await program.peer.askBus("GetId")
        other.replace(action, with: .init())
        try await stage.has(command)
        #expect(readings(program.state.now) == before)
        try await stage.windows.focus("w1")
      }
      try await stage.has(command)
      try await stage.run(command)
      try await program.state.ran(\.activated, [action])
    }
  }

  /// It is there before the window is looked at again, since it had nothing.
  @Test func theFirstCommandIsAddedLater() async throws {
    try await MenuStage.with { stage in
      var number = 0
      // On a slow machine it may be looked at before.
      try await inTime("only the addition is read") {
        number += 1
        let program = StubMenus(try await stage.desktop.peer())
        program.state.update { ($0.actions, $0.lists) = ([:], [:]) }
        try await stage.show("w\(number)", of: program)
        _ = try await program.state.wait(for: "a reading") { $0.calls.contains("End") ? true : nil }
        program.replace("save", with: .init())
        try await stage.has("Document.Save")
        return stage.looks.now["/org/focusd/Focus1/field/w\(number)"] == 1
      }
    }
  }

  /// The program is busy when it adds the command.
  @Test func aCommandThatIsNotToldInTime() async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      program.state.update { $0.answers["DescribeAll"] = .hold }
      let before = readings(program.state.now)
      program.replace("save", with: .init())
      _ = try await program.state.wait(for: "a reading") { readings($0) > before ? true : nil }
      program.state.update { $0.answers = [:] }
      try await stage.has("Document.Save")
    }
  }

  /// It is asked for each of three additions, but not at once.
  @Test func aProgramThatAddsAllTheTime() async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      let (before, start) = (readings(program.state.now), SuspendingClock.now)
      for number in 1...3 {
        for each in 0..<10 { program.replace("more-\(number)-\(each)", with: .init()) }
        _ = try await program.state.wait(for: "reading \(number)") { readings($0) >= before + number ? true : nil }
      }
      #expect(SuspendingClock.now - start > .seconds(3))
    }
  }

  /// What a known action does is no addition.
  @Test func anActionThatIsKnownIsNotReadAgain() async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      let before = readings(program.state.now)
      program.replace("undo", with: .init(isEnabled: false))
      try await stage.has("Edit.Undo", isEnabled: false)
      program.replace("save", with: .init())
      try await stage.has("Document.Save")
      #expect(readings(program.state.now) == before + 1)
    }
  }

  private func readings(_ state: StubMenus.State) -> Int { state.calls.count { $0 == "DescribeAll" } }

  // MARK: The pace

  /// Each reading is wanted so long after the one before was due.
  @Test(
    arguments: [
      ([0], [200]), ([0, 0], [200, 1000]), ([0, 900], [200, 1100]), ([0, 1500], [200, 1700]),
      ([0, 0, 0, 0, 0, 0, 0, 0, 0], [200, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]),
      ([0, 0, 0, 5999, 0], [200, 1000, 2000, 6199, 8000]), ([0, 0, 0, 12000, 0], [200, 1000, 2000, 12200, 1000]),
    ]) func itIsReadLessAndLessOften(wanted: [Int], due: [Int])
  {
    var (pace, now) = (ReadingPace(), SuspendingClock.now)
    let found = wanted.map { after in
      now += .milliseconds(after)
      let pause = pace.pause(at: now)
      now += pause
      return .milliseconds(after) + pause
    }
    #expect(found == due.map { .milliseconds($0) })
  }
}

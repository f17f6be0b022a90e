import BusSupport
import FocusKit
import TestSupport
import Testing

/// A program whose main thread runs a loop of its own.
@Suite struct MainLoopTests {
  @Test func bindingsAndCommandsOfTheMainActorRunOnTheProgramsOwnLoop() async throws {
    try await TestDesktop.with { desktop in
      let player = try await Player(on: desktop, "LoopPlayer", "known")
      try await Self.appeared(desktop)
      #expect(try await desktop.focusctl("get", "Number", "--field", "main").output == ["1"])
      let written = try await desktop.focusctl("set", "Number", "8", "--field", "main")
      #expect(written.status == 0, "\(written)")
      let saved = try await desktop.focusctl("run", "Save", "--field", "main")
      #expect(saved.status == 0, "\(saved)")
      let refreshed = try await desktop.focusctl("run", "Refresh", "--field", "main")
      #expect(refreshed.status == 0, "\(refreshed)")
      #expect(try await player.play("number") == "8 101")
      #expect(try await player.play("level 3") == "0 3")
      #expect(player.errors.isEmpty)
      try await player.process.stop()
    }
  }

  @Test func aLoopThatIsNotKnownIsReportedAndHoldsNothingUp() async throws {
    try await TestDesktop.with { desktop in
      let player = try await Player(on: desktop, "LoopPlayer")
      try await player.waitForError("Timeout")
      #expect(player.errors.first?.contains("useMainLoop") == true, "\(player.errors)")
      try await Self.appeared(desktop)
      #expect(try await desktop.focusctl("get", "Title", "--field", "main").output == ["plain"])
      #expect(try await desktop.focusctl("get", "Number", "--field", "main").status == 1)
      try await player.process.stop()
    }
  }

  @Test("What is too late is refused and never begins", arguments: [["set", "Number", "8"], ["run", "Save"]])
  func whatIsTooLateIsRefusedAndNeverBegins(call: [String]) async throws {
    try await TestDesktop.with { desktop in
      let player = try await Player(on: desktop, "LoopPlayer", "known")
      try await Self.appeared(desktop)
      #expect(try await player.play("block") == "blocked")
      let refused = try await desktop.focusctl(call + ["--field", "main"])
      // Usually it is the program that says so; the daemon does if the program's thread is late too.
      let texts = ["does not answer", "did not reply within 5 seconds"]
      #expect(refused.status == 4 && texts.contains { refused.errorText.contains($0) }, "\(refused)")
      try await player.waitForError("Timeout")
      player.process.send(line: "go on")
      #expect(try await desktop.focusctl("set", "Number", "3", "--field", "main").status == 0)
      _ = try await player.process.progress.wait(for: "the end of the block") { progress in
        progress.output.contains("= done") ? true : nil
      }
      player.process.send(line: "number")
      _ = try await player.process.progress.wait(for: "the number") { progress in
        progress.output.last == "= 3 0" ? true : nil
      }
      try await player.process.stop()
    }
  }

  @Test func aCommandThatRunsAnywhereNeedsNoThreadOfTheProgramsTasks() async throws {
    try await TestDesktop.with { desktop in
      let player = try await Player(on: desktop, "LoopPlayer", "known")
      try await Self.appeared(desktop)
      #expect(try await player.play("occupy") == "occupied")
      let run = try await desktop.focusctl("run", "Check", "--field", "main")
      #expect(run.status == 0, "\(run)")
      try await player.process.stop()
    }
  }

  private static func appeared(_ desktop: TestDesktop) async throws {
    try await eventually("the field is there") {
      try await desktop.focusctl("list").output.contains { $0.contains("main") }
    }
  }
}

import BusSupport
import Dispatch
import FocusKit
import TestSupport
import Testing

/// Waits that end with their task, and what a field is told that nobody waits for.
@Suite struct WaitTests {
  fileprivate struct Shapeless: Sendable {}

  fileprivate struct ShapelessKey: FocusedValueKey {
    typealias Value = Shapeless
    static let name = "demo.Form.Shapeless"
  }

  @Test func aWaitWithoutADaemonEndsWithItsTask() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.number, .constant(1)).register()
      let tasks = (0..<100).map { _ in Task { try await field.registered() } }
      for task in tasks { task.cancel() }
      for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
      try await desktop.start()
      try await field.registered()
    }
  }

  @Test func aCommandThatTakesLongIsNotWaitedForAfterACancellation() async throws {
    try await TestDesktop.with { desktop in
      let isRunning = Observed(false)
      let (release, hold) = AsyncStream.makeStream(of: Void.self)
      let field = FocusField("text1", client: desktop.client())
        .command("demo.Form.Wait") {
          isRunning.update { $0 = true }
          for await _ in release {}
        }.register()
      try await field.focus()
      let client = desktop.client()
      let task = Task { try await client.run("demo.Form.Wait") }
      _ = try await isRunning.wait(for: "the command") { $0 ? true : nil }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      hold.finish()
    }
  }

  @Test func aCallThatIsCancelledBeforeItIsSentIsNotSent() async throws {
    try await TestDesktop.with { desktop in
      let (number, runs) = (State(wrappedValue: 0), State(wrappedValue: [String]()))
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.number, number.projectedValue)
        .command("demo.Form.Note") { (who: String) in runs.update { $0.append(who) } }.register()
      try await field.focus()
      let client = desktop.client()
      let form = FocusedBinding(\.number, client: client)
      try await until("the value") { form.wrappedValue == 0 }
      // The daemon does not answer, and calls wait for the write.
      desktop.daemon.terminate(19)
      form.wrappedValue = 1
      let cancelled = Task { try await client.run("demo.Form.Note", "cancelled") }
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      desktop.daemon.terminate(18)
      try await client.run("demo.Form.Note", "other")
      #expect(runs.wrappedValue == ["other"])
      #expect(number.wrappedValue == 1)
    }
  }

  @Test func aFieldThatIsLetGoOfSaysWhy() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      let errors = Errors(of: client)
      desktop.daemon.terminate(19)
      _ = FocusField("text1", client: client).focusedValue(\.number, .constant(1)).register()
      try await errors.wait(count: 1)
      #expect(errors.all.first?.message.contains("keep the result of 'register()'") == true)
      desktop.daemon.terminate(18)
    }
  }

  @Test func whatIsDeclaredTooLateIsReported() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      let errors = Errors(of: client)
      let field = FocusField("text1", client: client).register()
      field.privacySensitive()
      try await errors.wait(count: 1)
      #expect(errors.all.first?.message.contains("before 'register()'") == true)
      try await field.registered()
    }
  }

  @Test func aKeyWithoutAFormOnTheBusIsReported() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      let errors = Errors(of: client)
      @FocusedValue(\.shapeless, client: client) var shapeless
      #expect(shapeless == nil)
      try await errors.wait(count: 1)
      #expect(errors.all.first?.message.contains("has no form on the bus") == true)
    }
  }

  @Test func aHandlerOfErrorsThatWaitsHoldsNothingUp() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      let gate = DispatchSemaphore(value: 0)
      defer { gate.signal() }
      client.onError { _ in gate.wait() }
      @FocusState var isFocused: Bool
      isFocused = true
      let field = FocusField("text1", client: client).focusedValue(\.shapeless, Shapeless())
        .focusedValue(\.number, .constant(1)).focused($isFocused).register()
      try await Changes(desktop.client().changes(of: \.number)).wait(for: 1)
      withExtendedLifetime(field) {}
    }
  }

  @Test func aCommandsStateIsFollowed() async throws {
    try await TestDesktop.with { desktop in
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.save) {}.register()
      try await field.focus()
      let seen = Changes(desktop.client().commandChanges(of: \.save))
      try await seen.wait(for: true)
      try await field.setEnabled(\.save, false)
      try await seen.wait(for: false)
    }
  }

  @Test func theExampleTakesWhateverAnotherProgramPublishes() async throws {
    try await TestDesktop.with { desktop in
      let example = try await desktop.start(["/usr/bin/stdbuf", "-oL", Products.directory + "/VolumeSlider"])
      try await example.line("the volume")
      for (id, volume) in [("loud", "1e300"), ("quiet", "-1e300"), ("odd", "nan")] {
        let registered = try await desktop.focusctl("register", id, "demo.Player.Volume:d=\(volume)", "--focus")
        #expect(registered.status == 0, "\(registered)")
      }
      let fine = try await desktop.focusctl("register", "fine", "demo.Player.Volume:d=0.25", "--focus")
      #expect(fine.status == 0, "\(fine)")
      _ = try await example.progress.wait(for: "the last volume") { progress in
        progress.exit != nil || progress.output.last?.hasSuffix(" 0.25") == true ? true : nil
      }
      #expect(example.progress.now.exit == nil)
      try await example.stop()
    }
  }

  @Test(.disabled(if: isSanitized, "the sanitizers keep what is freed for a while")) func memoryStaysFlat() async throws
  {
    try await TestDesktop.play(1) { _, players in
      _ = try await players[0].play("memory 1000", within: .seconds(600))
      let grown = try await players[0].play("memory \(isSlow ? 100_000 : 5_000)", within: .seconds(600))
      #expect(Int(grown) ?? .max < 4_096, "\(grown)")
    }
  }
}

extension FocusedValues {
  fileprivate var shapeless: WaitTests.Shapeless? {
    get { self[WaitTests.ShapelessKey.self] }
    set { self[WaitTests.ShapelessKey.self] = newValue }
  }
}

import BusSupport
import FocusKit
import TestSupport
import Testing

/// A key whose type is a type of closures.
private struct Command<Closure>: Hashable { let name: String }

extension FocusedValues {
  fileprivate subscript<Closure>(command: Command<Closure>) -> Closure? {
    get { self[command.name] }
    set { self[command.name] = newValue }
  }
}

private struct Refusal: Error {}

/// The types of closures that a program's own commands may have.
@Suite struct ClosureTypeTests {
  @Test func commandsMayHaveAllOfThem() async throws {
    try await TestDesktop.with { try await Players($0).playAll() }
  }

  /// A program that publishes a command that throws, and one that calls it.
  @MainActor private struct Players {
    let owner: FocusClient
    let caller: FocusClient
    let errors: Errors
    let refusing: FocusField

    init(_ desktop: TestDesktop) {
      (owner, caller) = (desktop.client(), desktop.client())
      errors = Errors(of: caller)
      refusing = FocusField("refusing", client: owner).command("demo.Form.Refuse") { () throws in throw Refusal() }
        .register()
    }

    func playAll() async throws {
      try await play((() -> Void).self, { {} }, { $0() })
      try await play((() throws -> Void).self, { { throw Refusal() } }, { try $0() })
      try await play((() async -> Void).self, { {} }, { await $0() })
      try await play((() async throws -> Void).self, { { throw Refusal() } }, { try await $0() }, isThrown: true)
      try await play((@Sendable () -> Void).self, { {} }, { $0() })
      try await play((@Sendable () throws -> Void).self, { { throw Refusal() } }, { try $0() })
      try await play((@Sendable () async -> Void).self, { {} }, { await $0() })
      try await play(
        (@Sendable () async throws -> Void).self, { { throw Refusal() } }, { try await $0() }, isThrown: true)
      try await play((@MainActor () -> Void).self, { {} }, { $0() })
      try await play((@MainActor () throws -> Void).self, { { throw Refusal() } }, { try $0() })
      try await play((@MainActor () async -> Void).self, { {} }, { await $0() })
      try await play(
        (@MainActor () async throws -> Void).self, { { throw Refusal() } }, { try await $0() }, isThrown: true)
      try await play((nonisolated(nonsending) () async -> Void).self, { {} }, { await $0() })
      try await play(
        (nonisolated(nonsending) () async throws -> Void).self, { { throw Refusal() } }, { try await $0() },
        isThrown: true)
      try await play((nonisolated(nonsending) @Sendable () async -> Void).self, { {} }, { await $0() })
      try await play(
        (nonisolated(nonsending) @Sendable () async throws -> Void).self, { { throw Refusal() } }, { try await $0() },
        isThrown: true)
    }

    /// Publishes a closure, and calls one that is refused; `isThrown`: the refusal reaches who calls.
    private func play<Closure>(
      _ type: Closure.Type, _ closure: () -> Closure, _ call: (sending Closure) async throws -> Void,
      isThrown: Bool = false
    ) async throws {
      let throwing = "\(type)".contains("throws")
      let field = FocusField("publishing", client: owner)
        .focusedValue(\.[Command<Closure>(name: "demo.Form.Run")], closure()).register()
      try await field.focus()
      do {
        try await caller.run("demo.Form.Run")
        #expect(!throwing, "\(type)")
      } catch {
        #expect(throwing, "\(type): \(error)")
      }

      try await refusing.focus()
      let refuse = FocusedValue(\.[Command<Closure>(name: "demo.Form.Refuse")], client: caller)
      try await eventually("\(type)") { refuse.wrappedValue != nil }
      let reported = errors.all.count
      do {
        guard let refuse = refuse.wrappedValue else { return }
        try await call(refuse)
        #expect(!isThrown, "\(type)")
        try await errors.wait(count: reported + 1)
      } catch {
        #expect(isThrown && errors.all.count == reported, "\(type): \(error)")
      }
    }
  }
}

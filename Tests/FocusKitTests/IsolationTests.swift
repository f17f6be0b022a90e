import BusSupport
import FocusKit
import TestSupport
import Testing

@globalActor private actor Foreign { static let shared = Foreign() }

/// A text that D-Bus cannot carry.
private let unspeakable = "a\0b"

@Suite struct IsolationTests {
  /// The compiler refuses closures that a foreign actor makes; those that say themselves that they are its, nobody calls.
  @Test func closuresOfAForeignActorAreRefused() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      let errors = Errors(of: client)
      let binding = Binding<Int>(get: { @Foreign in 1 }, set: { @Foreign _ in })
      let field = FocusField("text1", client: client).focusedValue(\.number, binding).focusedValue(\.title, "plain")
        .register()
      try await field.focus()
      try await errors.wait(count: 1)
      #expect(errors.all.first?.message.contains("belong to the actor 'Foreign'") == true, "\(errors.all)")
      #expect(try await desktop.focusctl("get", "Title").output == ["plain"])
    }
  }

  @Test func aValueThatDBusCannotCarryIsReported() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      let errors = Errors(of: client)
      let title = State(wrappedValue: "plain")
      let field = FocusField("text1", client: client).focusedValue(\.title, title.projectedValue).register()
      try await field.focus()
      title.wrappedValue = unspeakable
      try await errors.wait(count: 1)
      title.wrappedValue = "again"
      try await Changes(desktop.client().changes(of: \.title)).wait(for: "again")
    }
  }

  @Test @MainActor func changesAreToldOnTheActorWhereTheClosureWasMade() async throws {
    let state = State(wrappedValue: 0)
    let seen = Observed<[[Int]]>([])
    let observation = state.onChange { old, new in
      MainActor.preconditionIsolated()
      seen.update { $0.append([old, new]) }
    }
    let name = State(wrappedValue: (first: "a", last: "b"))
    let last = Observed("")
    let other = name.projectedValue.last.onChange { _, new in last.update { $0 = new } }
    while seen.now.isEmpty {
      state.wrappedValue += 1
      await Task.yield()
    }
    #expect(seen.now.allSatisfy { $0[0] < $0[1] })
    while last.now.isEmpty {
      name.projectedValue.last.wrappedValue += "c"
      await Task.yield()
    }
    withExtendedLifetime((observation, other)) {}
  }
}

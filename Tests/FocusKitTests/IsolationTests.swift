import BusSupport
import Dispatch
import FocusKit
import Glibc
import Observation
import TestSupport
import Testing

@globalActor private actor Foreign { static let shared = Foreign() }

/// A text that D-Bus cannot carry.
private let unspeakable = "a\0b"

/// How far a thread's stack goes.
private struct StackPlace {
  let thread: UInt
  let address: Int

  static var here: StackPlace {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1) { bytes in
      StackPlace(thread: UInt(pthread_self()), address: Int(bitPattern: bytes.baseAddress))
    }
  }

  /// The most bytes between two places of one thread.
  static func distance(of places: [StackPlace]) -> Int {
    Dictionary(grouping: places, by: \.thread).values.map { places in
      let addresses = places.map(\.address)
      return (addresses.max() ?? 0) - (addresses.min() ?? 0)
    }.max() ?? 0
  }
}

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

  /// Who is refused goes on where it was: Swift's compiler before 6.4 may leave it elsewhere.
  @Test @MainActor func errorsAreCaughtOnTheActorOfWhoAsked() async throws {
    let mark = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: mark, value: true)
    defer { DispatchQueue.main.setSpecific(key: mark, value: nil) }
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      let errors = Errors(of: client)
      let kept = FocusField("text1", client: client).register()
      try await kept.registered()
      let refused = FocusField("text1", client: client).register()
      func check(_ call: String, _ result: Any?) {
        #expect(result == nil, "\(call)")
        #expect(DispatchQueue.getSpecific(key: mark) == true, "\(call)")
      }
      // In this function itself: one between it and the call would be the one that is left elsewhere.
      check("registered", try? await refused.registered())
      check("focus", try? await refused.focus())
      check("blur", try? await refused.blur())
      check("setEnabled", try? await refused.setEnabled("demo.Form.Save", false))
      check("setEnabled of a key path", try? await refused.setEnabled(\.save, false))
      check("read", try? await client.read("demo", as: Int.self))
      check("write", try? await client.write("demo.Form.Number", 1))
      check("write of a key path", try? await client.write(\.number, 1))
      check("run", try? await client.run("demo.Form.Save"))
      check("run of a key path", try? await client.run(\.save))
      check("update", try? await client.update("demo.Form.Number") { (value: inout Int) in value += 1 })
      check("update of a key path", try? await client.update(\.number) { $0 += 1 })
      check("focus of another", try? await client.focus("nobody"))
      withExtendedLifetime((errors, kept)) {}
    }
  }

  /// What is behind a lock stays what it is: a closure there would be within two more at each call, up to the end of the stack.
  @Test(.disabled(if: isSanitized, "the address sanitizer moves variables off the stack"))
  func whoIsCalledOftenIsCalledAsAtFirst() async throws {
    try await TestDesktop.with { desktop in
      let count = 1000
      let client = desktop.client()
      let calls = Observed<[StackPlace]>([])
      client.onError { _ in
        let place = StackPlace.here
        calls.update { $0.append(place) }
      }
      let field = FocusField(client: client).register()
      for _ in 0..<count { field.privacySensitive() }
      let ofErrors = try await calls.wait(for: "errors") { $0.count == count ? $0 : nil }
      #expect(StackPlace.distance(of: ofErrors) < 16 * count)

      let binding = Binding<StackPlace>(get: { @MainActor in .here }, set: { @MainActor _ in })
      let ofReads = await Task.detached { (0..<count).map { _ in binding.wrappedValue } }.value
      #expect(StackPlace.distance(of: ofReads) < 16 * count)
    }
  }

  @MainActor @Observable final class Model { var number = (value: 0, unit: "m") }

  /// Observation knows what is read on the thread where it is asked to.
  @Test @MainActor func theChangesOfABindingToTheMainActorAreTold() async throws {
    let model = Model()
    let binding = Binding(get: { model.number }, set: { model.number = $0 })
    let seen = Observed<[Int]>([])
    let observations = [
      binding.onChange { old, new in seen.update { $0.append(new.value - old.value) } },
      binding.value.onChange { old, new in seen.update { $0.append(new - old) } },
    ]
    // The first change, before anything else has run here.
    model.number.value = 1
    try await eventually("the first change") { seen.now == [1, 1] }
    for _ in 0..<2 {
      let before = seen.now.count
      try await eventually("both changes") {
        model.number.value += 1
        return seen.now.count >= before + 2
      }
    }
    #expect(seen.now.allSatisfy { $0 > 0 })
    withExtendedLifetime(observations) {}
  }

  /// Not even with changes from before, by the actor that ends it.
  @Test @MainActor func whatWasEndedIsNotCalled() async throws {
    let state = State(wrappedValue: 0)
    let calls = Observed(0)
    let observation = state.onChange { _, _ in calls.update { $0 += 1 } }
    try await eventually("a call") {
      state.wrappedValue += 1
      return calls.now > 0
    }
    for _ in 0..<10 { state.wrappedValue += 1 }
    observation.cancel()
    let count = calls.now
    for _ in 0..<1000 { await Task.yield() }
    #expect(calls.now == count)
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

import BusSupport
import FocusKit
import Observation
import Synchronization
import TestSupport
import Testing

@Suite struct ObservationTests {
  private struct Item: Equatable {
    var name = "a"
    var count = 0
  }

  /// How many of `changes` are told to somebody who read `value` before each of them.
  private static func told(_ value: @escaping () -> Void, _ changes: [() -> Void]) -> [Bool] {
    changes.map { change in
      let isTold = Mutex(false)
      withObservationTracking(value) { isTold.withLock { $0 = true } }
      change()
      return isTold.withLock { $0 }
    }
  }

  @Test func eachChangeIsToldAndAnEqualWriteIsNot() {
    let state = State(wrappedValue: [Item(), Item()])
    let items = state.projectedValue
    let told = Self.told(
      { _ = items.wrappedValue },
      [
        { state.wrappedValue = [Item(), Item()] },
        { items[0].name.wrappedValue = "b" },
        { items[0].name.wrappedValue = "b" },
        { items[1].count.wrappedValue += 1 },
        { items[1].wrappedValue = Item(count: 1) },
        { state.wrappedValue.append(Item()) },
      ])
    #expect(told == [false, true, false, true, false, true])
  }

  @Test func whoeverReadsAProjectionIsToldOfTheSource() {
    let state = State(wrappedValue: Item())
    let name = state.projectedValue.name
    #expect(Self.told({ _ = name.wrappedValue }, [{ state.wrappedValue.name = "c" }]) == [true])
  }

  @Test func valuesThatCannotBeComparedAreAlwaysTold() {
    struct Opaque: Sendable { var number = 0 }
    let state = State(wrappedValue: Opaque())
    #expect(Self.told({ _ = state.wrappedValue }, [{ state.wrappedValue = Opaque() }]) == [true])
  }

  /// On one actor: what another thread changes between a read and the watch for it, Observation misses.
  @Test @MainActor func observationsSeeTheLastValue() async throws {
    let state = State(wrappedValue: 0)
    let seen = Observed<[Int]>([])
    let task = Task {
      for await value in Observations({ state.wrappedValue }) { seen.update { $0.append(value) } }
    }
    defer { task.cancel() }
    _ = try await seen.wait(for: "the first value") { $0.isEmpty ? nil : true }
    for value in 1...3 { state.wrappedValue = value }
    _ = try await seen.wait(for: "the last value") { $0.last == 3 ? true : nil }
    #expect(seen.now == seen.now.sorted())
  }
}

/// One of several keys of a field.
private struct Part: Hashable { let number: Int }

extension FocusedValues {
  fileprivate subscript(part: Part) -> String? {
    get { self["demo.Form.Part\(part.number)"] }
    set { self["demo.Form.Part\(part.number)"] = newValue }
  }
}

@Suite struct MessageTests {
  /// What one message tells is seen as a whole by whoever is told of any of it.
  @Test func keysThatChangeTogetherAreSeenTogether() async throws {
    try await TestDesktop.with { desktop in
      let parts = (0..<16).map { Part(number: $0) }
      let (owner, client) = (desktop.client(), desktop.client())
      let fields = ["one", "two"].map { text in
        parts.reduce(FocusField(text, client: owner)) { $0.focusedValue(\.[$1], text) }.register()
      }
      let read = parts.map { FocusedValue(\.[$0], client: client) }
      let seen = Observed<[Set<String?>]>([])
      let observations = parts.map { part in
        client.onChange(of: \.[part]) { _, _ in
          let values = Set(read.map(\.wrappedValue))
          seen.update { $0.append(values) }
        }
      }
      for turn in 1...20 {
        try await fields[turn % 2].focus()
        _ = try await seen.wait(for: "turn \(turn)") { $0.count >= turn * parts.count ? true : nil }
      }
      #expect(seen.now.allSatisfy { $0.count == 1 }, "\(seen.now.filter { $0.count != 1 }.count) mixtures")
      withExtendedLifetime(observations) {}
    }
  }
}

/// A model of the main actor, as a program with a user interface has it.
@MainActor @Observable private final class Model {
  var volume = 0.5 {
    willSet { MainActor.preconditionIsolated() }
  }
  @ObservationIgnored var ignored = 1.0
}

@Suite @MainActor struct MainActorTests {
  @Test func closuresOfTheMainActorAreCalledThere() async throws {
    let model = Model()
    let volume = Binding(get: { model.volume }, set: { model.volume = $0 })
    volume.wrappedValue = 0.25
    #expect(volume.wrappedValue == 0.25)
    await Task.detached { volume.wrappedValue += 0.5 }.value
    #expect(model.volume == 0.75)
  }

  @Test func aWaitForTheMainActorEndsWithItsClosure() async throws {
    let model = Model()
    let volume = Binding(get: { model.volume }, set: { model.volume = $0 })
    try await withThrowingTaskGroup { group in
      for number in 1...4 {
        group.addTask { try await onThread { for _ in 0..<500 { volume.wrappedValue = Double(number) } } }
      }
      try await group.waitForAll()
    }
    #expect(model.volume >= 1)
  }

  @Test(
    arguments: [
      { model in Binding(get: { model.volume }, set: { model.volume = $0 }) },
      { model in State(wrappedValue: model).projectedValue.volume },
      { model in Bindable(model).volume },
    ] as [@MainActor @Sendable (Model) -> Binding<Double>])
  fileprivate func whatAModelOfTheMainActorHasIsPublished(
    _ binding: @MainActor @Sendable (Model) -> Binding<Double>
  ) async throws {
    try await TestDesktop.with { desktop in
      let model = Model()
      let volume = binding(model)
      let field = FocusField("slider", client: desktop.client()).focusedValue(\.position, volume).register()
      try await field.focus()
      let reader = desktop.client()
      let seen = Changes(reader.changes(of: \.position))
      try await seen.wait(for: 0.5)
      #expect(try await reader.write(\.position, 0.75) == 0.75)
      #expect(model.volume == 0.75)
      model.volume = 0.25
      try await seen.wait(for: 0.25)
      await Task.detached { volume.update { $0 += 0.25 } }.value
      try await seen.wait(for: 0.5)
      await Task.detached { volume.wrappedValue -= 0.25 }.value
      try await seen.wait(for: 0.25)
      #expect(try await desktop.busctl(get: "demo.Slider.Position") == "d 0.25")
    }
  }

  /// What Observation does not know of is published if it is written through a binding.
  @Test func aMemberThatIsIgnoredIsPublishedAfterAWrite() async throws {
    try await TestDesktop.with { desktop in
      let model = State(wrappedValue: Model())
      let field = FocusField("slider", client: desktop.client()).focusedValue(\.position, model.projectedValue.ignored)
        .register()
      try await field.focus()
      let seen = Changes(desktop.client().changes(of: \.position))
      try await seen.wait(for: 1)
      model.projectedValue.ignored.wrappedValue = 2
      try await seen.wait(for: 2)
    }
  }

  /// A binding that is made of one of the main actor's, as by a helper that converts units.
  @Test @MainActor func aBindingOverOneOfTheMainActorIsFollowed() async throws {
    nonisolated func doubled(_ value: Binding<Double>) -> Binding<Double> {
      Binding(get: { value.wrappedValue * 2 }, set: { value.wrappedValue = $0 / 2 })
    }
    let model = Model()
    let volume = Binding(get: { model.volume }, set: { model.volume = $0 })
    var values = doubled(volume).changes().makeAsyncIterator()
    #expect(await values.next() == 1)
    model.volume = 0.25
    #expect(await values.next() == 0.5)
  }
}

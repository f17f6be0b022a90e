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

  @Test func observationsSeeTheLastValue() async throws {
    let state = State(wrappedValue: 0)
    let seen = Observed<[Int]>([])
    let task = Task {
      for await value in Observations({ state.wrappedValue }) {
        seen.update { $0.append(value) }
        if value == 3 { break }
      }
    }
    _ = try await seen.wait(for: "the first value") { $0.isEmpty ? nil : true }
    for value in 1...3 { state.wrappedValue = value }
    await task.value
    #expect(seen.now.last == 3)
    #expect(seen.now == seen.now.sorted())
  }
}

import BusSupport
import DBusTypes
import Synchronization
import TestSupport
import Testing

@testable import FocusKit

/// What is computed from a state by reading it.
private enum Shared { static let sums = State(wrappedValue: Sums()) }

private struct Sums: Equatable {
  var parts = [1, 2, 3]
  var total: Int {
    get { Shared.sums.wrappedValue.parts.reduce(0, +) }
    set { parts = [newValue] }
  }
}

/// An element that counts how often elements are compared, and how often they are converted.
private struct Counted: DBusRepresentable, Equatable {
  static let compared = Atomic(0)
  static let converted = Atomic(0)
  static let read = Atomic(0)
  var number: Int

  static var dbusType: DBusType { .int64 }

  init(_ number: Int) { self.number = number }
  init(dbusValue: DBusValue) throws {
    Self.read.add(1, ordering: .relaxed)
    number = try Int(dbusValue: dbusValue)
  }

  func dbusValue() throws -> DBusValue {
    Self.converted.add(1, ordering: .relaxed)
    return number.dbusValue()
  }

  static func == (left: Self, right: Self) -> Bool {
    compared.add(1, ordering: .relaxed)
    return left.number == right.number
  }
}

private struct CountedKey: FocusedValueKey {
  typealias Value = Binding<Counted>
  static let name = "demo.Form.Number"
}

extension FocusedValues {
  fileprivate var counted: CountedKey.Value? {
    get { self[CountedKey.self] }
    set { self[CountedKey.self] = newValue }
  }
  fileprivate var list: Binding<[Counted]>? {
    get { self["demo.Form.List"] }
    set { self["demo.Form.List"] = newValue }
  }
}

@Suite(.serialized) struct StateTests {
  @Test func whatReadsItsOwnStateIsPublishedAndWritten() async throws {
    try await TestDesktop.with { desktop in
      let field = FocusField("sums", client: desktop.client())
        .focusedValue(\.number, Shared.sums.projectedValue.total).register()
      try await field.focus()
      let seen = Changes(desktop.client().changes(of: \.number))
      try await seen.wait(for: 6)
      let isWritten = Observed(false)
      Task {
        try await onThread { Shared.sums.projectedValue.parts.wrappedValue = [4, 5] }
        isWritten.update { $0 = true }
      }
      _ = try await isWritten.wait(for: "the write") { $0 ? true : nil }
      try await seen.wait(for: 9)
    }
  }

  @Test func whoFollowsEndsWithTheLastValueOfManyWriters() async throws {
    let state = State(wrappedValue: 0)
    let seen = Observed<[Int]>([])
    let task = Task { for await value in state.changes() { seen.update { $0.append(value) } } }
    _ = try await seen.wait(for: "the first value") { $0.isEmpty ? nil : true }
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask { for _ in 0..<50 { state.wrappedValue += 1 } }
      }
    }
    let last = state.wrappedValue
    _ = try await seen.wait(for: "the last value") { $0.last == last ? true : nil }
    task.cancel()
  }

  @Test func whoIsHeldUpIsToldTheLastValue() {
    let number = Followed<Int, Int>(0) { $0 }
    let seen = Mutex<[Int]>([])
    let cancel = number.follow(withCurrent: true) { value in
      seen.withLock { $0.append(value) }
      // More changes than are kept for it, while it is told of the first value.
      for next in 1...1000 where value == 0 { number.set(next) }
    }
    let told = seen.withLock { $0 }
    #expect(told.first == 0 && told.last == 1000)
    #expect(told.count < 1000)
    #expect(told == told.sorted())
    cancel()
  }

  @Test func aWriteOfAnElementComparesThatAlone() {
    let count = 2000
    let state = State(wrappedValue: (0..<count).map { Counted($0) })
    let elements = Array(state.projectedValue)
    let before = Counted.compared.load(ordering: .relaxed)
    for (index, element) in elements.enumerated() { element.wrappedValue = Counted(-index) }
    #expect(state.wrappedValue.map(\.number) == (0..<count).map { -$0 })
    #expect(Counted.compared.load(ordering: .relaxed) - before <= 2 * count)
  }

  @Test func aChangeOfOneElementConvertsThatAlone() async throws {
    try await TestDesktop.with { desktop in
      let count = 300
      let owner = desktop.client()
      let state = State(wrappedValue: (0..<count).map { Counted($0) })
      let fields = (0..<count).map { index in
        FocusField("text\(index)", client: owner).focusedValue(\.counted, state.projectedValue[index]).register()
      }
      try await fields[7].focus()
      try await fields[count - 1].registered()
      let seen = Changes(desktop.client().changes(of: \.number))
      try await seen.wait(for: 7)
      let before = Counted.converted.load(ordering: .relaxed)
      state.projectedValue[7].wrappedValue = Counted(-7)
      try await seen.wait(for: -7)
      #expect(Counted.converted.load(ordering: .relaxed) - before <= 2)
    }
  }

  @Test func whoReadsAllElementsOfAFocusedListConvertsItOnce() async throws {
    try await TestDesktop.with { desktop in
      let count = 500
      let state = State(wrappedValue: (0..<count).map { Counted($0) })
      let field = FocusField("list", client: desktop.client()).focusedValue(\.list, state.projectedValue).register()
      try await field.focus()
      let reader = desktop.client()
      let list = FocusedBinding(\.list, client: reader)
      try await until("the list") { list.wrappedValue?.count == count }
      let elements = try #require(Binding(list.projectedValue))
      let before = Counted.read.load(ordering: .relaxed)
      #expect(elements.map(\.wrappedValue.number) == Array(0..<count))
      #expect(Counted.read.load(ordering: .relaxed) - before <= 2 * count)
      // What was converted is not shown any longer than it is the value.
      elements[7].wrappedValue = Counted(-7)
      #expect(elements[7].wrappedValue.number == -7)
      #expect(list.wrappedValue?[7].number == -7)
      // After the write.
      #expect(try await reader.read(\.list)?[7].number == -7)
      #expect(state.wrappedValue[7].number == -7)
    }
  }

  @Test func ofABurstFewAreToldAndTheLastIsAndWritesAreTaken() async throws {
    try await TestDesktop.with { desktop in
      let state = State(wrappedValue: 0)
      let field = FocusField("burst", client: desktop.client()).focusedValue(\.number, state.projectedValue).register()
      try await field.focus()
      let seen = Changes(desktop.client().changes(of: \.number))
      try await seen.wait(for: 0)
      try await onThread { for number in 1...30_000 { state.wrappedValue = number } }
      // A write is answered after the changes before it, and times out after five seconds.
      try await seen.wait(for: 30_000)
      #expect(try await desktop.focusctl("set", "Number", "-1").status == 0)
      #expect(state.wrappedValue == -1)
      try await onThread { for number in 1...30_000 { state.wrappedValue = number } }
      try await seen.wait(for: 30_000)
      #expect(try await desktop.busctl(get: "demo.Form.Number") == "x 30000")
      #expect(seen.all.count < 30_000)
    }
  }
}

extension Followed {
  /// Makes the content another, which nobody observes otherwise.
  func set(_ content: Content) {
    update(
      {
        $0 = content
        return true
      }, observed: {})
  }
}

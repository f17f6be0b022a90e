import BusSupport
import DBusTypes
import Dispatch
import EventLoop
import Glibc
import TestSupport
import Testing

@testable import FocusKit

private struct Tree: Codable, DBusRepresentable, Equatable {
  var children: [Tree] = []

  static func nested(_ depth: Int) -> Tree { depth == 0 ? Tree() : Tree(children: [nested(depth - 1)]) }
}

private struct Place: Codable, DBusRepresentable, Hashable { var x = 1 }

/// Calls `body` when it is freed.
private final class Freed: Sendable {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  func use() {}

  deinit { body() }
}

extension FocusedValues {
  fileprivate var tree: Binding<Tree>? {
    get { self["demo.Course.Tree"] }
    set { self["demo.Course.Tree"] = newValue }
  }
  fileprivate var places: Binding<[Place: Int]>? {
    get { self["demo.Course.Places"] }
    set { self["demo.Course.Places"] = newValue }
  }
  fileprivate var caption: Binding<String>? {
    get { self["demo.Course.Caption"] }
    set { self["demo.Course.Caption"] = newValue }
  }
  fileprivate var other: Binding<Int>? {
    get { self["demo.Course.Other"] }
    set { self["demo.Course.Other"] = newValue }
  }
  fileprivate var touch: (@Sendable () -> Void)? {
    get { self["demo.Course.Touch"] }
    set { self["demo.Course.Touch"] = newValue }
  }
}

/// What becomes of what a program does, whichever of its threads does it, and whatever else it does then.
@Suite struct CourseTests {
  @Test func whatAThreadAssignsComesAfterWhatAnotherHasCalled() async throws {
    try await TestDesktop.with { desktop in
      let (owner, user) = (desktop.client(), desktop.client())
      let log = Observed<[Int]>([])
      let binding = Binding<Int>(get: { 0 }, set: { value in log.update { $0.append(value) } })
      let field = FocusField("text1", client: owner).focusedValue(\.number, binding)
        .focusedValue(\.touch) { log.update { $0.append(-1) } }.register()
      try await field.focus()
      let form = FocusedBinding(\.number, client: user)
      let command = FocusedValue(\.touch, client: user)
      try await until("the value") { form.wrappedValue == 0 && command.wrappedValue != nil }
      let touch = try #require(command.wrappedValue)
      for round in 1...200 {
        let hasCalled = Observed(false)
        let isCalling = Observed(false)
        log.update { $0 = [] }
        let last = round * 1000 + 999
        try await withThrowingTaskGroup { group in
          group.addTask {
            try await onThread {
              while !isCalling.now { sched_yield() }
              touch()
              hasCalled.update { $0 = true }
            }
          }
          group.addTask {
            try await onThread {
              form.wrappedValue = round * 1000
              isCalling.update { $0 = true }
              var next = round * 1000 + 1
              while !hasCalled.now {
                form.wrappedValue = next
                next = min(next + 1, last - 1)
              }
              form.wrappedValue = last
            }
          }
          try await group.waitForAll()
        }
        let order = try await log.wait(for: "both") { $0.contains(-1) && $0.contains(last) ? $0 : nil }
        let (called, written) = (order.firstIndex(of: -1), order.firstIndex(of: last))
        guard let called, let written, called < written else {
          Issue.record("\(order)")
          break
        }
      }
      withExtendedLifetime(field) {}
    }
  }

  /// A value that a signal told has no known state: the write must read it first.
  @Test func whatIsAssignedBeforeAClientGoesIsSent() async throws {
    try await TestDesktop.with { desktop in
      let owner = desktop.client()
      let number = State(wrappedValue: 0)
      let field = FocusField("text1", client: owner).focusedValue(\.number, number.projectedValue).register()
      try await field.focus()
      do {
        let form = FocusedBinding(\.number, client: desktop.client())
        try await until("the value") { form.wrappedValue == 0 }
        number.wrappedValue = 50
        try await until("the signal") { form.wrappedValue == 50 }
        form.wrappedValue = 77
      }
      try await eventually("the write") { number.wrappedValue == 77 }
      withExtendedLifetime(field) {}
    }
  }

  @Test func whatOthersCannotBeShownIsNilAndReported() async throws {
    try await TestDesktop.with { desktop in
      let (owner, reader) = (desktop.client(), desktop.client())
      let errors = Errors(of: owner)
      let tree = State(wrappedValue: Tree())
      let caption = State(wrappedValue: "short")
      let field = FocusField("text1", client: owner).focusedValue(\.tree, tree.projectedValue)
        .focusedValue(\.caption, caption.projectedValue).register()
      try await field.focus()
      tree.wrappedValue = .nested(40)
      caption.wrappedValue = String(repeating: "x", count: 1 << 20)
      try await eventually("no tree") { try await reader.read(\.tree) == nil }
      try await eventually("no caption") { try await reader.read(\.caption) == nil }
      for part in [
        "'demo.Course.Tree' cannot be published: the value is nested",
        "'demo.Course.Caption' cannot be published: it takes 1048581 bytes",
      ] {
        try await errors.wait(forMessageWith: part)
      }
      tree.wrappedValue = .nested(2)
      caption.wrappedValue = "short again"
      try await eventually("the tree") { try await reader.read(\.tree) == .nested(2) }
      try await eventually("the caption") { try await reader.read(\.caption) == "short again" }
      withExtendedLifetime(field) {}
    }
  }

  @Test func aKeyOfNoTypeOfTheBusIsLeftOut() async throws {
    try await TestDesktop.with { desktop in
      let (owner, reader) = (desktop.client(), desktop.client())
      let errors = Errors(of: owner)
      let field = FocusField("text1", client: owner).focusedValue(\.places, .constant([Place(): 1]))
        .focusedValue(\.number, .constant(1)).register()
      try await field.focus()
      #expect(try await reader.read(\.number) == 1)
      try await errors.wait(forMessageWith: "'demo.Course.Places' has a value of type")
      withExtendedLifetime(field) {}
    }
  }

  @MainActor private static func ofMain(_ state: State<Int>) -> Binding<Int> {
    Binding(get: { @MainActor in state.wrappedValue }, set: { @MainActor in state.wrappedValue = $0 })
  }

  /// They have done their part, and are told so.
  @Test func whatEndsIsAnsweredBesideAGetterThatHangs() async throws {
    try await TestDesktop.with { desktop in
      let (owner, reader) = (desktop.client(), desktop.client())
      let (isHanging, goesOn) = (Observed(false), DispatchSemaphore(value: 0))
      let slow = State(wrappedValue: 0)
      let getter = Binding<Int>(
        get: {
          let value = slow.wrappedValue
          if value == 1, !isHanging.now {
            isHanging.update { $0 = true }
            goesOn.wait()
          }
          return value
        }, set: { _ in })
      let main = State(wrappedValue: 0)
      let runs = State(wrappedValue: 0)
      let field = FocusField("slow", client: owner).focusedValue(\.number, getter).register()
      let quick = FocusField("quick", client: owner).focusedValue(\.other, await Self.ofMain(main))
        .command("demo.Course.Note") { runs.update { $0 += 1 } }.register()
      try await field.registered()
      try await quick.focus()
      #expect(try await reader.read(\.other) == 0)
      slow.wrappedValue = 1
      _ = try await isHanging.wait(for: "the getter") { $0 ? true : nil }
      try await reader.run("demo.Course.Note")
      #expect(runs.wrappedValue == 1)
      #expect(try await reader.write(\.other, 7) == 7)
      #expect(main.wrappedValue == 7)
      goesOn.signal()
      withExtendedLifetime((field, quick)) {}
    }
  }

  /// Others change it without a pause.
  @Test func whoChangesAStateGoesOn() async throws {
    let isOver = Observed(false)
    let content = Followed(0) { $0 }
    let cancel = content.follow(withCurrent: false) { value in if !isOver.now { content.set(value + 1) } }
    let hasReturned = Observed(false)
    let change = Task {
      try await onThread {
        content.set(-1)
        hasReturned.update { $0 = true }
      }
    }
    let returned = try? await hasReturned.wait(for: "the end of an assignment") { $0 ? true : nil }
    isOver.update { $0 = true }
    #expect(returned == true)
    try await change.value
    cancel()
  }

  @Test func whatNobodyCanChangeAnyMoreEnds() async throws {
    var seen: [Int] = []
    let (state, constant) = ({ State(wrappedValue: 1).changes() }(), Binding.constant(2).changes())
    for stream in [state, constant] { for await value in stream { seen.append(value) } }
    #expect(seen == [1, 2])
    // What closures read may change.
    let other = State(wrappedValue: 3)
    var values = Binding(get: { other.wrappedValue }, set: { other.wrappedValue = $0 }).changes().makeAsyncIterator()
    #expect(await values.next() == 3)
    other.wrappedValue = 4
    #expect(await values.next() == 4)
  }

  @Test func whatAClosureHeldMayUseTheField() async throws {
    let client = FocusClient(address: "unix:path=/nonexistent")
    let field = FocusField("text1", client: client)
    let ids = Observed<[String?]>([])
    let change = Task {
      try await onThread {
        let held = Freed { ids.update { $0.append(field.id) } }
        field.command("demo.Course.Store") { held.use() }
      }
      try await onThread { field.command("demo.Course.Store") {} }
    }
    _ = try await ids.wait(for: "the end of what it held") { $0 == ["text1"] ? true : nil }
    try await change.value
    #expect(!client.hasStarted)
  }

  @Test func aFieldThatWasNeverRegisteredStartsNothing() {
    let client = FocusClient(address: "unix:path=/nonexistent")
    do { FocusField("text1", client: client).focusedValue(\.title, "a").unregister() }
    #expect(!client.hasStarted)
  }

  @Test func aRefusedFieldIsRegisteredOnceMore() async throws {
    try await TestDesktop.with { desktop in
      let (one, other) = (desktop.client(), desktop.client())
      other.onError { _ in }
      let first = FocusField("text1", client: one).focusedValue(\.title, "a").register()
      try await first.registered()
      let second = FocusField("text1", client: other).focusedValue(\.title, "b").register()
      await #expect(throws: FocusError.self) { try await second.registered() }
      first.unregister()
      try await eventually("the place") { (try? await second.register().registered()) != nil }
      try await second.focus()
      #expect(try await one.read(\.title) == "b")
    }
  }
}

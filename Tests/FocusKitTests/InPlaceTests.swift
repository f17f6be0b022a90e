import BusSupport
import DBusTypes
import Dispatch
import FocusKit
import Observation
import TestSupport
import Testing

/// A key without a name of its own.
private struct PlainKey: FocusedValueKey { typealias Value = Binding<Int> }

extension FocusedValues {
  /// A number that may be none, which D-Bus has as an array of none or one.
  fileprivate var rating: Binding<Int?>? {
    get { self["demo.Form.Rating"] }
    set { self["demo.Form.Rating"] = newValue }
  }
}

@Suite struct InPlaceTests {
  /// Both set what was none: merged as arrays, they would be a value of two, which no program could read.
  @Test func twoChangesOfAnOptionalAreAConflict() async throws {
    try await TestDesktop.with { desktop in
      let registration = ["register", "text1", "demo.Form.Rating:ax=[]", "--focus"]
      #expect(try await desktop.focusctl(registration).status == 0)
      let reader = desktop.client()
      let errors = Errors(of: reader)
      let shown = FocusedBinding(\.rating, client: reader)
      try await until("the value") { shown.wrappedValue == .some(.none) }
      let other = try await desktop.peer()
      // What the daemon is sent while it is stopped it takes in this order.
      desktop.daemon.terminate(19)
      let five = DBusValue.array(try DBusArray(of: .int64, [.int64(5)]))
      let write = other.begin(.write("demo.Form.Rating", five))
      try await other.flush()
      shown.projectedValue.wrappedValue! = 2
      desktop.daemon.terminate(18)
      try await write.values()
      try await errors.wait(for: FocusError.conflict)
      #expect(try await other.read("demo.Form.Rating").value == five)
    }
  }

  @Test func aKeyIsNamedAfterItsType() {
    #expect(PlainKey.name == "FocusKitTests.FocusedValues.PlainKey")
    #expect(NumberKey.name == "demo.Form.Number")
  }

  /// What happens between reading and writing of `number? *= 8`.
  @Test("A change in place is of the field that was read", arguments: [2, 1])
  func anInPlaceChangeIsOfTheFieldThatWasRead(other: Int) async throws {
    try await TestDesktop.with { desktop in
      for (id, value, options) in [("text1", 1, ["--focus"]), ("text2", other, [])] {
        let arguments = ["register", id, "demo.Form.Number:x=\(value)"] + options
        #expect(try await desktop.focusctl(arguments).status == 0)
      }
      let (reader, mover) = (desktop.client(), desktop.client())
      let errors = Errors(of: reader)
      let seen = Changes(reader.changes(of: \.number))
      try await seen.wait(for: 1)
      // On a thread of its own: it blocks, and what it waits for needs one of Swift's.
      try await onThread {
        let toolbar = Toolbar(reader)
        @FocusedBinding(\.number, client: reader) var shown
        Self.change(&toolbar.number) {
          let isMoved = DispatchSemaphore(value: 0)
          Task.detached {
            try await mover.focus("text2")
            // What the daemon told before its reply has been handled then.
            _ = try await reader.read(\.number)
            isMoved.signal()
          }
          isMoved.wait()
          Self.wait { shown == other }
        }
      }
      try await errors.wait(for: FocusError.conflict)
      try await seen.wait(for: other)
      @FocusedBinding(\.number, client: reader) var shown
      #expect(shown == other)
      for (id, value) in [("text1", "1"), ("text2", "\(other)")] {
        let read = try await desktop.focusctl("get", "Number", "--field", id)
        #expect(read.output == [value])
      }
    }
  }

  /// Two programs count, and each goes on before what it changed has been taken.
  @Test func noChangeInPlaceIsLostWhileOthersWait() async throws {
    try await TestDesktop.with { desktop in
      let state = State(wrappedValue: 0)
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.number, state.projectedValue).register()
      try await field.focus()
      let clients = [desktop.client(), desktop.client()]
      let toolbars = clients.map { Toolbar($0) }
      for toolbar in toolbars { try await until("the value") { toolbar.number == 0 } }
      await withTaskGroup { group in
        for (toolbar, step) in zip(toolbars, [1, 1000]) {
          group.addTask {
            for _ in 0..<200 {
              toolbar.number? += step
              await Task.yield()
            }
          }
        }
      }
      // A read comes after the writes of its client.
      for client in clients { _ = try await client.read(\.number) }
      #expect(state.wrappedValue == 200_200)
    }
  }

  /// A toolbar changes its own program's state, which that has assigned and not told yet.
  @Test("What the program assigned itself is not lost to a change that follows", arguments: [false, true])
  func ownAssignments(isUpdate: Bool) async throws {
    try await TestDesktop.with { desktop in
      let state = State(wrappedValue: 0)
      let client = desktop.client()
      let field = FocusField("text1", client: client).focusedValue(\.number, state.projectedValue).register()
      try await field.focus()
      let toolbar = Toolbar(client)
      try await until("the value") { toolbar.number == 0 }
      var lost: [Int] = []
      for number in 1...200 {
        state.wrappedValue = number * 10
        if isUpdate { try await client.update(\.number) { $0 += 1 } } else { toolbar.number? += 1 }
        _ = try await client.read(\.number)
        if state.wrappedValue != number * 10 + 1 { lost.append(number) }
      }
      #expect(lost == [])
    }
  }

  /// Swift changes a property in place, and reads and assigns a local variable.
  private struct Toolbar: Sendable {
    @FocusedBinding(\.number) var number
    init(_ client: FocusClient) { _number = FocusedBinding(\.number, client: client) }
  }

  private static func change(_ number: inout Int?, _ meanwhile: () -> Void) {
    guard let read = number else { return }
    meanwhile()
    number = read * 8
  }

  /// Waits, blocking this thread, until Observation tells of what makes `condition` true.
  private static func wait(for condition: () -> Bool) {
    let isChanged = DispatchSemaphore(value: 0)
    while !withObservationTracking(condition, onChange: { isChanged.signal() }) {
      _ = isChanged.wait(timeout: .now() + 60)
    }
  }
}

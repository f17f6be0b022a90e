import BusSupport
import Dispatch
import FocusKit
import Observation
import TestSupport
import Testing

/// A key without a name of its own.
private struct PlainKey: FocusedValueKey { typealias Value = Binding<Int> }

@Suite struct InPlaceTests {
  @Test func aKeyIsNamedAfterItsType() {
    #expect(PlainKey.name == "FocusKitTests.FocusedValues.PlainKey")
    #expect(NumberKey.name == "demo.Form.Number")
  }

  /// What happens between reading and writing of `number? *= 8`.
  @Test func anInPlaceChangeIsOfTheFieldThatWasRead() async throws {
    try await TestDesktop.with { desktop in
      for (id, value, options) in [("text1", 1, ["--focus"]), ("text2", 2, [])] {
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
          Task.detached { try await mover.focus("text2") }
          Self.wait { shown == 2 }
        }
      }
      try await errors.wait(for: FocusError.conflict)
      try await seen.wait(for: 2)
      @FocusedBinding(\.number, client: reader) var shown
      #expect(shown == 2)
      for (id, value) in [("text1", "1"), ("text2", "2")] {
        let read = try await desktop.focusctl("get", "Number", "--field", id)
        #expect(read.output == [value])
      }
    }
  }

  /// Swift changes a property in place, and reads and assigns a local variable.
  private struct Toolbar {
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

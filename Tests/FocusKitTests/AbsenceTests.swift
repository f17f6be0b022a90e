import BusSupport
import DBusTypes
import Dispatch
import FocusKit
import TestSupport
import Testing

/// What a program does while the daemon is away is so when it is back.
@Suite struct AbsenceTests {
  @Test func aFieldThatIsLetGoOfIsGone() async throws {
    try await TestDesktop.with { desktop in
      let owner = desktop.client()
      let window = FocusField("window", client: owner).register()
      var fields = ["text1", "text2"].map { id in
        FocusField(id, parent: window, client: owner).focusedValue(\.number, .constant(1)).register()
      }
      try await fields[1].focus()
      for field in fields { try await field.registered() }
      try await desktop.kill()
      let error = await #expect(throws: FocusError.self) { try await owner.read(\.number) }
      #expect(error?.message.hasPrefix("focusd is not on this bus; if it is installed, 'systemctl") == true)
      for field in fields { field.unregister() }
      fields = [FocusField("text1", client: owner).focusedValue(\.number, .constant(2)).register()]
      try await desktop.start()
      try await fields[0].registered()
      let peer = try await desktop.peer()
      #expect(try await peer.fields() == ["text1", "window"])
      #expect(try await peer.read("demo.Form.Number", at: Focus1.field("text1")).value == .int64(2))
      #expect(try await peer.fields("FocusPath") == ["window"])
      // The next daemon takes nothing away that is there again.
      try await desktop.crash()
      try await window.focus()
      #expect(try await peer.fields() == ["text1", "window"])
    }
  }

  @Test func theChildrenOfAFieldThatWasRemovedComeBackWhereTheyWere() async throws {
    try await TestDesktop.with { desktop in
      let (owner, peer) = (desktop.client(), try await desktop.peer())
      let window = FocusField("window", client: owner).register()
      let panel = FocusField("panel", parent: window, client: owner).register()
      let entry = FocusField("entry", parent: panel, client: owner).focusedValue(\.number, .constant(1)).register()
      try await entry.registered()
      panel.unregister()
      try await eventually("no panel") { try await peer.fields() == ["entry", "window"] }
      try await desktop.crash()
      try await entry.focus()
      #expect(try await peer.fields("FocusPath") == ["entry", "window"])
    }
  }

  @Test func whatAFieldPublishesIsLetGoOfWithoutADaemonToo() async throws {
    final class Model: Sendable {}
    try await TestDesktop.with { desktop in
      let owner = desktop.client()
      try await desktop.kill()
      let window = FocusField("window", client: owner).register()
      var model: Model? = Model()
      weak let watched = model
      var field: FocusField? = FocusField("text1", parent: window, client: owner)
        .focusedValue(\.save) { [model] in _ = model }.register()
      model = nil
      #expect(watched != nil)
      field?.unregister()
      field = nil
      try await eventually("the model's end") { watched == nil }
      withExtendedLifetime(window) {}
    }
  }

  @Test func aCommandThatIsTurnedOnIsOn() async throws {
    try await TestDesktop.with { desktop in
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.save) {}.register()
      try await field.focus()
      try await field.setEnabled(\.save, false)
      let peer = try await desktop.peer()
      #expect(try await peer.commands() == ["demo.Form.Save": false])
      try await desktop.kill()
      let task = Task { try await field.setEnabled(\.save, true) }
      task.cancel()
      _ = await task.result
      try await desktop.start()
      try await eventually("it is on") { try await peer.commands() == ["demo.Form.Save": true] }
    }
  }
}

/// Keys that fields begin and cease to publish while they have focus.
@Suite struct LatePublicationTests {
  @Test func theValueOfAKeyThatCameLateIsWritten() async throws {
    try await TestDesktop.with { desktop in
      let owner = desktop.client()
      let (outer, inner) = (State(wrappedValue: 1), State(wrappedValue: 2))
      let window = FocusField("window", client: owner).focusedValue(\.number, outer.projectedValue).register()
      let entry = FocusField("entry", parent: window, client: owner).focusedValue(\.title, "entry").register()
      try await entry.focus()
      @FocusedBinding(\.number, client: desktop.client()) var shown
      try await until("the window's") { [$shown] in $shown.wrappedValue == 1 }
      entry.focusedValue(\.number, inner.projectedValue)
      try await until("its own") { [$shown] in $shown.wrappedValue == 2 }
      // What was read may be the window's: the first write may be refused.
      try await eventually("it is written") {
        shown = 5
        return inner.wrappedValue == 5
      }
      #expect(outer.wrappedValue == 1)
    }
  }

  /// The daemon sends no signal when the disk has space again.
  @Test func fieldsThatCannotBeSavedComeOnceTheyCan() async throws {
    try await TestDesktop.with { desktop in
      let (client, judge) = (desktop.client(), try await desktop.peer())
      let old = FocusField("old", client: client).focusedValue(\.title, "old").register()
      try await old.registered()
      let errors = Errors(of: client)
      try await desktop.limitFiles(to: "0")
      let fields = ["one", "two"].map { FocusField($0, client: client).focusedValue(\.title, $0).register() }
      for field in fields {
        let error = await #expect(throws: FocusError.self) { try await field.registered() }
        #expect(error?.name.hasSuffix(".IOError") == true)
      }
      let unnamed = FocusField("", client: client).focusedValue(\.title, "unnamed").register()
      await #expect(throws: FocusError.self) { try await unnamed.registered() }
      old.unregister()
      #expect(try await judge.fields() == ["old"])
      try await desktop.limitFiles(to: "unlimited")
      try await eventually("what the program has") { try await judge.fields().count == 3 }
      try await unnamed.registered()
      #expect(try await judge.fields() == ["one", "two", #require(unnamed.id)].sorted())
      try await fields[1].focus()
      #expect(try await judge.fields("FocusPath") == ["two"])
      #expect(errors.all.count == 1)
    }
  }

  @Test func aFieldThatGoesWhileAKeyComesIsNoError() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      let errors = Errors(of: client)
      for _ in 0..<20 {
        let number = State(wrappedValue: 0)
        let field = FocusField("form", client: client).focusedValue(\.number, number.projectedValue).register()
        try await field.registered()
        for value in 1...3 { number.wrappedValue = value }
        field.focusedValue(\.title, "late")
        field.unregister()
      }
      let last = FocusField("last", client: client).focusedValue(\.title, "last").register()
      try await last.focus()
      #expect(errors.all.isEmpty)
    }
  }

  @Test func aBindingIsNilWhileAnotherTypeIsPublished() async throws {
    try await TestDesktop.with { desktop in
      let peer = try await desktop.peer()
      try await peer.register("other", [("demo.Form.Number", .string("text"))])
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.number, .constant(5)).register()
      try await field.focus()
      let number = FocusedValue(\.number, client: desktop.client())
      try await until("a number") { number.wrappedValue?.wrappedValue == 5 }
      try await peer.focus("other")
      try await until("none") { number.wrappedValue == nil }
      try await field.focus()
      try await until("a number") { number.wrappedValue?.wrappedValue == 5 }
    }
  }

  @Test func aCommandThatCameLateFollowsWritesToo() async throws {
    try await inTime("an owner that answers") {
      try await TestDesktop.with { desktop in
        let (number, stored) = (State(wrappedValue: 0), State(wrappedValue: [Int]()))
        let (gate, hasBegun) = (DispatchSemaphore(value: 0), Observed(false))
        let binding = Binding(get: { number.wrappedValue }) { value in
          hasBegun.update { $0 = true }
          gate.wait()
          number.wrappedValue = value
        }
        let field = FocusField("form", client: desktop.client()).focusedValue(\.number, binding).register()
        try await field.focus()
        field.command("demo.Form.Store") { stored.update { $0.append(number.wrappedValue) } }
        let caller = try await desktop.peer()
        try await eventually("the command") { try await caller.commands()["demo.Form.Store"] == true }
        let calls = [caller.begin(.set("demo.Form.Number", .int64(7))), caller.begin(.invoke("demo.Form.Store"))]
        try await hasBegun.wait(for: "the write") { $0 ? () : nil }
        // What came before this has reached the owner, who is given up if this takes 4 s.
        _ = try await caller.read("demo.Form.Title")
        gate.signal()
        for call in calls {
          let refusal = try await call.refusal()
          if refusal == "Timeout" { return false }
          #expect(refusal == nil)
        }
        #expect(stored.wrappedValue == [7])
        return true
      }
    }
  }

  @Test func aKeyThatComesBackShowsNoFormerValue() async throws {
    try await TestDesktop.with { desktop in
      let number = State(wrappedValue: 1)
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.number, number.projectedValue)
        .register()
      try await field.focus()
      let seen = Changes(desktop.client().changes(of: \.number))
      try await seen.wait(for: 1)
      number.wrappedValue = 2
      try await seen.wait(for: 2)
      field.focusedValue(\.number, nil)
      try await seen.wait(for: nil)
      let before = seen.all.count
      field.focusedValue(\.number, .constant(3))
      try await seen.wait(for: 3)
      #expect(!seen.all[before...].contains(2), "\(seen.all)")
    }
  }
}

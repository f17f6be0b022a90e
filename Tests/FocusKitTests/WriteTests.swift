import BusSupport
import FocusKit
import Synchronization
import TestSupport
import Testing

/// Writes through `@FocusedBinding`, queued and from several readers.
@Suite struct WriteTests {
  /// As a view has it.
  private struct Toolbar: Sendable {
    @FocusedBinding(\.number) var number
    init(_ client: FocusClient) { _number = FocusedBinding(\.number, client: client) }
  }

  @Test func writesThatWaitAreOneAndTheirRefusalToo() async throws {
    try await TestDesktop.with { desktop in
      let taken = Atomic(0)
      let state = State(wrappedValue: 0)
      let owner = desktop.client()
      let field = FocusField("text1", client: owner)
        .focusedValue(\.number, state.projectedValue) { _ in taken.add(1, ordering: .relaxed) }.register()
      try await field.focus()
      let reader = desktop.client()
      let errors = Errors(of: reader)
      let seen = Changes(reader.changes(of: \.number))
      try await seen.wait(for: 0)
      let toolbar = Toolbar(reader)
      try await onThread {
        for number in 1...20_000 {
          toolbar.number = number
          #expect(toolbar.number == number)
        }
      }
      try await eventually("the last write is made") { state.wrappedValue == 20_000 }
      #expect(taken.load(ordering: .relaxed) < 10_000)
      #expect(errors.all.isEmpty)
      // The daemon takes nothing until it has gone.
      desktop.daemon.terminate(19)
      try await onThread { for number in 1...15_000 { toolbar.number = number } }
      #expect(toolbar.number == 15_000)
      field.unregister()
      desktop.daemon.terminate(18)
      try await seen.wait(for: nil)
      try await eventually("the writes are over") { toolbar.number == nil }
      // One of the write under way, which is told apart if focus is seen to move first, and one of all that waited.
      #expect(errors.all.count <= 2)
    }
  }

  @Test func aRefusalUndoesWhatWasMadeOnTheRefusedValue() async throws {
    try await TestDesktop.with { desktop in
      let state = State(wrappedValue: 0)
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.number, state.projectedValue) { number in
        if number == 1 { throw FocusError("not one") }
      }.register()
      try await field.focus()
      let reader = desktop.client()
      let errors = Errors(of: reader)
      let toolbar = Toolbar(reader)
      try await until("the value") { toolbar.number == 0 }
      desktop.daemon.terminate(19)
      toolbar.number = 1
      // The client's thread reports a misread key after it has sent the write: the next is another.
      let misread = FocusedValue(\.numberAsText, client: reader)
      #expect(misread.wrappedValue == nil)
      try await errors.wait(count: 1)
      toolbar.number = 2
      desktop.daemon.terminate(18)
      try await errors.wait(count: 2)
      #expect(errors.all.last?.message == "not one")
      #expect(toolbar.number == 0)
      #expect(try await reader.read(\.number) == 0)
      #expect(state.wrappedValue == 0)
      #expect(errors.all.count == 2)
    }
  }

  @Test func changesInPlaceOfTwoProcessesAreAllMade() async throws {
    try await TestDesktop.play(3) { desktop, players in
      let (owner, others) = (players[0], players[1...])
      try await owner.play("register lamps lamps=[] number=0")
      try await owner.play("focus lamps")
      for player in others {
        try await eventually("the list is known") { try await player.play("read lamps") == "[]" }
      }
      // Each change carries the whole list: a thousand of each take a debug build minutes.
      let (count, updates) = isSlow ? (1000, 1000) : (200, 50)
      for order in ["grow \(count)", "update-lamps \(updates)", "count \(count)"] {
        let orders = others.map { player in Task { try await player.play(order, within: .seconds(600)) } }
        for order in orders { #expect(try await order.value == "done") }
      }
      let lit = "[" + [String](repeating: "true", count: 2 * (count + updates)).joined(separator: ",") + "]"
      try await eventually("all lamps are there") { try await owner.play("source lamps.lamps") == lit }
      try await eventually("all is counted") { try await owner.play("source lamps.number") == "\(2 * count)" }
      for player in others { #expect(player.errors.isEmpty) }
    }
  }

  @Test func anUpdateIsOfTheFieldThatItReadAndReturnsWhatItCameTo() async throws {
    try await TestDesktop.with { desktop in
      let position = State(wrappedValue: 0.5)
      let rounded = Binding(get: { position.wrappedValue }, set: { position.wrappedValue = ($0 * 2).rounded() / 2 })
      let field = FocusField("slider", client: desktop.client()).focusedValue(\.position, rounded).register()
      try await field.focus()
      let client = desktop.client()
      #expect(try await client.update(\.position) { $0 += 0.4 } == 1)
      #expect(try await client.update("demo.Slider.Position") { (value: inout Double) in value = 0.5 } == 0.5)
      let none = await #expect(throws: FocusError.self) { try await client.update(\.number) { $0 += 1 } }
      #expect(none?.name == FocusError.notFocused)
      let refused = await #expect(throws: FocusError.self) {
        try await client.update(\.position) { _ in throw FocusError("not now") }
      }
      #expect(refused?.message == "not now")
    }
  }
}

extension FocusedValues {
  /// As a program reads it that takes the key for a text.
  fileprivate var numberAsText: String? {
    get { self["demo.Form.Number"] }
    set { self["demo.Form.Number"] = newValue }
  }
}

import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Programs in Java, as their bridge shows them.
@Suite struct JavaTests {
  private static func withElement(
    _ element: StubElement, _ body: (AccessibleDesktop, StubProgram) async throws -> Void
  ) async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(toolkit: "J2SE-access-bridge")
      program.set("/element", element)
      program.activate()
      program.focus("/element")
      try await body(desktop, program)
    }
  }

  private static func entry(_ text: String, role: UInt32 = 61) -> StubElement {
    var entry = StubElement.entry(text, role: role)
    entry.lacksSurrogates = true
    return entry
  }

  /// Java would cut it.
  @Test(arguments: [("Text.Content", "Grüße – "), ("Text.SelectedText", "Grüße – abc")])
  func whatItCannotTakeIsRefusedBeforeAnythingIsChanged(key: String, result: String) async throws {
    try await Self.withElement(Self.entry("abc")) { desktop, program in
      try await desktop.waits(for: "Text.Content", .string("abc"))
      let refusal = try await desktop.refusal(key, .string("smile \u{1F600}!"))
      #expect(refusal?.shortName == "NotSupported", "\(refusal as Any)")
      #expect(program.state.now.elements["/element"]?.text == "abc")
      try await desktop.set(key, .string("Grüße – "))
      #expect(program.state.now.elements["/element"]?.text == result)
    }
  }

  @Test func aPasswordLikewise() async throws {
    try await Self.withElement(Self.entry("abc", role: 40)) { desktop, program in
      try await desktop.waits(for: "Element.Role", .string("password"))
      #expect(try await desktop.refusal("Text.Content", .string("\u{1F600}"))?.shortName == "NotSupported")
      #expect(program.state.now.elements["/element"]?.text == "abc")
    }
  }

  /// It is no password: what is typed there is inserted, and the text is known again when the character is gone.
  @Test func aTextThatItCannotTellIsNotKnownAndTakesWhatIsTyped() async throws {
    var entry = Self.entry("ab\u{1F600}")
    entry.selection = (0, 1)
    try await Self.withElement(entry) { desktop, program in
      try await desktop.waits(for: "Text.SelectedText", .string("a"))
      for key in ["Text.Content", "Text.Caret", "Text.Length"] { #expect(try await desktop.get(key) == nil, "\(key)") }
      try await desktop.set("Text.SelectedText", .string("xy"))
      #expect(program.state.now.elements["/element"]?.text == "xyb\u{1F600}")
      program.change("/element") { $0.text = "plain" }
      program.textChanged("/element")
      try await desktop.waits(for: "Text.Content", .string("plain"))
    }
  }

  /// It tells the smallest number there is as a step, and takes no values.
  @Test(arguments: [UInt32(51), 52]) func aRangeIsMovedByItsOwnActions(role: UInt32) async throws {
    var slider = StubElement.slider(99)
    (slider.role, slider.step, slider.ignoresWrites) = (role, .leastNonzeroMagnitude, true)
    (slider.actions, slider.interfaces) = (["decrement", "increment"], ["Action", "Value", "Component"])
    try await Self.withElement(slider) { desktop, program in
      try await desktop.waits(for: "Range.Value", .double(99))
      #expect(try await desktop.get("Range.Step") == .double(0))
      for _ in 0..<2 { try await desktop.run("Range.Increment") }
      #expect(program.state.now.elements["/element"]?.value == 100)
      try await desktop.run("Range.Decrement")
      #expect(program.state.now.elements["/element"]?.value == 99)
      #expect(try await desktop.get("Range.Value") == .double(99))
    }
  }
}

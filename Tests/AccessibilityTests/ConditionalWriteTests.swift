import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Writes that hold only for the value that was read: the program's own decides, whatever the daemon was told of it.
@Suite struct ConditionalWriteTests {
  private static func withProgram(
    _ element: StubElement, _ body: (AccessibleDesktop, StubProgram) async throws -> Void
  ) async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program()
      program.set("/element", element)
      program.focusSilently("/element")
      program.activate()
      program.focus("/element")
      try await desktop.waits(for: "Window.Title", .string("The window"))
      try await body(desktop, program)
    }
  }

  /// Selects the whole text, and returns a write of `key` that holds only for that.
  private static func writeOfSelectedText(
    _ key: String, _ desktop: AccessibleDesktop, _ program: StubProgram
  ) async throws -> DaemonCall {
    program.change("/element") { ($0.text, $0.selection) = ("typed", (0, 5)) }
    program.textChanged("/element")
    try await desktop.waits(for: key, .string("typed"))
    return try await desktop.write(of: key, .string("mine"))
  }

  @Test func aTextThatTheProgramHasChangedSilentlyStays() async throws {
    try await Self.withProgram(.entry("typed")) { desktop, program in
      for key in ["Text.Content", "Text.SelectedText"] {
        let write = try await Self.writeOfSelectedText(key, desktop, program)
        program.change("/element") { ($0.text, $0.selection) = ("undone", (0, 6)) }
        #expect(try await refusal { try await desktop.session.call(write) } == "Conflict")
        #expect(program.text(of: "/element") == "undone")
        #expect(try await desktop.get(key) == .string("undone"))
      }
    }
  }

  @Test func aKeyBetweenTheLookAndTheWriteStays() async throws {
    try await Self.withProgram(.entry("typed")) { desktop, program in
      for key in ["Text.Content", "Text.SelectedText"] {
        let write = try await Self.writeOfSelectedText(key, desktop, program)
        // Right after it has told the text once more.
        program.change("/element") { $0.textAfterText = "Ktyped" }
        #expect(try await refusal { try await desktop.session.call(write) } == "Conflict")
        #expect(program.text(of: "/element") == "Ktyped")
        program.change("/element") { $0.textAfterText = nil }
        // A write that depends on nothing is taken, whatever was read before.
        try await desktop.set(key, .string("plain"))
        program.change("/element") { $0.text = "typed" }
        try await desktop.set("Text.Content", .string("again"))
        #expect(program.text(of: "/element") == "again")
      }
    }
  }

  /// Each try of `focusctl update` depends on what was read right before it, though a write has just failed, or was told.
  @Test func aKeyBetweenTheNextLookAndItsWriteStays() async throws {
    try await Self.withProgram(.entry("typed")) { desktop, program in
      for isTaken in [false, true] {
        let first = try await Self.writeOfSelectedText("Text.Content", desktop, program)
        if !isTaken { program.change("/element") { $0.textAfterText = "Ktyped" } }
        #expect(try await refusal { try await desktop.session.call(first) } == (isTaken ? nil : "Conflict"))
        let next = try await desktop.write(of: "Text.Content", .string("next"))
        program.change("/element") { $0.textAfterText = "KKtyped" }
        #expect(try await refusal { try await desktop.session.call(next) } == "Conflict")
        #expect(program.text(of: "/element") == "KKtyped")
        program.change("/element") { $0.textAfterText = nil }
      }
    }
  }

  @Test func aRangeAndAToggleThatTheProgramHasChangedSilentlyStay() async throws {
    try await Self.withProgram(.slider(3)) { desktop, program in
      let write = try await desktop.write(of: "Range.Value", .double(4))
      program.change("/element") { $0.value = 50 }
      #expect(try await refusal { try await desktop.session.call(write) } == "Conflict")
      #expect(program.state.now.elements["/element"]?.value == 50)
      program.set("/check", .check(false))
      program.focus("/check")
      try await desktop.waits(for: "Toggle.Checked", .boolean(false))
      let check = try await desktop.write(of: "Toggle.Checked", .boolean(false))
      program.change("/check") { $0.states |= StubElement.checked }
      #expect(try await refusal { try await desktop.session.call(check) } == "Conflict")
      #expect(try await desktop.get("Toggle.Checked") == .boolean(true))
    }
  }

  @Test func anUpdateStartsFromWhatTheProgramHas() async throws {
    try await Self.withProgram(.entry("typed")) { desktop, program in
      try await desktop.waits(for: "Text.Content", .string("typed"))
      program.change("/element") { $0.text = "undone" }
      #expect(try await desktop.desktop.focusctl("update", "Text.Content", "append", "!").succeeded)
      #expect(program.text(of: "/element") == "undone!")
    }
  }

  @Test func whatTheSameClientHasInsertedBeforeStays() async throws {
    try await Self.withProgram(.entry("")) { desktop, program in
      let write = try await desktop.write(of: "Text.Content", .string("mine"))
      let inserted = desktop.session.begin(.invoke("org.focusd.Text.Insert", [.string("inserted")]))
      #expect(try await refusal { try await desktop.session.call(write) } == "Conflict")
      _ = try await inserted.values()
      #expect(program.text(of: "/element") == "inserted")
    }
  }

  @Test func nothingIsWrittenIfTheProgramDoesNotTellWhatItHas() async throws {
    try await Self.withProgram(.entry("typed")) { desktop, program in
      let write = try await desktop.write(of: "Text.Content", .string("mine"))
      program.change("/element") { ($0.text, $0.answers) = ("undone", ["GetRole": DBusValue?.none]) }
      // The bridge may have read the element again by itself, and found that it does not tell.
      #expect(try await refusal { try await desktop.session.call(write) } != nil)
      #expect(program.text(of: "/element") == "undone")
      #expect([.string("typed"), nil].contains(try await desktop.get("Text.Content")))
    }
  }
}

extension DaemonSession {
  /// A write of `value` that holds only for the value that `key` has now.
  func write(of key: String, _ value: DBusValue) async throws -> DaemonCall {
    let key = "org.focusd." + key
    return .write(key, value, [("revision", .uint64(try await session.read(key).revision))])
  }
}

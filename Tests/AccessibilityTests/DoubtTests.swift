import BusSupport
import DBusTypes
import TestSupport
import Testing

/// What programs say of focus that is not so, and what they do not say.
@Suite struct DoubtTests {
  /// A program in front whose entry has focus, beside a button, and which tells that an item of `view` has it.
  private static func play(
    toolkit: String, version: String = "4.12", _ view: StubElement, itemRole: UInt32, itemStates: UInt64 = 0,
    _ body: (AccessibleDesktop, StubProgram, _ tell: () -> Void) async throws -> Void
  ) async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program("program", toolkit: toolkit, version: version, entry: "abc")
      program.set("/button", StubElement(role: 43, states: StubElement.focusable, name: "Next"))
      program.set("/view", view)
      program.set("/item", StubElement(role: itemRole, states: itemStates, name: "An item", parent: "/view"))
      try await body(desktop, program) { program.stateChanged("/item", "focused", 1) }
    }
  }

  private static func move(from old: String, to new: String, of program: StubProgram) {
    program.change(old) { $0.states &= ~StubElement.focused }
    program.change(new) { $0.states |= StubElement.focused }
  }

  /// A view of Qt 5 does not say whether it has focus: its items have it after it, and what the program does in another has not.
  @Test func anItemOfAViewThatTellsNothingHasFocusAfterIt() async throws {
    try await Self.play(
      toolkit: "Qt", version: "5.15.8", StubElement(role: 31, states: 0), itemRole: 32, itemStates: StubElement.focused
    ) { desktop, program, tell in
      Self.move(from: "/entry", to: "/button", of: program)
      program.stateChanged("/button", "focused", 1)
      try await desktop.waits(for: "Element.Name", .string("Next"))
      func staysAt(_ path: String, _ name: String, after tell: () -> Void, isAskedFor view: String) async throws {
        try await program.isAskedForStates(of: view, after: tell)
        program.change(path) { $0.name = name }
        program.nameChanged(path)
        try await desktop.waits(for: "Element.Name", .string(name))
      }
      try await staysAt("/button", "Continue", after: tell, isAskedFor: "/view")
      program.change("/button") { $0.states &= ~StubElement.focused }
      try await staysAt("/button", "Go on", after: tell, isAskedFor: "/view")
      program.stateChanged("/view", "focused", 1)
      try await desktop.waits(for: "Element.Role", .string("list"))
      tell()
      try await desktop.waits(for: "Element.Name", .string("An item"))
      // More than are remembered.
      for number in 1...12 {
        program.set(
          "/item\(number)", StubElement(role: 32, states: StubElement.focused, name: "Item \(number)", parent: "/view"))
        program.stateChanged("/item\(number)", "focused", 1)
        try await desktop.waits(for: "Element.Name", .string("Item \(number)"))
      }
      program.set("/view2", StubElement(role: 31, states: 0))
      program.set("/other", StubElement(role: 32, states: StubElement.focused, name: "Another", parent: "/view2"))
      let tellOther = { program.stateChanged("/other", "focused", 1) }
      try await staysAt("/item12", "The last", after: tellOther, isAskedFor: "/view2")
    }
  }

  /// GTK 3 tells focus of the tab of each page that is turned, also by the program, and of the entry that it has none.
  @Test func aTabHasFocusIfItsNotebookHas() async throws {
    try await Self.play(
      toolkit: "gtk", version: "3.24.38", StubElement(role: 38), itemRole: 37
    ) { desktop, program, tell in
      program.change("/entry") { $0.states &= ~StubElement.focused }
      try await program.isAskedForStates(of: "/view", after: tell)
      program.change("/entry") { $0.text = "typed" }
      program.textChanged("/entry")
      try await desktop.waits(for: "Text.Content", .string("typed"))
      program.change("/view") { $0.states |= StubElement.focused }
      tell()
      try await desktop.waits(for: "Element.Role", .string("tab"))
    }
  }

  /// GTK 3 tells focus of an icon that the program selects, as what is typed in an entry finds it.
  @Test func anIconLeavesFocusToTheEntry() async throws {
    try await Self.play(
      toolkit: "gtk", version: "3.24.38", StubElement(role: 39), itemRole: 26
    ) { desktop, program, tell in
      try await program.isAskedForStates(of: "/entry", after: tell)
      program.change("/entry") { $0.text = "typed" }
      program.textChanged("/entry")
      try await desktop.waits(for: "Text.Content", .string("typed"))
      program.change("/entry") { $0.states &= ~StubElement.focused }
      tell()
      try await desktop.waits(for: "Element.Role", .string("img"))
    }
  }

  /// In Qt the tab in front says that it has focus, also if something below it has.
  @Test func whatIsInAPageHasFocusNotItsTab() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program("settings", toolkit: "Qt")
      program.set("/tab", StubElement(role: 37, states: StubElement.focused, name: "First"))
      program.set("/page", StubElement(role: 20))
      program.set("/group", StubElement(role: 39, parent: "/page"))
      program.set("/check", .check(true))
      program.change("/check") { ($0.parent, $0.states) = ("/group", $0.states | StubElement.focused) }
      program.activate()
      try await desktop.waits(for: "Toggle.Checked", .boolean(true))
    }
  }

  /// GTK 4.8 gives a window the role of a filler if something in it has taken focus before it was shown.
  @Test func aWindowWithoutTheRoleOfOneComesToTheFront() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program("editor", toolkit: "GTK", version: "4.8.3", entry: "abc")
      program.set("/second", StubElement(role: 20, states: 0, name: "Second", parent: StubProgram.root))
      program.set("/inner", StubElement(role: 20, states: 0, name: "Inner"))
      program.set("/other", .entry("second"))
      program.change("/other") { ($0.parent, $0.states) = ("/second", $0.states | StubElement.focused) }
      program.stateChanged("/inner", "active", 1)
      program.stateChanged("/second", "active", 1)
      try await desktop.waits(for: "Text.Content", .string("second"))
      #expect(try await desktop.get("Window.Title") == .string("Second"))
    }
  }
}

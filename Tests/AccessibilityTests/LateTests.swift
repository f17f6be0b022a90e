import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Programs that are late, and tell nothing more once they are there.
@Suite struct LateTests {
  /// A program with an entry in its window, which is not in front.
  private static func withProgram(
    _ body: (AccessibleDesktop, StubProgram) async throws -> Void
  ) async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program()
      program.change("/window") { $0.states = 0 }
      program.set("/entry", .entry("late"))
      program.change("/entry") { $0.name = "An entry" }
      try await body(desktop, program)
    }
  }

  /// Waits until an object has been asked for something, which it has answered.
  private static func asked(_ program: StubProgram, _ member: String, at path: String, times: Int = 1) async throws {
    try await program.state.wait(for: "\(member) at \(path)") { state in
      state.calls.count { $0.path == path && $0.member == member } >= times ? () : nil
    }
  }

  /// Shows a check box whose program does not tell its name yet.
  private static func showCheckBox(in desktop: AccessibleDesktop, _ program: StubProgram) async throws {
    program.set("/check", .check(true))
    program.change("/check") { ($0.name, $0.lateProperties) = ("A check box", ["Accessible.Name"]) }
    program.activate()
    program.focus("/check")
    try await desktop.waits(for: "Toggle.Checked", .boolean(true))
  }

  @Test func aWindowThatIsActiveLater() async throws {
    try await Self.withProgram { desktop, program in
      program.focus("/entry")
      try await Self.asked(program, "GetState", at: "/window")
      program.change("/window") { $0.states = StubElement.active }
      try await desktop.waits(for: "Text.Content", .string("late"))
    }
  }

  /// Its claim was refused as long as the other was in front.
  @Test func aWindowThatIsActiveOnlyAfterTheOtherHasLeft() async throws {
    try await AccessibleDesktop.with { desktop in
      let front = try await desktop.program("front", entry: "abc")
      let next = try await desktop.program("next")
      next.change("/window") { $0.states = 0 }
      next.set("/entry", .entry("late"))
      next.focus("/entry")
      try await Self.asked(next, "GetState", at: "/window")
      front.deactivate()
      try await desktop.waitsForNothing()
      next.change("/window") { $0.states = StubElement.active }
      try await desktop.waits(for: "Text.Content", .string("late"))
    }
  }

  /// Firefox tells focus of what is in a document that is not in its window yet.
  @Test(arguments: [true, false]) func aDocumentThatIsAttachedLater(isToldAgain: Bool) async throws {
    try await Self.withProgram { desktop, program in
      program.set("/document", StubElement(role: 95, parent: "/org/a11y/atspi/null"))
      program.set("/group", StubElement(role: 39, parent: "/document"))
      program.change("/entry") { $0.parent = "/group" }
      program.set("/other", .entry("another"))
      program.change("/other") { $0.parent = "/group" }
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("late"))
      program.change("/document") { $0.parent = "/window" }
      if isToldAgain {
        program.activate()
        program.focus("/other")
        try await desktop.waits(for: "Text.Content", .string("another"))
      }
      try await desktop.waits(for: "Window.Title", .string("The window"))
    }
  }

  /// While another program is in front, too.
  @Test func aDocumentThatIsAttachedAfterItsEntryHasFocus() async throws {
    try await AccessibleDesktop.with { desktop in
      let front = try await desktop.program("front", entry: "abc")
      let next = try await desktop.program("next")
      next.set("/document", StubElement(role: 95, parent: "/org/a11y/atspi/null"))
      next.set("/group", StubElement(role: 39, parent: "/document"))
      for (path, text) in [("/first", "first"), ("/second", "second")] {
        next.set(path, .entry(text))
        next.change(path) { $0.parent = "/group" }
      }
      next.focus("/first")
      try await Self.asked(next, "Get", at: "/document")
      next.change("/document") { $0.parent = "/window" }
      try await next.peer.askBus("GetId")
      front.change("/window") { $0.states = 0 }
      next.focus("/second")
      try await desktop.waits(for: "Text.Content", .string("second"))
    }
  }

  @Test func aProgramThatHasItsWindowLater() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(isRegistered: false)
      program.state.update { $0.elements = [:] }
      desktop.tell("add", of: program)
      try await Self.asked(program, "GetChildren", at: StubProgram.root)
      program.set("/entry", .entry("late"))
      program.focusSilently("/entry")
      program.set(
        "/window", StubElement(role: 23, states: StubElement.active, name: "The window", parent: StubProgram.root))
      try await desktop.waits(for: "Text.Content", .string("late"))
    }
  }

  @Test func aWindowThatHasItsContentsLater() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program()
      program.activate()
      try await desktop.waits(for: "Element.Role", .string("window"))
      // The searches that follow an activation are over.
      try await Self.asked(program, "GetChildren", at: "/window", times: 3)
      program.set("/entry", .entry("late"))
      program.focusSilently("/entry")
      try await desktop.waits(for: "Text.Content", .string("late"))
    }
  }

  /// The bridge starts while they are busy.
  @Test(arguments: ["root", "window"]) func aProgramThatDoesNotAnswerWhenItIsLookedFor(what: String) async throws {
    try await AccessibleDesktop.with { desktop in
      try await desktop.endBridge()
      let program = try await desktop.program(entry: "late", isTold: false)
      program.state.update { $0.rootIsHung = what == "root" }
      program.change("/window") { $0.isHung = what == "window" }
      desktop.status.update { $0.events = [] }
      try await desktop.startBridge()
      let first = what == "root" ? ("Get", StubProgram.root) : ("GetState", "/window")
      try await Self.asked(program, first.0, at: first.1)
      program.state.update { $0.rootIsHung = false }
      program.change("/window") { $0.isHung = false }
      try await desktop.waits(for: "Text.Content", .string("late"))
    }
  }

  /// Accessibility is offered anew, with a bus of its own, and the old bus outlives that.
  @Test func anotherAccessibilityBus() async throws {
    try await AccessibleDesktop.with { desktop in
      try await desktop.program("old", entry: "old")
      let old = try await desktop.replaceBus()
      try await desktop.isListening()
      try await desktop.program("new", entry: "new")
      try await old?.stop()
      try await desktop.program("newer", entry: "newer")
    }
  }

  /// The registry does not say which programs there are.
  @Test func aRegistryThatDoesNotAnswer() async throws {
    try await AccessibleDesktop.with { desktop in
      try await desktop.endBridge()
      try await desktop.program(entry: "late", isTold: false)
      desktop.status.update { ($0.events, $0.isSilent) = ([], true) }
      try await desktop.startBridge()
      _ = try await desktop.status.wait(for: "GetChildren") { $0.questions > 0 ? () : nil }
      desktop.status.update { $0.isSilent = false }
      try await desktop.waits(for: "Text.Content", .string("late"))
    }
  }

  @Test func anElementThatIsExportedMuchLater() async throws {
    try await Self.withProgram { desktop, program in
      program.activate()
      program.change("/entry") { $0.late = 6 }
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("late"))
    }
  }

  /// A single answer that is missing.
  @Test func aNameThatIsNotToldAtFirst() async throws {
    try await Self.withProgram { desktop, program in
      try await Self.showCheckBox(in: desktop, program)
      program.change("/check") { $0.lateProperties = [] }
      try await desktop.waits(for: "Element.Name", .string("A check box"))
    }
  }

  /// The field stays what it is, with all that others know of it.
  @Test func whatIsShownStaysWhenItIsAskedAgainInVain() async throws {
    try await Self.withProgram { desktop, program in
      try await Self.showCheckBox(in: desktop, program)
      let field = try #require(try await desktop.focusedField())
      program.change("/check") { $0.isHung = true }
      let count = program.state.now.calls.count { $0.path == "/check" && $0.member == "GetRole" }
      try await Self.asked(program, "GetRole", at: "/check", times: count + 2)
      program.change("/check") { ($0.isHung, $0.lateProperties) = (false, []) }
      try await desktop.waits(for: "Element.Name", .string("A check box"))
      #expect(try await desktop.focusedField() == field)
    }
  }

  /// It had focus before, and is late when it has it again.
  @Test func whatIsLateWhenItHasFocusAgainStays() async throws {
    try await Self.withProgram { desktop, program in
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("late"))
      let field = try #require(try await desktop.focusedField())
      program.set("/check", .check(true))
      program.focus("/check")
      try await desktop.waits(for: "Element.Role", .string("checkbox"))
      program.change("/entry") { $0.isHung = true }
      program.focus("/entry")
      try await desktop.waitsForNothing()
      program.change("/entry") { $0.isHung = false }
      try await desktop.waits(for: "Text.Content", .string("late"))
      #expect(try await desktop.focusedField() == field)
    }
  }

  /// Qt does not tell that a dialog was closed, and may be busy then, or another program in front.
  @Test(arguments: [true, false]) func aClosedDialogIsForgotten(isInFront: Bool) async throws {
    try await Self.withProgram { desktop, program in
      program.focusSilently("/entry")
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("late"))
      program.change("/window") { $0.states = StubElement.showing }
      program.open("/dialog", asking: "asked")
      try await desktop.waits(for: "Text.Content", .string("asked"))
      program.change("/dialog") { $0.states = 0 }
      if isInFront {
        program.change("/dialog") { $0.silent = ["GetState"] }
        let count = program.state.now.calls.count { $0.path == "/dialog" && $0.member == "GetState" }
        program.activate()
        program.focus("/entry")
        try await desktop.waits(for: "Text.Content", .string("late"))
        // At once, and when it may have closed a window.
        try await Self.asked(program, "GetState", at: "/dialog", times: count + 2)
        program.change("/dialog") { $0.silent = [] }
      } else {
        try await desktop.program("another", entry: "another")
      }
      try await eventually("the dialog's field is gone") { try await desktop.fields().count == (isInFront ? 1 : 2) }
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("late"))
    }
  }

  @Test func whatIsNotToldAgainIsAsItWas() async throws {
    try await Self.withProgram { desktop, program in
      program.set("/check", .check(true))
      program.change("/check") { $0.name = "A check box" }
      program.activate()
      program.focus("/check")
      try await desktop.waits(for: "Toggle.Checked", .boolean(true))
      program.change("/check") { ($0.silent, $0.lateProperties) = (["GetState"], ["Accessible.Name"]) }
      let count = program.state.now.calls.count { $0.path == "/check" && $0.member == "GetState" }
      program.stateChanged("/check", "pressed", 1)
      try await Self.asked(program, "GetState", at: "/check", times: count + 2)
      let values = try await desktop.values()
      #expect(values["org.focusd.Toggle.Checked"] == .boolean(true))
      #expect(values["org.focusd.Element.Name"] == .string("A check box"))
      program.change("/check") { ($0.silent, $0.lateProperties) = ([], []) }
      program.change("/check") { $0.states &= ~StubElement.checked }
      try await desktop.waits(for: "Toggle.Checked", .boolean(false))
    }
  }

  @Test func statesThatAreNotToldAtFirst() async throws {
    try await Self.withProgram { desktop, program in
      program.set("/check", .check(true))
      program.change("/check") { $0.silent = ["GetState"] }
      program.activate()
      program.focus("/check")
      try await desktop.waits(for: "Element.Role", .string("checkbox"))
      #expect(try await desktop.get("Toggle.Checked") == nil)
      program.change("/check") { $0.silent = [] }
      try await desktop.waits(for: "Toggle.Checked", .boolean(true))
    }
  }

  @Test func aValueThatIsNotToldAtFirst() async throws {
    try await Self.withProgram { desktop, program in
      program.set("/slider", .slider(7))
      program.change("/slider") { $0.lateProperties = ["Value.CurrentValue"] }
      program.activate()
      program.focus("/slider")
      try await desktop.waits(for: "Element.Role", .string("slider"))
      #expect(try await desktop.get("Range.Value") == nil)
      program.change("/slider") { $0.lateProperties = [] }
      try await desktop.waits(for: "Range.Value", .double(7))
      // Not told again, it is as it was.
      program.change("/slider") { ($0.value, $0.lateProperties) = (8, ["Value.CurrentValue"]) }
      let count = program.state.now.calls.count { $0.path == "/slider" && $0.member == "GetState" }
      program.stateChanged("/slider", "checked", 1)
      try await Self.asked(program, "GetState", at: "/slider", times: count + 2)
      #expect(try await desktop.get("Range.Value") == .double(7))
      program.change("/slider") { $0.lateProperties = [] }
      try await desktop.waits(for: "Range.Value", .double(8))
    }
  }

  /// GTK 4 tells no changes that the keyboard makes of a range, also of one that it did not tell at first.
  @Test func aRangeOfGTK4ThatIsNotToldAtFirstIsPolled() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(toolkit: "GTK", version: "4.8.3")
      program.set("/slider", .slider(7))
      program.change("/slider") { $0.lateProperties = ["Value.CurrentValue"] }
      program.activate()
      program.focus("/slider")
      try await desktop.waits(for: "Element.Role", .string("slider"))
      program.change("/slider") { $0.lateProperties = [] }
      try await desktop.waits(for: "Range.Value", .double(7))
      program.change("/slider") { $0.value = 8 }
      try await desktop.waits(for: "Range.Value", .double(8))
    }
  }

  /// The window takes longer to be found than its element takes to be read.
  @Test func whatIsReadMeanwhileIsNotTakenBack() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program()
      program.set("/entry", .entry("old"))
      program.change("/window") { $0.lateProperties = ["Accessible.Name"] }
      program.focusSilently("/entry")
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("old"))
      try await desktop.session.subscribe()
      let texts = program.state.now.calls.count { $0.path == "/entry" && $0.member == "GetText" }
      try await Self.asked(program, "GetText", at: "/entry", times: texts + 1)
      program.change("/entry") { $0.text = "new" }
      program.textChanged("/entry")
      try await desktop.waits(for: "Text.Content", .string("new"))
      let names = program.state.now.calls.count { $0.path == "/window" && $0.member == "Get" }
      try await Self.asked(program, "Get", at: "/window", times: names + 2)
      #expect(try await desktop.get("Text.Content") == .string("new"))
      #expect(desktop.session.signals.values(of: "org.focusd.Text.Content") == [.string("new")])
    }
  }

  @Test func aTextThatIsNotToldAtFirst() async throws {
    try await Self.withProgram { desktop, program in
      program.change("/entry") { $0.answers = ["GetText": DBusValue?.none] }
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Element.Name", .string("An entry"))
      program.change("/entry") { $0.answers = [:] }
      try await desktop.waits(for: "Text.Content", .string("late"))
    }
  }

  @Test func aNameThatAnEntryGetsLater() async throws {
    try await Self.withProgram { desktop, program in
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("late"))
      program.change("/entry") { $0.name = "Another name" }
      program.nameChanged("/entry")
      try await desktop.waits(for: "Element.Name", .string("Another name"))
    }
  }

  @Test(arguments: [true, false]) func aTitleThatAWindowGetsLater(isAnswered: Bool) async throws {
    try await Self.withProgram { desktop, program in
      program.change("/window") {
        $0.name = ""
        if !isAnswered { $0.lateProperties = ["Accessible.Name"] }
      }
      program.set("/check", .check(true))
      program.activate()
      program.focus("/check")
      try await desktop.waits(for: "Toggle.Checked", .boolean(true))
      program.change("/window") { ($0.name, $0.lateProperties) = ("A title", []) }
      if isAnswered { program.nameChanged("/window") }
      try await desktop.waits(for: "Window.Title", .string("A title"))
    }
  }

  /// The change is told only once.
  @Test func aTitleThatIsNotToldWhenItChanges() async throws {
    try await Self.withProgram { desktop, program in
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Window.Title", .string("The window"))
      let count = program.state.now.calls.count { $0.path == "/window" && $0.member == "Get" }
      program.change("/window") { ($0.name, $0.lateProperties) = ("Another title", ["Accessible.Name"]) }
      program.nameChanged("/window")
      try await Self.asked(program, "Get", at: "/window", times: count + 1)
      program.change("/window") { $0.lateProperties = [] }
      try await desktop.waits(for: "Window.Title", .string("Another title"))
    }
  }

  /// GTK 4 tells events before it registers, and is known only then.
  @Test func aRootThatIsThereLater() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(isRegistered: false)
      program.state.update { $0.rootIsMissing = true }
      program.set("/entry", .entry("late"))
      program.activate()
      program.focus("/entry")
      try await Self.asked(program, "Get", at: StubProgram.root)
      program.state.update { $0.rootIsMissing = false }
      try await desktop.waits(for: "Window.Application", .string("stub"))
      try await desktop.waits(for: "Text.Content", .string("late"))
    }
  }

  /// A claim whose window is not known yet.
  @Test func aWindowThatIsNotToldAtFirst() async throws {
    try await AccessibleDesktop.with { desktop in
      try await desktop.program("front", entry: "abc")
      let next = try await desktop.program("next")
      next.set("/entry", .entry("late"))
      next.change("/entry") { $0.lateProperties = ["Accessible.Parent"] }
      next.focus("/entry")
      try await next.state.wait(for: "its parent") { state in
        state.calls.contains { $0.path == "/entry" && $0.key.hasSuffix("Parent") } ? () : nil
      }
      // Once it has failed: others can be asked in the meantime.
      next.change("/entry") { $0.lateProperties = [] }
      try await desktop.waits(for: "Text.Content", .string("late"))
    }
  }

  /// Both are told before it is known that the first of them is in no window in front.
  @Test func aClaimDuringTheCheckOfAnother() async throws {
    try await AccessibleDesktop.with { desktop in
      let front = try await desktop.program("front", entry: "abc")
      let next = try await desktop.program("next")
      next.set("/behind", StubElement(role: 23, states: 0, name: "Behind", parent: StubProgram.root))
      for (path, parent) in [("/first", "/behind"), ("/second", "/window")] {
        next.set(path, .entry(path))
        next.change(path) { $0.parent = parent }
      }
      // The program is known already.
      next.focus("/first")
      try await Self.asked(next, "GetState", at: "/behind")
      front.change("/entry") { $0.text = "typed" }
      front.textChanged("/entry")
      try await desktop.waits(for: "Text.Content", .string("typed"))
      next.focus("/first")
      next.focus("/second")
      try await desktop.waits(for: "Text.Content", .string("/second"))
    }
  }

  @Test func aServiceThatDoesNotSayWhetherItIsEnabled() async throws {
    try await AccessibleDesktop.with { desktop in
      try await desktop.endBridge()
      desktop.status.update { ($0.events, $0.isEnabled, $0.refusals) = ([], false, 1) }
      try await desktop.startBridge()
      _ = try await desktop.status.wait(for: "IsEnabled") { $0.isEnabled ? true : nil }
    }
  }

  /// Whoever was in front when a program let go of its own fields is searched then.
  @Test func aProgramThatRegistersNoFieldsOfItsOwnAnyMore() async throws {
    try await AccessibleDesktop.with { desktop in
      let own = try await desktop.desktop.peer()
      try await own.register("own", [("demo.Form.Number", .int32(1))])
      let program = try await desktop.program(entry: "late", isTold: false)
      program.activate()
      // What the bridge asks is not in the window, which it must not look into.
      try await Self.asked(program, "GetState", at: "/window")
      try await own.leave()
      try await desktop.waits(for: "Text.Content", .string("late"))
    }
  }

  /// The bus did not say which process it is.
  @Test func aProgramWhoseProcessIsNotToldAtFirst() async throws {
    try await AccessibleDesktop.with { desktop in
      try await desktop.reconfigureBus(tellsProcesses: false)
      let program = try await desktop.program(entry: "late", isTold: false)
      program.activate()
      program.focus("/entry")
      try await desktop.bridge.says("is not known yet")
      try await desktop.reconfigureBus(tellsProcesses: true)
      try await desktop.waits(for: "Text.Content", .string("late"))
    }
  }

  @Test func aProgramThatIsGoneIsNotAsked() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(isRegistered: false)
      desktop.tell("remove", of: program)
      let next = try await desktop.program("next", isRegistered: false)
      next.set("/entry", .entry("next"))
      next.focusSilently("/entry")
      // It is looked for as long as the other would be before it is asked.
      desktop.tell("add", of: next, isListed: false)
      try await desktop.waits(for: "Text.Content", .string("next"))
      try await program.peer.settleAtBus()
      #expect(program.state.now.calls.isEmpty)
    }
  }
}

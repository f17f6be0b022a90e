import BusSupport
import DBusTypes
import TestSupport
import Testing

/// The bridge with programs that a test makes up.
@Suite struct StubTests {
  private static func withProgram(
    _ toolkit: String = "Qt", _ element: StubElement = .entry("abc"),
    _ body: (AccessibleDesktop, StubProgram) async throws -> Void
  ) async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(toolkit: toolkit)
      program.set("/entry", element)
      // Before the window is in front, so that it is not taken for one without a focused element.
      program.focusSilently("/entry")
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Window.Title", .string("The window"))
      try await body(desktop, program)
    }
  }

  @Test func whatHasFocusIsShownAndWritten() async throws {
    try await Self.withProgram { desktop, program in
      #expect(try await desktop.get("Text.Content") == .string("abc"))
      #expect(try await desktop.get("Element.Role") == .string("textbox"))
      #expect(try await desktop.get("Window.Application") == .string("stub"))
      try await desktop.set("Text.Selection", .structure([.int32(1), .int32(2)]))
      #expect(try await desktop.get("Text.SelectedText") == .string("b"))
      try await desktop.set("Text.SelectedText", .string("XY"))
      #expect(program.text(of: "/entry") == "aXYc")
      #expect(try await desktop.get("Text.Content") == .string("aXYc"))
      try await desktop.set("Text.Content", .string("naïve"))
      #expect(program.text(of: "/entry") == "naïve")
      try await desktop.set("Text.Caret", .int32(2))
      program.change("/entry") { $0.selection = (0, 0) }
      try await desktop.run("Text.Insert", [.string("日本")])
      #expect(program.text(of: "/entry") == "na日本ïve")
      program.change("/entry") { $0.text = "typed" }
      program.textChanged("/entry")
      try await desktop.waits(for: "Text.Content", .string("typed"))
      #expect(try await desktop.refusal("Text.Caret", .int32(99))?.shortName == "InvalidArgs")
    }
  }

  /// What a program does not take in parts, it may take as a whole.
  @Test(arguments: [false, true]) func onlyWhatChangesIsWritten(takesParts: Bool) async throws {
    try await Self.withProgram("GTK", .entry("a😀c d")) { desktop, program in
      for (text, parts) in [
        ("a😀c d e", ["InsertText"]), ("a😀 d e", ["DeleteText"]), ("aü d e", ["DeleteText", "InsertText"]),
        ("A", ["SetTextContents"]), ("A\r\nb", ["SetTextContents"]),
      ] {
        program.state.update { $0.calls = [] }
        if !takesParts {
          program.change("/entry") { $0.answers = ["InsertText": .boolean(true), "DeleteText": .boolean(true)] }
        }
        try await desktop.set("Text.Content", .string(text))
        #expect(program.text(of: "/entry") == text)
        let calls = program.state.now.calls.map(\.member).filter {
          ["InsertText", "DeleteText", "SetTextContents"].contains($0)
        }
        #expect(calls == (takesParts || parts == ["SetTextContents"] ? parts : parts + ["SetTextContents"]))
      }
    }
  }

  /// Swift calls both strings equal.
  @Test func aTextThatIsComposedOtherwiseIsWritten() async throws {
    try await Self.withProgram("GTK", .entry("caf\u{E9}")) { desktop, program in
      try await desktop.set("Text.Content", .string("cafe\u{301}"))
      #expect(Array(program.text(of: "/entry").unicodeScalars) == Array("cafe\u{301}".unicodeScalars))
    }
  }

  @Test func whatChangesTogetherIsToldInOneSignal() async throws {
    try await Self.withProgram { desktop, program in
      try await desktop.session.subscribe()
      let texts = (1...5).map { "abc" + String(repeating: "x", count: $0) }
      for text in texts {
        program.change("/entry") { ($0.text, $0.caret) = (text, Int32(text.count)) }
        program.textChanged("/entry")
        try await desktop.session.signals(text) { signals in
          signals.values(of: "org.focusd.Text.Content").last == .string(text) ? true : nil
        }
      }
      let told = try await desktop.session.signals("all") { signals in
        signals.filter { $0.path == Focus1.focused }.map(\.told).filter { !$0.isEmpty }
      }
      #expect(told.count == texts.count, "\(told)")
      for (values, text) in zip(told, texts) {
        #expect(values["org.focusd.Text.Content"] == .string(text))
        #expect(values["org.focusd.Text.Caret"] == .int32(Int32(text.count)))
      }
    }
  }

  @Test func rangesAndTogglesAreWritten() async throws {
    try await Self.withProgram("Qt", .slider(30)) { desktop, program in
      func level() -> Double? { program.state.now.elements["/entry"]?.value }
      func isChecked() -> Bool { (program.state.now.elements["/check"]?.states ?? 0) & StubElement.checked != 0 }
      try await desktop.set("Range.Value", .double(32))
      #expect(try await desktop.get("Range.Value") == .double(32))
      #expect(level() == 32)
      try await desktop.run("Range.Increment")
      #expect(try await desktop.get("Range.Value") == .double(33))
      #expect(level() == 33)
      try await desktop.set("Range.Value", .double(1e300))
      #expect(try await desktop.get("Range.Value") == .double(100))
      #expect(try await desktop.refusal("Range.Value", .double(.nan))?.shortName == "InvalidArgs")
      program.set("/check", .check(true))
      program.focus("/check")
      try await desktop.waits(for: "Toggle.Checked", .boolean(true))
      // Its action may be told later than its state.
      try await eventually("its action") { try await desktop.session.commands()["org.focusd.Action.Click"] == true }
      try await desktop.set("Toggle.Checked", .boolean(false))
      #expect(try await desktop.get("Toggle.Checked") == .boolean(false))
      #expect(!isChecked())
      try await desktop.run("Action.Click")
      #expect(try await desktop.get("Toggle.Checked") == .boolean(true))
      #expect(isChecked())
    }
  }

  /// A dialog that has what it wants may close before it answers.
  @Test(
    arguments: ["DoAction", "Set", "InsertText", "SetTextContents"].flatMap { [($0, true), ($0, false)] },
    ["/window", "/dialog"])
  func aWriteThatClosesItsWindowIsMadeIfTheProgramAgrees(write: (String, Bool), window: String) async throws {
    let (member, agrees) = write
    try await Self.withProgram { desktop, program in
      let (element, key, value): (StubElement, String, DBusValue) =
        switch member {
        case "DoAction": (.check(false), "Toggle.Checked", .boolean(true))
        case "Set": (.slider(5), "Range.Value", .double(9))
        case "InsertText": (.entry("12345"), "Text.SelectedText", .string("6"))
        default: (.entry("12345"), "Text.Content", .string("123456"))
        }
      program.set("/last", element)
      program.change("/last") {
        ($0.closing, $0.refusesWrites, $0.name, $0.parent) = ([member], !agrees, "last", window)
      }
      if window != "/window" {
        program.set(window, StubElement(role: 16, name: "The dialog", parent: StubProgram.root))
        program.activate(window)
      }
      program.focus("/last")
      try await desktop.waits(for: "Element.Name", .string("last"))
      let refusal = try await desktop.refusal(key, value)
      #expect((refusal == nil) == agrees, "\(String(describing: refusal))")
    }
  }

  /// The caret of a document is in one of its paragraphs.
  @Test func nothingIsInsertedIntoATextWithoutTheCaret() async throws {
    try await Self.withProgram { desktop, program in
      program.set("/paragraph", .entry("first"))
      program.change("/paragraph") { $0.caret = -1 }
      program.focus("/paragraph")
      try await desktop.waits(for: "Text.Content", .string("first"))
      #expect(try await desktop.refusal("Text.SelectedText", .string("x"))?.message.contains("caret") == true)
      #expect(program.text(of: "/paragraph") == "first")
      try await desktop.set("Text.Content", .string("other"))
      #expect(program.text(of: "/paragraph") == "other")
    }
  }

  /// LibreOffice's, of which Calc restores what a cell held.
  @Test func aParagraphIsWrittenWithTheCaretAndInNoSheet() async throws {
    try await Self.withProgram("gtk") { desktop, program in
      for (document, caret, part): (UInt32, Int32, String?) in [(92, 1, "Calc"), (94, -1, "caret"), (94, 1, nil)] {
        program.set("/document", StubElement(role: document))
        program.set("/cell", StubElement(role: 39, parent: "/document"))
        var paragraph = StubElement.entry("first", role: 73)
        (paragraph.parent, paragraph.caret) = ("/cell", caret)
        program.set("/paragraph", paragraph)
        program.focus("/paragraph")
        try await desktop.waits(for: "Text.Content", .string("first"))
        for (key, result) in [("Text.Content", "other"), ("Text.SelectedText", "xother")] {
          if let part {
            let refusal = try await desktop.refusal(key, .string("other"))
            #expect(refusal?.shortName == "NotSupported" && refusal?.message.contains(part) == true, "\(document)")
            #expect(program.text(of: "/paragraph") == "first")
          } else {
            program.change("/paragraph") { $0.caret = 0 }
            try await desktop.set(key, .string(key == "Text.Content" ? "other" : "x"))
            #expect(program.text(of: "/paragraph") == result)
          }
        }
      }
    }
  }

  @Test func aProgramThatRefusesOrIgnoresAWriteIsAnError() async throws {
    try await Self.withProgram { desktop, program in
      program.change("/entry") { $0.ignoresWrites = true }
      let ignored = try await desktop.refusal("Text.Content", .string("new"))
      #expect(ignored?.message.contains("agreed and changed nothing") == true)
      #expect(try await desktop.refusal("Text.SelectedText", .string("new")) != nil)
      program.change("/entry") { ($0.ignoresWrites, $0.refusesWrites) = (false, true) }
      let refused = try await desktop.refusal("Text.Content", .string("new"))
      #expect(refused?.message.contains("refused") == true)
      #expect(try await desktop.get("Text.Content") == .string("abc"))
      program.set("/slider", .slider(5))
      program.change("/slider") { $0.ignoresWrites = true }
      program.focus("/slider")
      try await desktop.waits(for: "Range.Value", .double(5))
      #expect(try await desktop.refusal("Range.Value", .double(9)) != nil)
    }
  }

  /// Lists of Qt 6 that are entered by a key tell their own focus alone; tables of GTK 3 have selected cells in each column.
  @Test func theItemOfAListHasFocus() async throws {
    try await Self.withProgram { desktop, program in
      let selected = StubElement.focusable | StubElement.selected
      program.set("/list", StubElement(role: 31, states: StubElement.focusable | 1 << 31))
      program.set("/item", StubElement(role: 32, states: selected, name: "Shortcuts", parent: "/list"))
      program.set("/before", StubElement(role: 32, states: selected, name: "Icon", parent: "/list"))
      program.change("/entry") { $0.states &= ~StubElement.focused }
      program.focus("/list")
      try await desktop.waits(for: "Element.Role", .string("list"))
      program.focus("/entry")
      try await desktop.waits(for: "Element.Role", .string("textbox"))
      program.blur("/entry")
      for path in ["/list", "/item"] { program.change(path) { $0.states |= StubElement.focused } }
      program.stateChanged("/list", "focused", 1)
      try await desktop.waits(for: "Element.Name", .string("Shortcuts"))
      #expect(try await desktop.get("Element.Role") == .string("listitem"))
    }
  }

  /// GTK 3 tells so of the current row of a list beside the entry that filters it.
  @Test func aRowOfGTK3ThatHasNoFocusTakesNone() async throws {
    try await Self.withProgram("GTK") { desktop, program in
      program.change("/entry") { $0.states |= StubElement.singleLine }
      program.set("/list", StubElement(role: 31, states: StubElement.focusable))
      program.set("/row", StubElement(role: 56, states: StubElement.focusable, name: "Row", parent: "/list"))
      program.set("/other", StubElement(role: 56, states: StubElement.focusable, name: "Other", parent: "/list"))
      try await desktop.waits(for: "Element.Role", .string("textbox"))
      for _ in 0..<2 { program.stateChanged("/row", "focused", 1) }
      program.change("/entry") { $0.text = "typed" }
      program.textChanged("/entry")
      try await desktop.waits(for: "Text.Content", .string("typed"))
      try await desktop.set("Text.Content", .string("written"))
      #expect(program.text(of: "/entry") == "written")
      // Of a row that takes it, the state comes later.
      program.change("/entry") { $0.states &= ~StubElement.focused }
      program.stateChanged("/other", "focused", 1)
      try await desktop.waits(for: "Element.Name", .string("Other"))
    }
  }

  /// As in egui.
  @Test func aTextThatCanOnlyBeSetAsAWholeTakesAPart() async throws {
    try await Self.withProgram { desktop, program in
      program.change("/entry") { $0.unsupported = ["InsertText", "DeleteText"] }
      for (selection, text, result, caret): ((Int32, Int32), String, String, Int32) in [
        ((1, 2), "ßü", "aßüc", 3), ((0, 0), "x", "aßüxc", 4), ((1, 3), "", "axc", 1),
      ] {
        if selection.0 != selection.1 {
          program.change("/entry") { ($0.caret, $0.selection) = (selection.1, selection) }
          program.textChanged("/entry")
          try await desktop.waits(for: "Text.Selection", .structure([.int32(selection.0), .int32(selection.1)]))
        }
        try await desktop.set("Text.SelectedText", .string(text))
        #expect(program.text(of: "/entry") == result)
        try await eventually("the caret") { program.state.now.elements["/entry"]?.caret == caret }
      }
      program.change("/entry") { $0.unsupported.insert("SetTextContents") }
      program.change("/entry") { ($0.caret, $0.selection) = (2, (1, 2)) }
      program.textChanged("/entry")
      try await desktop.waits(for: "Text.Selection", .structure([.int32(1), .int32(2)]))
      let refused = try await desktop.refusal("Text.SelectedText", .string("y"))
      #expect(refused?.message.contains("was not changed: the program refused it") == true)
      let entry = try #require(program.state.now.elements["/entry"])
      #expect(entry.text == "axc" && entry.selection == (1, 2))
    }
  }

  /// One key is pressed right after the insertion, and one when the caret has been moved, or after the write.
  @Test(arguments: ["Text.SelectedText", "Text.Content"]) func whoTypesMeanwhileGoesOnAtTheCaret(key: String)
    async throws
  {
    try await Self.withProgram("GTK") { desktop, program in
      for (rule, caret, keys, selected, content): (StubElement.CaretRule, Int32, [String], String, String) in [
        (.moves, 2, ["x", "y"], "ab<>xyc", "ab<>xyc"), (.stays, 2, ["x", "y"], "abx<>yc", "abx<>yc"),
        (.stays, 2, [], "ab<>yc", "ab<>yc"), (.follows, 2, [], "ab<>yc", "ab<>yc"),
        (.moves, 3, ["x", "y"], "abc<>xy", "ab<>cxy"), (.stays, 3, ["x", "y"], "abcx<>y", "ab<>cxy"),
        (.follows, 3, [], "abc<>y", "ab<>cy"), (.stays, 0, ["x", "y"], "x<>yabc", "xyab<>c"),
      ] {
        program.change("/entry") { entry in
          (entry.text, entry.caret, entry.caretRule, entry.keys) = ("abc", caret, rule, keys)
        }
        program.textChanged("/entry")
        let isSelected = key == "Text.SelectedText"
        try await desktop.set(key, .string(isSelected ? "<>" : "ab<>c"))
        program.change("/entry") { entry in
          if !entry.text.contains("y") { entry.type("y") }
        }
        #expect(program.text(of: "/entry") == (isSelected ? selected : content), "\(rule), \(caret), \(keys)")
      }
    }
  }

  @Test(arguments: ["Text.SelectedText", "Text.Content"])
  func aKeyThatComesBeforeTheCaretIsMovedKeepsItBehindTheText(key: String) async throws {
    try await Self.withProgram("GTK") { desktop, program in
      program.change("/entry") { ($0.caret, $0.caretRule, $0.keyBeforeCaret) = (2, .stays, "x") }
      program.textChanged("/entry")
      try await desktop.waits(for: "Text.Caret", .int32(2))
      try await desktop.set(key, .string(key == "Text.SelectedText" ? "<>" : "ab<>c"))
      program.change("/entry") { $0.type("y") }
      #expect(program.text(of: "/entry") == "abx<>yc")
    }
  }

  /// As in Writer, where a paragraph that reaches the next page is shown by other elements.
  @Test func whatAnotherElementShowsIsWritten() async throws {
    try await Self.withProgram("GTK") { desktop, program in
      program.change("/entry") { $0.caretRule = .leaves }
      try await desktop.set("Text.SelectedText", .string("x"))
      #expect(program.state.now.calls.allSatisfy { $0.member != "SetCaretOffset" })
      program.change("/entry") { ($0.caret, $0.replacing) = (0, ["InsertText"]) }
      try await desktop.set("Text.SelectedText", .string("x"))
    }
  }

  /// Where nothing is inserted, typing goes on where it was, over what was selected.
  @Test func anEntryThatIsFullKeepsItsCaretAndItsSelection() async throws {
    try await Self.withProgram { desktop, program in
      program.change("/entry") { $0.ignoresText = true }
      for selection: (start: Int32, end: Int32) in [(1, 1), (1, 3)] {
        program.change("/entry") { entry in
          (entry.caret, entry.selection) = (selection.end, selection.start == selection.end ? (0, 0) : selection)
        }
        program.textChanged("/entry")
        try await desktop.waits(for: "Text.Selection", .structure([.int32(selection.start), .int32(selection.end)]))
        #expect(try await desktop.refusal("Text.SelectedText", .string("new")) != nil)
        let entry = try #require(program.state.now.elements["/entry"])
        #expect(entry.caret == selection.end)
        #expect(entry.selection == (selection.start == selection.end ? (0, 0) : selection))
      }
    }
  }

  /// Firefox names what an element does by its state.
  @Test func anActionThatIsAnotherNowIsNotRun() async throws {
    var box = StubElement.check(false)
    box.actions = ["check"]
    try await Self.withProgram("Gecko", box) { desktop, program in
      try await eventually("its action") { try await desktop.session.commands()["org.focusd.Action.Check"] == true }
      program.change("/entry") { ($0.actions, $0.states) = (["uncheck"], $0.states | StubElement.checked) }
      let error = await #expect(throws: RemoteError.self) { try await desktop.run("Action.Check") }
      // The bridge may have read the element again by itself.
      #expect(["Disabled", "NotFocused"].contains(error?.shortName ?? ""), "\(error as Any)")
      #expect(program.state.now.calls.allSatisfy { $0.member != "DoAction" })
      try await eventually("its action now") {
        try await desktop.session.commands()["org.focusd.Action.Uncheck"] == true
      }
      #expect(try await desktop.session.commands()["org.focusd.Action.Check"] == nil)
      try await desktop.run("Action.Uncheck")
      #expect(try await desktop.get("Toggle.Checked") == .boolean(false))
    }
  }

  /// GTK 4 lists those that can be run at the moment, so that their numbers change.
  @Test func actionsOfATextAreFoundWhereTheyAre() async throws {
    var editor = StubElement.entry("abc")
    editor.interfaces.insert("Action")
    editor.actions = ["page.zoom-one", "clipboard.copy"]
    try await Self.withProgram("GTK", editor) { desktop, program in
      try await eventually("its commands") { try await desktop.session.commands()["org.focusd.Edit.Copy"] == true }
      #expect(try await desktop.session.commands()["org.focusd.Edit.Undo"] == nil)
      program.change("/entry") { ($0.text, $0.actions) = ("abcd", ["text.undo", "page.zoom-one", "clipboard.copy"]) }
      program.textChanged("/entry")
      try await eventually("its commands") { try await desktop.session.commands()["org.focusd.Edit.Undo"] == true }
      let nothing = await #expect(throws: RemoteError.self) { try await desktop.run("Edit.Redo") }
      #expect(nothing?.shortName == "Disabled")
      // As many, in another order.
      program.change("/entry") { $0.actions = ["page.zoom-one", "text.undo", "clipboard.copy"] }
      for key in ["Edit.Undo", "Action.PageZoomOne", "Edit.Copy"] { try await desktop.run(key) }
      program.change("/entry") { $0.actions = ["clipboard.copy"] }
      let gone = await #expect(throws: RemoteError.self) { try await desktop.run("Action.PageZoomOne") }
      #expect(gone?.shortName == "Disabled")
      let run = program.state.now.calls.filter { $0.member == "DoAction" }.flatMap(\.arguments)
      #expect(run == [.int32(1), .int32(0), .int32(2)])
    }
  }

  /// GTK 4.14 to 4.20.
  @Test func aTextThatLetsNobodySelectSaysSo() async throws {
    try await Self.withProgram("GTK") { desktop, program in
      program.change("/entry") { $0.unsupported = ["SetCaretOffset", "AddSelection", "SetSelection"] }
      for (key, value) in [("Text.Caret", DBusValue.int32(1)), ("Text.Selection", .structure([.int32(1), .int32(2)]))] {
        let refusal = try await desktop.refusal(key, value)
        #expect(
          refusal?.shortName == "NotSupported" && refusal?.message.contains("nobody") == true,
          "\(key): \(refusal as Any)")
      }
      program.change("/entry") { $0.selection = (1, 2) }
      try await desktop.set("Text.SelectedText", .string("XY"))
      #expect(program.text(of: "/entry") == "aXYc")
    }
  }

  /// GNOME Shell's search and Cinnamon's: at the end, the caret is at -1.
  @Test func aCaretThatIsMovedSelectsNothing() async throws {
    var entry = StubElement.entry("abc")
    (entry.caretSelects, entry.caret, entry.selection) = (true, -1, (-1, -1))
    try await Self.withProgram("clutter", entry) { desktop, program in
      try await desktop.waits(for: "Text.Caret", .int32(3))
      #expect(try await desktop.get("Text.Selection") == .structure([.int32(3), .int32(3)]))
      try await desktop.set("Text.SelectedText", .string("de"))
      #expect(program.text(of: "/entry") == "abcde")
      try await desktop.set("Text.Caret", .int32(1))
      try await desktop.set("Text.SelectedText", .string("Z"))
      #expect(program.text(of: "/entry") == "aZbcde")
      #expect(program.state.now.elements["/entry"]?.selection ?? (0, 0) == (2, 2))
      // To the end.
      program.change("/entry") { ($0.selection, $0.caret) = ((-1, 3), 3) }
      program.textChanged("/entry")
      try await desktop.waits(for: "Text.Selection", .structure([.int32(3), .int32(6)]))
      try await desktop.set("Text.Caret", .int32(5))
      #expect(program.state.now.elements["/entry"]?.selection ?? (0, 0) == (5, 5))
      try await desktop.set("Text.Selection", .structure([.int32(0), .int32(2)]))
      try await desktop.set("Text.SelectedText", .string(""))
      #expect(program.text(of: "/entry") == "bcde")
    }
  }

  /// Kate's, once one was replaced.
  @Test func aSelectionThatIsEmptyIsReplaced() async throws {
    try await Self.withProgram { desktop, program in
      program.change("/entry") { $0.answers["AddSelection"] = .boolean(false) }
      try await desktop.set("Text.Selection", .structure([.int32(1), .int32(3)]))
      let entry = try #require(program.state.now.elements["/entry"])
      #expect(entry.selection == (1, 3))
    }
  }

  /// An entry of GTK 4 leaves the caret before what is inserted.
  @Test func whatIsDictatedIsInOrderThoughTheCaretStays() async throws {
    try await Self.withProgram("GTK") { desktop, program in
      program.change("/entry") { ($0.caret, $0.unsupported) = (3, ["SetCaretOffset"]) }
      try await desktop.set("Text.SelectedText", .string("one "))
      // What is refused moves nothing.
      #expect(try await desktop.refusal("Text.Caret", .int32(5)) != nil)
      try await desktop.set("Text.SelectedText", .string("two "))
      try await desktop.run("Text.Insert", [.string("three")])
      #expect(program.text(of: "/entry") == "abcone two three")
      program.change("/entry") { $0.caret = 0 }
      for text in ["x", "y"] { try await desktop.set("Text.SelectedText", .string(text)) }
      #expect(program.text(of: "/entry") == "xyabcone two three")
      // Whoever puts the caret somewhere means it, also if it is there.
      for text in ["1", "2"] { try await desktop.set("Text.SelectedText", .string(text)) }
      try await desktop.set("Text.Caret", .int32(0))
      try await desktop.set("Text.SelectedText", .string("first"))
      #expect(program.text(of: "/entry") == "firstxy12abcone two three")
      // What is typed ends it.
      program.change("/entry") { ($0.text, $0.caret) = ("xyz", 1) }
      try await desktop.set("Text.SelectedText", .string("-"))
      #expect(program.text(of: "/entry") == "x-yz")
    }
  }

  /// `GetActions` tells names in the user's language, and ends some programs.
  @Test func actionsAreAskedForOneByOne() async throws {
    var button = StubElement.check(false)
    button.actions = ["click"] + (1..<100).map { "action \($0)" }
    try await Self.withProgram("GTK", button) { desktop, program in
      let expected = ["Click"] + (1..<32).map { "Action\($0)" }
      try await eventually("its actions") {
        try await Set(desktop.session.commands().keys).isSuperset(of: expected.map { "org.focusd.Action.\($0)" })
      }
      #expect(try await desktop.session.commands()["org.focusd.Action.Action32"] == nil)
      try await desktop.run("Action.Click")
      let calls = program.state.now.calls.map(\.member)
      #expect(calls.count { $0 == "DoAction" } == 1)
      #expect(!calls.contains("GetActions"))
    }
  }

  /// Flutter says that it is GTK, counts characters where GTK counts bytes, and has texts without a number of lines.
  @Test(arguments: [(UInt64(0), -1), (StubElement.singleLine, 3), (StubElement.multiLine, 3)] as [(UInt64, Int32)])
  func aTextOfFluttersIsInsertedWithoutItsLength(states: UInt64, length: Int32) async throws {
    try await Self.withProgram("gtk") { desktop, program in
      program.set("/text", .entry("abcd"))
      program.change("/text") { $0.states |= states }
      program.focus("/text")
      try await desktop.waits(for: "Text.Content", .string("abcd"))
      try await desktop.set("Text.SelectedText", .string("ü!"))
      let inserted = try #require(program.state.now.calls.last { $0.member == "InsertText" })
      #expect(inserted.arguments == [.int32(0), .string("ü!"), .int32(length)])
    }
  }

  /// As the position of a player.
  @Test func aRangeThatMovesByItselfIsNotTakenForWritten() async throws {
    try await Self.withProgram("Qt", .slider(30)) { desktop, program in
      program.change("/entry") { ($0.ignoresWrites, $0.drift) = (true, 1) }
      let refusal = try await desktop.refusal("Range.Value", .double(5))
      #expect(refusal?.shortName == "Failed")
      #expect(refusal?.message.contains("now, not 5.0") == true)
    }
  }

  /// Only after a while is it known that nothing comes.
  @Test func aSmallStepThatIsIgnoredIsAnError() async throws {
    try await Self.withProgram("Qt", .slider(0.7)) { desktop, program in
      program.change("/entry") { ($0.ignoresWrites, $0.step) = (true, 0.1) }
      try await desktop.waits(for: "Range.Value", .double(0.7))
      #expect(try await desktop.session.begin(.invoke("org.focusd.Range.Increment")).refusal() == "Failed")
      #expect(try await desktop.get("Range.Value") == .double(0.7))
    }
  }

  /// Qt's dates tell no limits, either, and have a text.
  @Test(arguments: [true, false]) func aSpinBoxOfQtQuickTellsNoLimits(hasText: Bool) async throws {
    var box = StubElement.slider(7)
    (box.role, box.maximum) = (52, 0)
    if hasText { box.interfaces.insert("Text") }
    try await Self.withProgram("Qt", box) { desktop, program in
      try await desktop.waits(for: "Element.Role", .string("spinbutton"))
      #expect(try await desktop.get("Range.Value") == (hasText ? nil : .double(7)))
      #expect(try await desktop.get("Range.Maximum") == nil)
      guard !hasText else { return }
      try await desktop.set("Range.Value", .double(33))
      #expect(program.state.now.elements["/entry"]?.value == 33)
    }
  }

  /// A slider of whole numbers.
  @Test func aValueThatIsRoundedToWhatItWasIsTaken() async throws {
    try await Self.withProgram("Qt", .slider(50)) { desktop, program in
      program.change("/entry") { $0.ignoresWrites = true }
      try await desktop.set("Range.Value", .double(50.3))
      #expect(try await desktop.refusal("Range.Value", .double(51)) != nil)
    }
  }

  /// What the bridge read last is older than what the user typed.
  @Test func anIgnoredWriteIsAnErrorAfterAChangeThatWasNotTold() async throws {
    try await Self.withProgram { desktop, program in
      program.change("/entry") { ($0.ignoresWrites, $0.text) = (true, "typed") }
      let ignored = try await desktop.refusal("Text.Content", .string("new"))
      #expect(ignored?.message.contains("agreed and changed nothing") == true)
      program.set("/slider", .slider(5))
      program.focus("/slider")
      try await desktop.waits(for: "Range.Value", .double(5))
      program.change("/slider") { ($0.ignoresWrites, $0.value) = (true, 7) }
      #expect(try await desktop.refusal("Range.Value", .double(9)) != nil)
    }
  }

  @Test func writesAndCommandsAreCarriedOutInOrder() async throws {
    try await Self.withProgram("Qt", .entry("")) { desktop, program in
      var calls = "abcd".map { desktop.session.begin(.invoke("org.focusd.Text.Insert", [.string(String($0))])) }
      for call in calls { _ = try await call.values() }
      #expect(program.text(of: "/entry") == "abcd")
      calls = (0..<4).map { _ in desktop.session.begin(.invoke("org.focusd.Text.Insert", [.string("x")])) }
      try await desktop.set("Text.Content", .string("last"))
      for call in calls { _ = try await call.values() }
      #expect(program.text(of: "/entry") == "last")
    }
  }

  @Test func writesThatWaitFailWithTheirElement() async throws {
    try await Self.withProgram { desktop, program in
      program.change("/entry") { $0.isHung = true }
      let calls = (0..<8).map { _ in desktop.session.begin(.invoke("org.focusd.Text.Insert", [.string("x")])) }
      try await program.state.wait(for: "question") { $0.calls.last?.path == "/entry" ? () : nil }
      program.state.update { $0.elements["/entry"] = nil }
      for call in calls { #expect(try await call.refusal() == "UnknownObject") }
      program.set("/other", .entry("other"))
      program.focus("/other")
      try await desktop.waits(for: "Text.Content", .string("other"))
      try await desktop.run("Text.Insert", [.string("x")])
      #expect(program.text(of: "/other") == "xother")
    }
  }

  /// Whoever is told that nothing was changed may do it otherwise.
  @Test(arguments: [("Edit.Undo", [], "GetName"), ("Text.Insert", [DBusValue.string("new")], "GetText")])
  func whatWasRefusedIsNotCarriedOut(command: String, _ arguments: [DBusValue], question: String) async throws {
    var entry = StubElement.entry(String(repeating: "x", count: 4 << 20))
    entry.states |= StubElement.multiLine
    entry.interfaces.insert("Action")
    (entry.actions, entry.selection) = (["text.undo"], (1, 3 << 20))
    try await Self.withProgram("GTK", entry) { desktop, program in
      try await eventually("its command") { try await desktop.session.commands()["org.focusd.Edit.Undo"] == true }
      // What is asked before anything is changed.
      let asked = program.state.now.calls.count
      program.change("/entry") { $0.silent = [question] }
      let call = desktop.session.begin(.invoke("org.focusd." + command, arguments))
      try await program.state.wait(for: question) { state in
        state.calls.dropFirst(asked).contains { $0.member == question } ? () : nil
      }
      program.destroy()
      #expect(try await call.refusal() == "UnknownObject")
      program.release("/entry")
      program.set("/other", .entry("other"))
      program.activate()
      program.focus("/other")
      try await desktop.waits(for: "Text.Content", .string("other"))
      try await desktop.run("Text.Insert", [.string("x")])
      let changes = program.state.now.calls.filter { ["DoAction", "DeleteText", "InsertText"].contains($0.member) }
      #expect(changes.map(\.path) == ["/other"])
    }
  }

  @Test func aRangeWithoutAFiniteValueHasNoStep() async throws {
    try await Self.withProgram("Qt", .slider(.nan)) { desktop, program in
      var message = ""
      do { try await desktop.run("Range.Increment") } catch let error as RemoteError { message = error.message }
      #expect(message.hasSuffix("the element tells no finite value"), "\(message)")
      program.change("/entry") { $0.ignoresWrites = true }
      #expect(try await desktop.refusal("Range.Value", .double(9)) != nil)
    }
  }

  @Test func anElementThatBecomesEditableIsExamined() async throws {
    try await Self.withProgram { desktop, program in
      program.change("/entry") { $0.states = StubElement.focusable }
      program.stateChanged("/entry", "editable", 0)
      try await eventually("read-only") {
        try await desktop.refusal("Text.Content", .string("x"))?.shortName == "PropertyReadOnly"
      }
      program.change("/entry") { $0.states = StubElement.focusable | StubElement.editable }
      program.stateChanged("/entry", "editable", 1)
      try await eventually("writable") { try await desktop.refusal("Text.Content", .string("y")) == nil }
    }
  }

  @Test func aLateElementIsAskedAgainAndADefunctOneHasNoField() async throws {
    try await Self.withProgram { desktop, program in
      program.set("/late", .entry("late"))
      program.change("/late") { $0.late = 2 }
      program.focus("/late")
      try await desktop.waits(for: "Text.Content", .string("late"))
      program.focus("/gone")
      try await desktop.waitsForNothing()
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("abc"))
    }
  }

  @Test func aHugeTextIsNotShownButItsLengthIs() async throws {
    let text = String(repeating: "0123456789", count: 1 << 20)
    try await Self.withProgram("GTK") { desktop, program in
      program.set("/huge", .entry(text))
      program.change("/huge") { ($0.count, $0.states) = (10 << 20, $0.states | StubElement.multiLine) }
      program.focus("/huge")
      try await desktop.waits(for: "Text.Length", .int32(10 << 20))
      #expect(try await desktop.get("Text.Content") == nil)
      #expect(try await desktop.get("Text.SelectedText") == .string(""))
      #expect(program.state.now.calls.allSatisfy { $0.member != "GetText" || $0.path != "/huge" })
      program.change("/huge") { $0.selection = (1, 4) }
      program.textChanged("/huge")
      try await desktop.waits(for: "Text.SelectedText", .string("123"))
    }
  }

  /// Where UTF-16 units are counted, the number of characters is unknown without the text; LibreOffice may look like GTK.
  @Test(
    arguments: [
      ("Qt", 61, nil), ("gtk", 73, nil), ("gtk", 83, nil), ("gtk", 61, 10 << 20),
    ] as [(String, UInt32, Int32?)])
  func aHugeTextMayHaveNoPositions(toolkit: String, role: UInt32, length: Int32?) async throws {
    try await Self.withProgram(toolkit) { desktop, program in
      program.set("/huge", .entry("0123", role: role))
      program.change("/huge") { ($0.count, $0.selection) = (10 << 20, (1, 3)) }
      program.focus("/huge")
      try await desktop.waits(for: "Text.SelectedText", .string("12"))
      #expect(try await desktop.get("Text.Length") == length.map { .int32($0) })
      #expect((try await desktop.get("Text.Caret") == nil) == (length == nil))
      #expect((try await desktop.get("Text.Selection") == nil) == (length == nil))
    }
  }

  /// GTK leaves pictures out of the text, and counts them.
  @Test func whatIsSelectedBesideAPictureIsShown() async throws {
    try await Self.withProgram("GTK") { desktop, program in
      program.set("/view", .entry("abc"))
      program.change("/view") { ($0.count, $0.selection, $0.states) = (4, (0, 2), $0.states | StubElement.multiLine) }
      program.focus("/view")
      try await desktop.waits(for: "Text.SelectedText", .string("ab"))
      #expect(try await desktop.get("Text.Content") == nil)
    }
  }

  @Test func aTextThatEndsInAnotherLengthIsReadAgain() async throws {
    try await Self.withProgram { desktop, program in
      // What follows a NUL is not told, so that nothing of the text is.
      program.set("/nul", .entry("ab"))
      program.change("/nul") { ($0.count, $0.caret) = (9, 7) }
      program.focus("/nul")
      try await eventually("its field") {
        let values = try await desktop.values()
        return values["org.focusd.Text.SelectedText"] == .string("") && values["org.focusd.Text.Content"] == nil
      }
      #expect(try await desktop.get("Text.Caret") == nil)
      #expect(program.state.now.calls.count { $0.member == "GetText" && $0.path == "/nul" } >= 2)
    }
  }

  @Test func aStormOfEventsEndsWhereFocusIs() async throws {
    try await Self.withProgram { desktop, program in
      for index in 0..<20 { program.set("/field\(index)", .entry("text \(index)")) }
      program.storm(10_000, of: "/field")
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("abc"))
      #expect(try await desktop.fields().count <= 16)
    }
  }

  @Test func theLastSixteenElementsAreKept() async throws {
    try await Self.withProgram { desktop, program in
      for index in 0..<20 {
        program.set("/field\(index)", .entry("text \(index)"))
        program.focus("/field\(index)")
        try await desktop.waits(for: "Text.Content", .string("text \(index)"))
      }
      #expect(try await desktop.fields().count == 16)
    }
  }

  @Test func anElementThatIsGoneHasNoField() async throws {
    try await Self.withProgram { desktop, program in
      func fields() async throws -> Set<String> {
        Set(
          try await desktop.desktop.focusctl("list", "--format", "{id}").output.map { "/org/focusd/Focus1/field/" + $0 }
        )
      }
      program.set("/other", .entry("other"))
      for call in [
        { DaemonCall.set("org.focusd.Text.Content", .string("new"), at: $0) },
        { DaemonCall($0, Focus1.fieldInterface, "Focus") },
      ] {
        let before = try await fields()
        program.set("/gone", .entry("gone"))
        program.focus("/gone")
        try await desktop.waits(for: "Text.Content", .string("gone"))
        let field = try #require(try await fields().subtracting(before).first)
        program.focus("/other")
        try await desktop.waits(for: "Text.Content", .string("other"))
        program.state.update { $0.elements["/gone"] = nil }
        #expect(try await desktop.session.begin(call(field)).refusal() == "UnknownObject")
        try await eventually("its field is gone") { try await !fields().contains(field) }
      }
    }
  }

  /// What the bus says in its place is not said of the daemon.
  @Test func aProgramThatLeavesDuringAWrite() async throws {
    try await Self.withProgram { desktop, program in
      program.change("/entry") { $0.leaving = ["SetTextContents"] }
      let refusal = try await desktop.session.begin(.set("org.focusd.Text.Content", .string("new"))).refusal()
      #expect(refusal == "UnknownObject")
    }
  }

  /// It may still make the change.
  @Test func aProgramThatHangsDuringAWrite() async throws {
    try await Self.withProgram { desktop, program in
      program.change("/entry") { $0.silent = ["SetTextContents"] }
      let write = desktop.session.begin(.set("org.focusd.Text.Content", .string("new")))
      guard case .failure(let error) = try await write.outcome() else { throw DeadlinePassed(description: "written") }
      // Usually it is the bridge that says so; the daemon does if the bridge is late, too.
      let texts = ["may be changed later: the program does not answer", "did not reply within 5 seconds"]
      #expect(texts.contains { error.message.contains($0) }, "\(error)")
    }
  }

  @Test func aHungProgramDelaysNobody() async throws {
    try await Self.withProgram { desktop, program in
      let second = try await desktop.program("second")
      second.set("/entry", .entry("of the second"))
      program.change("/entry") { $0.isHung = true }
      program.textChanged("/entry")
      second.activate()
      second.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("of the second"))
      try await desktop.set("Text.Content", .string("written"))
      #expect(second.text(of: "/entry") == "written")
      program.focus("/entry")
      try await desktop.waitsForNothing()
    }
  }

  /// A program that is busy as it takes focus is asked again, though it tells nothing more.
  @Test func aBusyProgramIsAskedAgain() async throws {
    try await Self.withProgram { desktop, program in
      program.set("/busy", .entry("of the busy one"))
      program.change("/busy") { $0.isHung = true }
      program.focus("/busy")
      try await desktop.waitsForNothing()
      try await desktop.bridge.says("cannot be read")
      program.change("/busy") { $0.isHung = false }
      try await desktop.waits(for: "Text.Content", .string("of the busy one"))
    }
  }

  /// A program tells no change before it knows that its text is heard.
  @Test func whatChangesBeforeAProgramIsHeardIsShown() async throws {
    var entry = StubElement.entry("abc")
    entry.textAfterText = "loaded"
    try await Self.withProgram("Qt", entry) { desktop, _ in
      try await desktop.waits(for: "Text.Content", .string("loaded"))
    }
  }

  /// It tells nothing more when it goes on, which takes the test 50 seconds.
  @Test func aProgramThatHangsForLongIsReadWhenItIsBack() async throws {
    try await Self.withProgram { desktop, program in
      program.state.update { $0.calls = [] }
      program.change("/entry") { ($0.isHung, $0.text) = (true, "typed") }
      program.textChanged("/entry")
      try await program.state.wait(for: "seven readings", within: .seconds(100)) { state in
        state.calls.count { $0.path == "/entry" && ["GetRole", "GetSelection"].contains($0.member) } >= 7 ? () : nil
      }
      program.change("/entry") { $0.isHung = false }
      try await desktop.waits(for: "Text.Content", .string("typed"))
    }
  }

  @Test func aChangeDuringAPauseIsReadLater() async throws {
    try await Self.withProgram { desktop, program in
      program.change("/entry") { ($0.isHung, $0.text) = (true, "typed") }
      let asked = program.state.now.calls.count
      program.textChanged("/entry")
      try await program.state.wait(for: "question") { state in
        state.calls.dropFirst(asked).contains { $0.path == "/entry" } ? () : nil
      }
      program.change("/entry") { $0.isHung = false }
      try await desktop.waits(for: "Text.Content", .string("typed"))
    }
  }

  /// Neither change hides the other, in either order.
  @Test(arguments: [true, false]) func aTitleThatChangesWithTheTextIsRead(textFirst: Bool) async throws {
    try await Self.withProgram { desktop, program in
      program.change("/entry") { $0.text = "typed" }
      program.change("/window") { $0.name = "*The window" }
      if textFirst { program.textChanged("/entry") }
      program.nameChanged("/window")
      if !textFirst { program.textChanged("/entry") }
      try await desktop.waits(for: "Window.Title", .string("*The window"))
      try await desktop.waits(for: "Text.Content", .string("typed"))
    }
  }

  @Test func aProgramThatLeavesTakesItsFieldsAlong() async throws {
    try await Self.withProgram { desktop, program in
      #expect(try await desktop.fields().count == 1)
      try await program.peer.leave()
      try await desktop.waitsForNothing()
      try await eventually("no fields") { try await desktop.fields().isEmpty }
    }
  }

  @Test func twoProgramsHaveConnectionsOfTheirOwn() async throws {
    try await Self.withProgram { desktop, program in
      let second = try await desktop.program("second")
      second.set("/entry", .entry("of the second"))
      second.activate()
      second.focus("/entry")
      try await desktop.waits(for: "Window.Application", .string("second"))
      let fields = try await desktop.desktop.focusctl("list", "--json").text
      let owners = Set(fields.matches(of: /:1\.\d+/).map { String($0.output) })
      #expect(owners.count == 2, "\(fields)")
    }
  }

  @Test func otherProgramsMoveFocusOnlyIfTheProgramAgrees() async throws {
    try await Self.withProgram { desktop, program in
      program.set("/other", .entry("other"))
      program.focus("/other")
      try await desktop.waits(for: "Text.Content", .string("other"))
      let first = try #require(try await desktop.fields().first { !$0.contains("focused") })
      let id = String(first.prefix { !$0.isWhitespace })
      let refused = try await desktop.desktop.focusctl("focus", id)
      #expect(refused.status == 4, "\(refused)")
      program.change("/entry") { $0.takesFocus = true }
      let granted = try await desktop.desktop.focusctl("focus", id)
      #expect(granted.succeeded, "\(granted)")
      #expect(try await desktop.get("Text.Content") == .string("abc"))
    }
  }

  @Test func theWindowItselfHasFocusIfNothingInItDoes() async throws {
    try await Self.withProgram { desktop, program in
      let second = try await desktop.program("second")
      second.activate()
      try await desktop.waits(for: "Window.Application", .string("second"))
      #expect(try await desktop.get("Element.Role") == .string("window"))
      second.change("/window") { $0.name = "Renamed" }
      second.set("/entry", .entry("found"))
      second.change("/entry") { $0.states |= StubElement.focused }
      second.activate()
      try await desktop.waits(for: "Text.Content", .string("found"))
      #expect(try await desktop.get("Window.Title") == .string("Renamed"))
      // Only one window is active, or the bridge would find the other when none is in front.
      program.change("/window") { $0.states = 0 }
      second.deactivate()
      try await desktop.waitsForNothing()
    }
  }
}

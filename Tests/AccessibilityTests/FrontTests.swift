import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// Programs that say that they have focus, and are not in front.
@Suite struct FrontTests {
  /// One program in front with an entry that has focus, and one behind it.
  private static func withTwo(_ body: (AccessibleDesktop, StubProgram, StubProgram) async throws -> Void) async throws {
    try await AccessibleDesktop.with { desktop in
      let front = try await desktop.program("front", entry: "abc")
      let behind = try await desktop.program("behind")
      behind.change("/window") { $0.states = 0 }
      for index in 0..<20 { behind.set("/field\(index)", .entry("behind \(index)")) }
      try await body(desktop, front, behind)
    }
  }

  /// Types into the entry in front, and waits until that is told.
  private static func type(_ text: String, in program: StubProgram, _ desktop: AccessibleDesktop) async throws {
    program.change("/entry") { $0.text = text }
    program.textChanged("/entry")
    try await desktop.waits(for: "Text.Content", .string(text))
  }

  @Test func aProgramBehindTakesNoFocus() async throws {
    try await Self.withTwo { desktop, front, behind in
      behind.focus("/field0")
      try await behind.state.wait(for: "the question") { state in
        state.calls.contains { $0.path == "/window" && $0.member == "GetState" } ? () : nil
      }
      try await Self.type("typed", in: front, desktop)
      #expect(try await desktop.get("Window.Application") == .string("front"))
      for index in 0..<20 { behind.focus("/field\(index)") }
      try await Self.type("typed more", in: front, desktop)
      #expect(try await desktop.fields().count == 1)
    }
  }

  /// GNOME's program for frames reports a window with the title of the X11 window, active whenever that one is.
  @Test func aFrameOfAnotherProgramsWindowTakesNoFocus() async throws {
    try await AccessibleDesktop.with { desktop in
      let front = try await desktop.program("front", entry: "abc")
      let frames = try await desktop.program("mutter-x11-frames", toolkit: "GTK", version: "4.18.6")
      for _ in 0..<2 {
        frames.activate()
        try await frames.peer.settleAtBus()
        // It has learned by then which program it is.
        try await frames.state.wait(for: "the question") { state in
          state.calls.contains { $0.member == "Get" && $0.arguments.last == .string("Version") } ? () : nil
        }
      }
      try await Self.type("typed", in: front, desktop)
      #expect(try await desktop.fields().count == 1)
      #expect(frames.state.now.calls.allSatisfy { $0.path == StubProgram.root }, "\(frames.state.now.calls)")
    }
  }

  /// GNOME Shell reports its own window as active in each switch of windows, Cinnamon and KWin their switchers.
  @Test(arguments: ["gnome-shell", "cinnamon", "kwin_wayland"])
  func onlyWhatHoldsAValueInTheDesktopIsShown(name: String) async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program("front", entry: "abc")
      try await desktop.session.subscribe()
      let shell = try await desktop.program(name)
      program.deactivate()
      shell.activate()
      try await shell.state.wait(for: "the search") { state in
        state.calls.contains { $0.path == "/window" && $0.member == "GetChildren" } ? () : nil
      }
      try await desktop.waitsForNothing()
      shell.set("/switcher", StubElement(role: 32, name: "another window", interfaces: ["Component", "Action"]))
      shell.focus("/switcher")
      try await shell.state.wait(for: "the look at the switcher") { state in
        state.calls.contains { $0.path == "/switcher" && $0.member == "GetInterfaces" } ? () : nil
      }
      shell.set("/search", .entry("find"))
      shell.focus("/search")
      try await desktop.waits(for: "Text.Content", .string("find"))
      let fields = try await desktop.fields()
      #expect(fields.count == 2, "\(fields)")
      let roles = desktop.session.signals.values(of: "org.focusd.Element.Role")
      #expect(!roles.contains(.string("listitem")), "\(roles)")
      #expect(!shell.state.now.calls.contains { $0.path == "/window" && $0.member == "GetInterfaces" })
      // Who looks back does not find the search.
      shell.deactivate()
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("abc"))
      #expect(try await desktop.fields().count == 1)
      #expect(try await desktop.session.fields("History") == [])
    }
  }

  /// Qt does it with the window that it leaves.
  @Test func aWindowThatIsNotActiveDoesNotComeToTheFront() async throws {
    try await Self.withTwo { desktop, front, behind in
      behind.claimActivation()
      try await behind.state.wait(for: "the question") { state in
        state.calls.contains { $0.path == "/window" && $0.member == "GetState" } ? () : nil
      }
      try await Self.type("typed", in: front, desktop)
      behind.activate()
      behind.focus("/field0")
      try await desktop.waits(for: "Text.Content", .string("behind 0"))
    }
  }

  @Test func aWindowThatOnlyTellsItsStateComesToTheFront() async throws {
    try await Self.withTwo { desktop, front, behind in
      // Only one window is active, or the bridge would find the other when none is in front.
      front.change("/window") { $0.states = 0 }
      behind.change("/window") { $0.states = StubElement.active }
      behind.stateChanged("/window", "active", 1)
      behind.focus("/field0")
      try await desktop.waits(for: "Text.Content", .string("behind 0"))
      // A list item that is active is no window.
      behind.set("/item", StubElement(role: 32, states: StubElement.active))
      behind.stateChanged("/item", "active", 1)
      try await behind.state.wait(for: "the question") { state in
        state.calls.contains { $0.path == "/item" && $0.member == "GetRole" } ? () : nil
      }
      behind.change("/window") { $0.states = 0 }
      behind.stateChanged("/window", "active", 0)
      try await desktop.waitsForNothing()
    }
  }

  /// GTK 4 tells it in no other way, and may be busy then.
  @Test func aWindowThatDoesNotTellItsRoleAtFirstComesToTheFront() async throws {
    try await Self.withTwo { desktop, front, behind in
      front.change("/window") { $0.states = 0 }
      behind.change("/window") { ($0.states, $0.silent) = (StubElement.active, ["GetRole"]) }
      behind.focusSilently("/field0")
      behind.stateChanged("/window", "active", 1)
      try await behind.state.wait(for: "the question") { state in
        state.calls.contains { $0.path == "/window" && $0.member == "GetRole" } ? () : nil
      }
      behind.change("/window") { $0.silent = [] }
      try await desktop.waits(for: "Text.Content", .string("behind 0"))
    }
  }

  /// While the window bridge runs, the daemon knows what is in front; a program behind may have an active window there.
  @Test func whatTheDaemonSaysHasFocusIsFollowed() async throws {
    try await AccessibleDesktop.with { desktop in
      let windows = try await desktop.desktop.peer()
      try await windows.own("org.focusd.Bridge1.Windows")
      let front = try await desktop.program("front", entry: "abc")
      let owner = try await desktop.owners()
      let window = try await windows.register("front", [("demo.W.Name", .string("front"))])
      try await windows.call(Focus1.field(window), Focus1.fieldInterface, "Adopt", [.strings(owner)])
      try await windows.call(Focus1.field(window), Focus1.fieldInterface, "Focus")
      let other = try await windows.register("behind", [("demo.W.Name", .string("behind"))])
      let behind = try await desktop.program("behind")
      for index in 0..<20 { behind.set("/field\(index)", .entry("behind \(index)")) }
      behind.activate()
      behind.focus("/field0")
      try await eventually("its field") { try await desktop.owners().count == 2 }
      // While its window is not known, its fields may be on another connection.
      func adopt() async throws {
        let others = try await desktop.owners().filter { !owner.contains($0) }
        try await windows.call(Focus1.field(other), Focus1.fieldInterface, "Adopt", [.strings(others)])
      }
      try await adopt()
      for index in 1..<20 {
        behind.focus("/field\(index)")
        try await behind.state.wait(for: "its text") { state in
          state.calls.contains { $0.path == "/field\(index)" && $0.member == "GetText" } ? () : nil
        }
      }
      for text in ["abc", "typed", "typed more", "typed again"] {
        front.change("/entry") { $0.text = text }
        front.textChanged("/entry")
        try await eventually("the text in front") {
          try await adopt()
          return try await desktop.get("Text.Content") == .string(text)
        }
      }
    }
  }

  @Test func anElementOfAnotherProgramIsNotInTheWindow() async throws {
    try await Self.withTwo { desktop, front, behind in
      behind.focusSilently("/field0")
      let foreign = DBusValue.structure([.string(behind.peer.name), .objectPath(ObjectPath(known: "/field0"))])
      front.change("/window") { $0.answers["GetChildren"] = .array(DBusArray(known: foreign.type, [foreign])) }
      front.blur("/entry")
      try await desktop.waits(for: "Element.Role", .string("window"))
      #expect(try await desktop.get("Window.Application") == .string("front"))
    }
  }

  /// The daemon still tells of a closed dialog's field until it hears that the dialog's connection has gone.
  @Test func aClosedDialogIsNotTakenForAFieldOfTheProgramsOwn() async throws {
    try await AccessibleDesktop.with { desktop in
      let windows = try await desktop.desktop.peer()
      try await windows.own("org.focusd.Bridge1.Windows")
      let program = try await desktop.program(entry: "abc")
      let field = try await desktop.focusedField()
      program.change("/window") { $0.states |= StubElement.showing }
      for round in 0..<10 {
        let dialog = "/dialog\(round)"
        program.open(dialog, asking: "asked \(round)")
        try await desktop.waits(for: "Text.Content", .string("asked \(round)"))
        // Both are told at the same moment: that the dialog is closed, and a field of another bridge.
        desktop.bridge.terminate(SIGSTOP)
        for isField in [round.isMultiple(of: 2), !round.isMultiple(of: 2)] {
          if isField {
            try await windows.register("window\(round)", [("demo.W.Name", .string("window"))])
          } else {
            program.destroy(dialog)
            program.activate()
            program.focus("/entry")
            try await program.peer.askBus("GetId")
          }
        }
        desktop.bridge.terminate(SIGCONT)
        try await Self.type("typed \(round)", in: program, desktop)
        #expect(try await desktop.focusedField() == field)
      }
    }
  }

  /// Not only when the program in front has been given up: it is asked again after that.
  @Test func aProgramThatHangsDoesNotKeepTheOldOneWritable() async throws {
    try await Self.withTwo { desktop, front, _ in
      // On a busy machine the end of the old field may be seen late, and who was late is left alone for a while.
      var isPrompt = false
      for round in 0..<5 where !isPrompt {
        let next = try await desktop.program("next \(round)")
        next.set("/field", .entry("next"))
        next.change("/field") { $0.isHung = true }
        front.change("/window") { $0.states = 0 }
        next.activate()
        next.focus("/field")
        try await desktop.waitsForNothing()
        let asked = next.state.now.calls.filter { $0.path == "/field" }.map { "\($0.member) \($0.arguments)" }
        isPrompt = !asked.isEmpty && Set(asked).count == asked.count
        #expect(front.text(of: "/entry") == "abc")
        try await next.peer.leave()
        front.activate()
        front.focus("/entry")
        try await desktop.waits(for: "Text.Content", .string("abc"))
      }
      #expect(isPrompt)
    }
  }

  /// Qt tells focus of the current item of a list, whether or not the list has focus, or an entry for it, as in LXQt's menu.
  @Test func anItemHasFocusIfItsListHas() async throws {
    try await Self.withTwo { desktop, front, _ in
      front.set("/list", StubElement(role: 31))
      front.set("/item", StubElement(role: 32, states: StubElement.focused, name: "An item", parent: "/list"))
      func asks(about path: String) async throws {
        try await front.isAskedForStates(of: path) { front.stateChanged("/item", "focused", 1) }
      }
      front.change("/list") { $0.states = StubElement.focused }
      front.set("/other", StubElement(role: 32, states: StubElement.focused, name: "Another", parent: "/list"))
      front.stateChanged("/other", "focused", 1)
      try await asks(about: "/entry")
      try await Self.type("typed", in: front, desktop)
      front.change("/list") { $0.states = StubElement.focusable }
      front.change("/entry") { $0.states &= ~StubElement.focused }
      try await asks(about: "/list")
      try await Self.type("typed more", in: front, desktop)
      front.change("/list") { $0.states = StubElement.focused }
      front.stateChanged("/item", "focused", 1)
      try await desktop.waits(for: "Element.Role", .string("listitem"))
    }
  }

  /// As in KDE's settings: Qt gives focus to the widget around what Qt Quick draws, and tells no more.
  @Test func anEntryWithinAWidgetOfQtHasFocus() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program("settings", toolkit: "Qt", entry: "abc")
      program.set("/widget", StubElement(role: 20, states: StubElement.focused))
      program.set("/scope", StubElement(role: 39, states: StubElement.focused, parent: "/widget"))
      program.stateChanged("/widget", "focused", 1)
      try await desktop.waits(for: "Element.Role", .string("generic"))
      program.set("/search", .entry("search"))
      program.change("/search") { ($0.parent, $0.states) = ("/scope", $0.states | StubElement.focused) }
      for path in ["/search", "/widget"] { program.stateChanged(path, "focused", 1) }
      try await desktop.waits(for: "Text.Content", .string("search"))
      // What cannot be edited, too, however deep it is.
      program.change("/search") { $0.states &= ~StubElement.focused }
      program.set("/page", StubElement(role: 37, states: StubElement.focused, parent: "/scope"))
      program.set("/slider", .slider(3))
      program.change("/slider") { ($0.parent, $0.states) = ("/page", $0.states | StubElement.focused) }
      program.stateChanged("/widget", "focused", 1)
      try await desktop.waits(for: "Range.Value", .double(3))
    }
  }

  /// Qt says it of the current page's tab, as in qterminal, whose terminals are widgets of no role.
  @Test func whatHadFocusLastIsPreferredToATab() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program("terminal", toolkit: "Qt")
      program.set("/tab", StubElement(role: 37, states: StubElement.focused, name: "Shell"))
      program.set("/page", StubElement(role: 20))
      program.set("/pane", StubElement(role: 20, states: StubElement.focused, parent: "/page"))
      program.activate()
      program.stateChanged("/pane", "focused", 1)
      try await desktop.waits(for: "Element.Role", .string("generic"))
      for number in 1...3 {
        // Its window may have been left meanwhile.
        if number > 1 {
          program.deactivate()
          try await desktop.waitsForNothing()
        }
        try await program.isAskedForStates(of: "/pane") { program.activate() }
        program.change("/pane") { $0.name = "\(number)" }
        program.nameChanged("/pane")
        try await desktop.waits(for: "Element.Name", .string("\(number)"))
      }
    }
  }

  @Test func whatChangesBeforeItIsShownAgainIsShown() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program("front")
      program.set("/button", StubElement(role: 43, states: StubElement.focused, name: "Play"))
      program.activate()
      program.stateChanged("/button", "focused", 1)
      try await desktop.waits(for: "Element.Name", .string("Play"))
      program.deactivate()
      try await desktop.waitsForNothing()
      program.change("/window") { $0.silent = ["Get"] }
      let asked = program.state.now.calls.count
      program.activate()
      try await program.state.wait(for: "the button's name") { state in
        state.calls.dropFirst(asked).contains { $0.path == "/button" && $0.key.hasSuffix("Accessible.Name") } ? () : nil
      }
      let start = SuspendingClock.now
      program.change("/button") { $0.name = "Pause" }
      program.nameChanged("/button")
      // Changes are collected for a shorter time, after which it is not shown yet.
      try await eventually("it may have been read") { SuspendingClock.now - start > .milliseconds(100) }
      program.release("/window")
      try await desktop.waits(for: "Element.Name", .string("Pause"))
    }
  }

  /// Dolphin's list has none itself.
  @Test func anItemHasFocusIfWhatItsListIsInHas() async throws {
    try await Self.withTwo { desktop, front, _ in
      for (path, parent) in [("/view", "/window"), ("/inner", "/view")] {
        front.set(path, StubElement(role: 20, parent: parent))
      }
      front.set("/list", StubElement(role: 31, parent: "/inner"))
      front.change("/view") { $0.states = StubElement.focused }
      front.change("/entry") { $0.states &= ~StubElement.focused }
      front.set("/item", StubElement(role: 32, states: StubElement.focused, name: "An item", parent: "/list"))
      front.stateChanged("/item", "focused", 1)
      try await desktop.waits(for: "Element.Name", .string("An item"))
    }
  }

  /// Qt's does when an item's action opens another menu.
  @Test func anItemOfAClosedMenuHasNoFocus() async throws {
    try await Self.withTwo { desktop, front, _ in
      front.set("/item", StubElement(role: 35, states: StubElement.focused, name: "New Tab", parent: "/window"))
      front.stateChanged("/item", "focused", 1)
      try await front.state.wait(for: "the question") { state in
        state.calls.contains { $0.path == "/item" && $0.member == "GetState" } ? () : nil
      }
      try await Self.type("typed", in: front, desktop)
      #expect(try await desktop.refusal("Text.Content", .string("written")) == nil)
      front.change("/item") { $0.states |= StubElement.showing }
      front.stateChanged("/item", "focused", 1)
      try await desktop.waits(for: "Element.Name", .string("New Tab"))
    }
  }

  /// GTK 3 tells focus of a menu when one of its items is run, and nothing of what has it still.
  @Test func aMenuHasFocusIfItIsOpen() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(toolkit: "gtk", entry: "abc")
      program.set("/menu", StubElement(role: 33))
      for text in ["typed", "typed again"] {
        program.stateChanged("/menu", "focused", 1)
        try await program.state.wait(for: "the question") { state in
          state.calls.contains { $0.path == "/menu" && $0.member == "GetState" } ? () : nil
        }
        program.state.update { $0.calls = [] }
        try await Self.type(text, in: program, desktop)
        #expect(try await desktop.refusal("Text.Content", .string("written")) == nil)
      }
      program.set("/item", StubElement(role: 35, name: "Undo", parent: "/menu"))
      for path in ["/menu", "/item"] {
        program.change(path) { $0.states = StubElement.showing | (path == "/item" ? StubElement.selected : 0) }
        program.stateChanged(path, "focused", 1)
        try await desktop.waits(for: "Element.Role", .string(path == "/item" ? "menuitem" : "menu"))
      }
      // That it is closed is not told.
      for path in ["/menu", "/item"] { program.change(path) { $0.states = StubElement.focused } }
      try await desktop.waits(for: "Element.Role", .string("textbox"))
    }
  }

  /// The item is shown until the list answers.
  @Test func anItemWhoseListDoesNotAnswerAtFirst() async throws {
    try await Self.withTwo { desktop, front, _ in
      front.set("/list", StubElement(role: 31))
      front.change("/list") { $0.silent = ["GetState"] }
      front.change("/entry") { $0.states &= ~StubElement.focused }
      front.set("/item", StubElement(role: 32, states: StubElement.focused, name: "An item", parent: "/list"))
      front.stateChanged("/item", "focused", 1)
      try await desktop.waits(for: "Element.Role", .string("listitem"))
      front.change("/list") { $0.silent = [] }
      try await desktop.waits(for: "Text.Content", .string("abc"))
    }
  }

  /// LibreOffice's panes say that they have focus when what is in them has, and tell it when the window comes back.
  @Test func whatAPaneContainsHasFocus() async throws {
    try await Self.withTwo { desktop, front, _ in
      for (path, role, parent) in [("/root", 46, "/window"), ("/panel", 39, "/root")] as [(String, UInt32, String)] {
        front.set(path, StubElement(role: role, states: StubElement.focused, parent: parent))
      }
      var paragraph = StubElement.entry("a paragraph", role: 73)
      paragraph.states |= StubElement.focused
      paragraph.parent = "/panel"
      front.set("/paragraph", paragraph)
      front.stateChanged("/root", "focused", 1)
      try await desktop.waits(for: "Text.Content", .string("a paragraph"))
      // A pane of which nothing has focus has it itself.
      front.change("/paragraph") { $0.states &= ~StubElement.focused }
      front.change("/root") { $0.states &= ~StubElement.focused }
      front.stateChanged("/panel", "focused", 1)
      try await desktop.waits(for: "Element.Role", .string("group"))
    }
  }

  /// Firefox's window is in one of GTK, which is active, too, and of which a pane says that it has focus.
  @Test func aPaneOfAnotherWindowHasNoFocusIfTheOneInFrontHas() async throws {
    try await Self.withTwo { desktop, front, _ in
      front.set("/shell", StubElement(role: 23, states: StubElement.active, name: "Shell", parent: StubProgram.root))
      front.set("/pane", StubElement(role: 39, states: StubElement.focused, parent: "/shell"))
      front.stateChanged("/pane", "focused", 1)
      try await front.state.wait(for: "the question") { state in
        state.calls.contains { $0.path == "/pane" && $0.member == "GetChildren" } ? () : nil
      }
      try await Self.type("typed", in: front, desktop)
      try await Self.type("typed more", in: front, desktop)
      #expect(try await desktop.get("Element.Role") == .string("textbox"))
    }
  }

  /// Kate's buttons say that they have focus when its editor has, and its lists tell it of their items.
  @Test func whatCanBeEditedIsPreferredInQt() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program("editor", toolkit: "Qt")
      var entry = StubElement.entry("the editor")
      entry.states |= StubElement.focused
      program.set("/entry", entry)
      program.set("/button", StubElement(role: 43, states: StubElement.focused))
      program.set("/list", StubElement(role: 31))
      program.set("/item", StubElement(role: 32, states: StubElement.focused, name: "An item", parent: "/list"))
      program.activate()
      program.stateChanged("/item", "focused", 1)
      try await desktop.waits(for: "Text.Content", .string("the editor"))
    }
  }

  @Test func aProgramThatNeverAnswersIsAskedLittle() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program("silent")
      for index in 0..<256 { program.set("/child\(index)", .entry("text")) }
      program.state.update { state in
        for path in state.elements.keys where path != "/window" { state.elements[path]?.isHung = true }
      }
      program.activate()
      // It is searched for what has focus, and searched again after it did not answer.
      try await program.state.wait(for: "questions") { state in
        state.calls.count { $0.path == "/window" && $0.member == "GetChildren" } > 2 ? () : nil
      }
      // What it has told comes before what the other tells.
      try await program.peer.askBus("GetId")
      let second = try await desktop.program("second")
      second.set("/entry", .entry("of the second"))
      second.activate()
      second.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("of the second"))
      // As many as are asked at once, each time that it is searched.
      let calls = program.state.now.calls
      let searches = calls.count { $0.path == "/window" && $0.member == "GetChildren" }
      #expect(calls.count { $0.path.hasPrefix("/child") } <= 16 * searches)
    }
  }

  @Test func keptElementsCountForEachProgram() async throws {
    try await AccessibleDesktop.with { desktop in
      let programs = [try await desktop.program("first"), try await desktop.program("second")]
      for program in programs {
        let name = program.name
        program.activate()
        for index in 0..<18 {
          program.set("/field\(index)", .entry("\(name) \(index)"))
          program.focus("/field\(index)")
          try await desktop.waits(for: "Text.Content", .string("\(name) \(index)"))
        }
      }
      try await eventually("sixteen fields of each") { try await desktop.fields().count == 32 }
    }
  }
}

extension AccessibleDesktop {
  /// The connections that have fields of elements.
  fileprivate func owners() async throws -> [String] {
    let fields = try await desktop.focusctl("list", "--json").text
    return Set(
      fields.split(separator: "\n").filter { $0.contains("textbox") || $0.contains("entry") }.flatMap {
        $0.matches(of: /:1\.\d+/).map { String($0.output) }
      }
    ).sorted()
  }
}

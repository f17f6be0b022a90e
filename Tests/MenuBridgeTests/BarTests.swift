import BusSupport
import DBusTypes
import Glibc
import TestSupport
import Testing

/// Menu bars on the accessibility bus, of a program that says what it likes.
@Suite struct BarTests {
  private static let edit = "/a/bar/0"

  @Test func itsItemsAreRunAndChecked() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a", ["Undo", "Wrap"])
      program.change(Self.edit + "/1") { $0.role = StubBars.checkItem }
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      try await stage.run("Menu.Check", [.string("Edit › Wrap"), .boolean(true)])
      try await stage.run("Menu.Check", [.string("Edit › Wrap"), .boolean(true)])
      try await program.state.ran(\.activated, [Self.edit + "/0", Self.edit + "/1"])

      // One of several that are checked one at a time is not unchecked.
      let uncheck = [DBusValue.string("Edit › Wrap"), .boolean(false)]
      program.change(Self.edit + "/1") { $0.answers["DoAction"] = .values([.boolean(true)]) }
      #expect(try await stage.refusal("Menu.Check", uncheck) == "Failed")
      program.change(Self.edit + "/1") { $0.answers["DoAction"] = nil }
      try await stage.run("Menu.Check", uncheck)
      try await program.state.ran(\.activated, [Self.edit + "/0", Self.edit + "/1", Self.edit + "/1"])

      program.change(Self.edit + "/0") { $0.states = 0 }
      #expect(try await stage.refusal("Edit.Undo") == "Disabled")
      #expect(try await stage.items().map(\.isEnabled) == [false, true])
      program.change(Self.edit + "/0") { $0.states = StubBars.enabled }
      program.change(Self.edit + "/0") { $0.answers["DoAction"] = .values([.boolean(false)]) }
      // One that takes long is said to have begun.
      try await eventually("a refusal") { try await stage.refusal("Edit.Undo") == "Failed" }
      #expect(program.state.now.activated.count == 3)
    }
  }

  /// It may be one that is never looked into.
  @Test func aWindowOfAnotherProgramIsAskedNothing() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      let other = try await stage.desktop.peer()
      let asked = Observed<[String]>([])
      other.answer { call, _ in
        asked.update { $0.append(call.path) }
        return .values([])
      }
      for (path, child) in [(StubBars.root, "/a"), ("/a", "/a/bar")] {
        program.change(path) { [name = program.peer.name] element in
          element.answers["GetChildren"] = .values([StubBars.references([(other.name, "/b"), (name, child)])])
        }
      }
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      #expect(!asked.now.contains("/b"))
    }
  }

  /// As in CherryTree.
  @Test func aBarThatScrollsIsFound() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      program.state.update { state in
        state.elements["/a"]?.children = ["/a/box", "/a/pane"]
        state.elements["/a/box"] = .init(role: 39, children: ["/a/scroll"])
        state.elements["/a/scroll"] = .init(role: 49, children: ["/a/view"])
        state.elements["/a/view"] = .init(role: 68, children: ["/a/bar"])
        // A bar as deep in panels belongs to something in the window.
        state.elements["/a/pane"] = .init(role: 39, children: ["/a/pane/0"])
        state.elements["/a/pane/0"] = .init(role: 39, children: ["/a/pane/0/0"])
        state.elements["/a/pane/0/0"] = .init(role: 39, children: ["/a/other"])
        state.elements["/a/other"] = .init(role: StubBars.bar)
      }
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, [Self.edit + "/0"])
    }
  }

  /// Lazarus has each menu a second time in the bars that it makes with Qt, hidden.
  @Test func aMenuThatIsHiddenIsNone() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a", ["Undo", "Redo"])
      // Menus of Qt 5 are items.
      for (menu, states) in [("Edit", 0), ("View", 1 << 30), ("Go", StubBars.enabled)] {
        program.add(.init(role: StubBars.item, name: menu, states: states), to: "/a/bar")
      }
      for (number, item) in ["Undo", "Zoom", "Back"].enumerated() {
        program.add(.init(role: StubBars.item, name: item), to: "/a/bar/\(number + 1)")
      }
      // In a closed menu, one that is disabled says as little.
      program.add(.init(role: StubBars.menu, name: "Paste", states: 0), to: Self.edit)
      program.add(.init(role: StubBars.item, name: "As text"), to: Self.edit + "/2")
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      let items = try await stage.items().map(\.id)
      #expect(items == ["Edit › Undo", "Edit › Redo", "Edit › Paste › As text", "View › Zoom", "Go › Back"])
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, [Self.edit + "/0"])
    }
  }

  /// As Audacity does when its settings are closed: the one before answers nothing any more.
  @Test func aBarThatIsMadeAnew() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      program.state.update { state in
        for path in ["/a/bar", Self.edit, Self.edit + "/0"] {
          state.elements["/a/new" + path.dropFirst("/a/bar".count)] = state.elements.removeValue(forKey: path)
        }
        state.elements["/a"]?.children = ["/a/new"]
        state.elements["/a/new"]?.children = ["/a/new/0"]
        state.elements["/a/new/0"]?.children = ["/a/new/0/0"]
      }
      #expect(try await stage.items().map(\.id) == ["Edit › Undo"])
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, ["/a/new/0/0"])
    }
  }

  /// Without the window bridge, the outermost field of a program stands for its window.
  @Test func aSceneOfBeforeTheWindowsLosesItsMenus() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      try await stage.windows.call(.bus("ReleaseName", [.string("org.focusd.Bridge1.Windows")]))
      let other = try await stage.desktop.peer()
      try await other.register("scene", [("org.focusd.Window.ProcessId", .uint32(UInt32(getpid())))])
      try await other.focus("scene")
      try await stage.has("Edit.Undo")
      try await stage.windows.own("org.focusd.Bridge1.Windows")
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      try await eventually("one window with menus") {
        try await stage.windows.owners().values.count { ![stage.windows.name, other.name].contains($0) } == 1
      }
    }
  }

  /// Where the window manager does not tell the process, the window bridge may know it, at once or by what comes to be in it.
  @Test func ofAWindowWithoutAProcess() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      let process: Named = [("process", .uint32(UInt32(getpid())))]
      try await stage.show("w1", process, process: nil)
      try await stage.has("Edit.Undo")
      try await stage.windows.field("w1", "Unregister")
      try await stage.show("w2", [], process: nil)
      let element = try await stage.desktop.peer()
      try await element.register("element")
      #expect(try await stage.windows.commands().isEmpty)
      stage.tell("w2", process)
      try await stage.windows.field("w2", "Adopt", [.strings([element.name])])
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, [Self.edit + "/0"])
      // It was another program's after all.
      stage.tell("w2", [])
      try await stage.windows.field("w2", "Adopt", [.strings([])])
      try await stage.windows.field("w2", "Adopt", [.strings([element.name])])
      try await eventually("no menus") { try await stage.windows.commands().isEmpty }
    }
  }

  /// KWin reports the number that a Flatpak's process has within the Flatpak, which may be another program's.
  @Test func aFrameBehindIsNotTakenForAnotherWindowsOfItsProcess() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a", isActive: false)
      try await stage.show("w1", [], title: "a")
      try await stage.has("Edit.Undo")
      try await stage.show("w2", [], title: "game")
      try await eventually("it is asked whether it is active, twice") {
        program.state.now.calls.count { $0 == (member: "GetState", path: "/a") } >= 3
      }
      #expect(try await stage.windows.commands().isEmpty)
      // It says that it is this one after all.
      program.activate("a")
      program.change("/a") { $0.name = "game" }
      try await stage.has("Edit.Undo")
    }
  }

  /// Konsole's "New Tab" has keys, and a menu that its action opens.
  @Test func anItemWithAMenuIsNotRun() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a", ["Undo", "Redo"])
      program.change(Self.edit + "/0") { $0.keys = "Ctrl+Z" }
      program.add(StubBars.Element(role: StubBars.menu, name: "Profiles"), to: Self.edit + "/0")
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      #expect(try await stage.refusal("Edit.Undo") == "NotSupported")
      #expect(program.state.now.activated == [])
      try await eventually("it is not offered any more") {
        try await stage.windows.commands()["org.focusd.Edit.Undo"] == nil
      }
      #expect(try await stage.windows.commands()["org.focusd.Edit.Redo"] == true)
      #expect(try await stage.items().map(\.id) == ["Edit › Redo"])
    }
  }

  /// An item is the same with other keys, or with another label and the same keys; else it is not there any more.
  @Test(arguments: [("Undo", "Ctrl+U", true), ("Undo typing", "Ctrl+Z", true), ("Delete all", "Ctrl+D", false)])
  func whatAnItemIsNow(name: String, keys: String, isRun: Bool) async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      program.change(Self.edit + "/0") { $0.keys = "Ctrl+Z" }
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      program.change(Self.edit + "/0") { ($0.name, $0.keys) = (name, keys) }
      #expect(try await stage.refusal("Edit.Undo") == (isRun ? nil : "Failed"))
      try await program.state.ran(\.activated, isRun ? [Self.edit + "/0"] : [])
    }
  }

  /// At first sight it asks 400 questions at most, and all of it when it is wanted.
  @Test func aBarOfManyItems() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      for menu in 1..<10 {
        program.add(StubBars.Element(role: StubBars.menu, name: "Menu \(menu)"), to: "/a/bar")
        for number in 0..<50 {
          program.add(StubBars.Element(role: StubBars.item, name: "Item \(number)"), to: "/a/bar/\(menu)")
        }
      }
      // One late answer makes a sight ask for less, or again: then another window's first sight counts.
      var counts: [Int] = []
      repeat {
        program.state.update { $0.calls = [] }
        if counts.count > 0 { try await stage.windows.field("w\(counts.count - 1)", "Unregister") }
        try await stage.show("w\(counts.count)", [])
        try await stage.has("Edit.Undo")
        counts.append(program.state.now.calls.count)
      } while counts.count < 5 && !counts.contains { (300...400).contains($0) }
      #expect(counts.contains { (300...400).contains($0) }, "\(counts)")
      // On a busy machine, they may take longer than the daemon waits.
      try await eventually("all items") { (try? await stage.items().count) == 451 }
      let last = [DBusValue.string("Menu 9 › Item 49")]
      try await eventually("the last item is run") { try await stage.refusal("Menu.Activate", last) == nil }
      let path = "/a/bar/9/49"
      _ = try await program.state.wait(for: path) { $0.activated.contains(path) ? true : nil }
      #expect(Set(program.state.now.activated) == [path])
    }
  }

  @Test func menusThatContainEachOtherAndOthersElements() async throws {
    try await MenuStage.withBars { stage, program in
      let other = try await stage.desktop.peer()
      let wasAsked = Observed(false)
      other.answer(at: "/theirs") { _, _ in
        wasAsked.update { $0 = true }
        return .values([])
      }
      program.window("a", ["Undo"])
      let reference = DBusType.structure([.string, .objectPath])
      let children = [
        (program.peer.name, Self.edit), (program.peer.name, "/a/bar"), (other.name, "/theirs"),
        (program.peer.name, Self.edit + "/0"),
      ].map { DBusValue.structure([.string($0.0), .objectPath(ObjectPath(known: $0.1))]) }
      program.change(Self.edit) {
        $0.answers["GetChildren"] = .values([.array(DBusArray(known: reference, children))])
      }
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      #expect(try await stage.items().map(\.id) == ["Edit › Undo"])
      #expect(!wasAsked.now)
    }
  }

  /// What is no menu counts for no depth of menus, and is not read for good either.
  @Test func thousandElementsWithinEachOther() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a", ["Undo"])
      program.state.update { state in
        for level in 0..<1000 {
          state.elements["/deep\(level)"] = StubBars.Element(role: 39, children: ["/deep\(level + 1)"])
        }
        state.elements["/deep1000"] = StubBars.Element(role: StubBars.item, name: "Deep")
        state.elements[Self.edit]?.children.append("/deep0")
      }
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      #expect(try await stage.items().map(\.id) == ["Edit › Undo"])
      let asked = Set(program.state.now.calls.map(\.path))
      #expect(asked.contains("/deep20") && !asked.contains("/deep40"))
    }
  }

  /// In Java's root pane and the layered pane in that, and behind forty docks, as in Krita.
  @Test(arguments: [true, false]) func aBarThatIsNotTheFirstChildIsFound(isJava: Bool) async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      program.state.update { state in
        let docks = (0..<40).map { "/a/dock\($0)" }
        for dock in docks { state.elements[dock] = StubBars.Element(role: 0) }
        state.elements["/a/root"] = StubBars.Element(role: 46, children: ["/a/layers"])
        state.elements["/a/layers"] = StubBars.Element(role: 30, children: ["/a/bar"])
        state.elements["/a"]?.children = isJava ? ["/a/root"] : docks + ["/a/bar"]
      }
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
    }
  }

  /// As in Inkscape, whose documents have actions of their own: GTK tells where the window's and the application's are.
  @Test func itemsWhoseActionsAreToldNowhereAreRunInTheMenuBar() async throws {
    try await MenuStage.withBars { stage, bars in
      bars.window("a", ["Undo", "Wrap"])
      let program = StubMenus(try await stage.desktop.peer())
      program.state.update { state in
        state.actions["undo"] = nil
        state.lists[[1, 0]] = [("_Undo", "doc.undo"), ("_Wrap", "win.wrap")].map {
          [("label", .string($0.0)), ("action", .string($0.1))]
        }
      }
      try await stage.show("w1", of: program)
      try await stage.has("Edit.Undo")
      #expect(try await stage.items().map(\.id) == ["win.wrap", "Edit › Undo"])
      try await stage.run("Edit.Undo")
      try await bars.state.ran(\.activated, [Self.edit + "/0"])
      #expect(program.state.now.activated.isEmpty)
    }
  }

  /// A program stops to answer while it is read; another window's commands work.
  @Test(arguments: ["GetChildren", "GetRole", "Get", "GetKeyBinding"])
  func aBarThatDoesNotAnswer(member: String) async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      for path in ["/a/bar", Self.edit, Self.edit + "/0"] { program.change(path) { $0.answers[member] = .hold } }
      try await stage.show("w1", [])
      _ = try await program.state.wait(for: "a call") { $0.calls.contains { $0.member == member } ? true : nil }
      let other = try await stage.program("w2")
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      try await other.state.ran(\.activated, ["undo"])
      #expect(program.state.now.activated.isEmpty)
    }
  }

  /// As all programs are on a busy machine: each answer comes, and takes longer than one may at first sight.
  @Test(arguments: [(["a"], ""), (["a", "b"], ""), (["b", "a"], "a")])
  func aProgramThatIsSlow(windows: [String], title: String) async throws {
    try await MenuStage.withBars { stage, program in
      for name in windows { program.window(name, isActive: false) }
      program.activate("a")
      program.state.update { $0.delay = .milliseconds(600) }
      try await stage.show("w1", [], title: title)
      try await stage.has("Edit.Undo")
      try await program.state.ran(\.activated, only: Self.edit + "/0", in: stage.attempts("Edit.Undo"))
    }
  }

  /// It was quick at first sight.
  @Test func aProgramThatBecomesSlow() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      program.state.update { $0.delay = .milliseconds(450) }
      // On a busy machine, it may take longer than the daemon waits.
      try await eventually("all items") { (try? await stage.items().count) == 1 }
    }
  }

  /// The items of the document that was in front go on to exist.
  @Test func anItemThatWasTakenOutOfItsMenuIsNotRun() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      program.state.update { state in
        state.elements["/a/bar/0/new"] = state.elements["/a/bar/0/0"]
        state.elements["/a/bar/0"]?.children = ["/a/bar/0/new"]
      }
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, ["/a/bar/0/new"])
    }
  }

  /// It has few commands, so that it is looked at again with another title, and does not say then which windows it has.
  @Test func aProgramThatIsLateAtTheNextLookKeepsItsCommands() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a", menu: "File", ["Open", "Save"])
      try await stage.show("w1", [])
      try await stage.has("Document.Save")
      program.change(StubBars.root) { $0.answers["GetChildren"] = .hold }
      let count = program.state.now.calls.count { $0.path == StubBars.root && $0.member == "GetChildren" }
      for number in 1...3 {
        let title = DBusValue.properties([("org.focusd.Window.Title", .string("title \(number)"))])
        try await stage.windows.field("w1", "Publish", [title, .properties([])])
        try await eventually("look \(number)") {
          program.state.now.calls.count { $0.path == StubBars.root && $0.member == "GetChildren" } >= count + number
        }
      }
      #expect(try await stage.windows.commands()["org.focusd.Document.Save"] == true)
      program.release(StubBars.root)
      try await eventually("it is run") { try await stage.refusal("Document.Save") == nil }
      try await program.state.ran(\.activated, ["/a/bar/0/1"])
    }
  }

  /// That nothing could be read is not that there is nothing.
  @Test func aProgramThatHangsHasNoEmptyMenus() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      program.change("/a/bar") { $0.answers["GetChildren"] = .hold }
      #expect(try await stage.refusal("Menu.Items") == "Timeout")
      // It is left alone for a while.
      #expect([nil, "Timeout"].contains(try await stage.refusal("Edit.Undo")))
      program.change("/a/bar") { $0.answers["GetChildren"] = nil }
      try await eventually("all items") { (try? await stage.items().count) == 1 }
      try await stage.run("Edit.Undo")
    }
  }

  /// An item is not disabled because it does not tell in time whether it is.
  @Test func aStateThatIsNotTold() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      // Each lasts until it is said to have begun: what is disabled when the window has just come is asked for again.
      program.change(Self.edit + "/0") { $0.answers["DoAction"] = .hold }
      for _ in 0..<2 { try await stage.run("Edit.Undo") }
      program.change(Self.edit + "/0") { $0.answers["GetState"] = .hold }
      let refusal = try await stage.refusal("Edit.Undo")
      #expect(refusal != nil && refusal != "Disabled")
    }
  }

  /// Each answer comes in time, and all of them take minutes: what is known by then is offered, and the rest looked for later.
  ///
  /// It takes 20 s, of which the bridge waits 15.
  @Test func aProgramThatIsSlowForLong() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      program.change(Self.edit + "/0") { $0.keys = "Ctrl+Z" }
      for number in 1..<24 {
        program.add(StubBars.Element(role: StubBars.menu, name: "Menu \(number)"), to: "/a/bar")
        let name = number == 23 ? "Redo" : "Item"
        program.add(StubBars.Element(role: StubBars.item, name: name), to: "/a/bar/\(number)")
      }
      // Until it is looked at with more patience than at first sight.
      program.state.update { $0.delay = .milliseconds(600) }
      try await stage.show("w1", [])
      try await Self.answered(program, "GetState", at: "/a")
      program.state.update { $0.delay = .milliseconds(200) }
      try await Self.answered(program, "GetKeyBinding", at: Self.edit + "/0")
      program.state.update { $0.delay = .seconds(2) }
      try await stage.has("Edit.Undo")
      #expect(try await stage.windows.commands()["org.focusd.Edit.Redo"] == nil)
      program.state.update { $0.delay = nil }
      try await stage.has("Edit.Redo")
    }
  }

  /// What the others contain is offered meanwhile.
  @Test func aMenuThatDoesNotAnswerAtFirst() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      program.add(StubBars.Element(role: StubBars.menu, name: "More"), to: "/a/bar")
      program.add(StubBars.Element(role: StubBars.item, name: "Redo"), to: "/a/bar/1")
      program.change("/a/bar/1") { $0.answers["GetChildren"] = .hold }
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      program.change("/a/bar/1") { $0.answers = [:] }
      try await stage.has("Edit.Redo")
    }
  }

  /// Its program tells of an action that changes before all of the bar is read.
  @Test func anActionThatChangesMeanwhile() async throws {
    try await MenuStage.withBars { stage, bars in
      bars.window("a", ["Wrap"])
      bars.change(Self.edit) { $0.answers["GetChildren"] = .hold }
      let program = StubMenus(try await stage.desktop.peer())
      try await stage.show("w1", of: program, hasMenubar: false)
      try await Self.answered(bars, "GetChildren", at: Self.edit)
      _ = try await program.state.wait(for: "a call") { $0.calls.contains("DescribeAll") ? true : nil }
      program.enable("undo", false)
      // The bus has passed that on by then.
      _ = try await program.peer.askBus("GetId")
      bars.release(Self.edit)
      try await stage.has("Edit.Undo", isEnabled: false)
    }
  }

  private static func answered(_ program: StubBars, _ member: String, at path: String) async throws {
    _ = try await program.state.wait(for: member) { state in
      state.calls.contains { $0.member == member && $0.path == path } ? true : nil
    }
  }

  /// Waits until an item was run last.
  private static func ran(_ program: StubBars, _ path: String) async throws {
    _ = try await program.state.wait(for: path) { $0.activated.last == path ? true : nil }
  }

  // MARK: Several windows of one program

  @Test func eachWindowHasItsOwnBar() async throws {
    try await MenuStage.withBars { stage, program in
      for name in ["a", "b", "c"] { program.window(name, isActive: false) }
      for (window, name) in [("w1", "b"), ("w2", "c"), ("w3", "a")] {
        program.activate(name)
        try await stage.show(window, [])
        try await stage.has("Edit.Undo")
      }
      for (window, name) in [("w3", "a"), ("w1", "b"), ("w2", "c"), ("w1", "b")] {
        // What the program says of it does not matter any more.
        try await stage.windows.focus(window)
        try await stage.has("Edit.Undo")
        try await stage.run("Edit.Undo")
        try await Self.ran(program, "/\(name)/bar/0/0")
      }
    }
  }

  /// Titles tell them apart, whatever the program says of what is in front; those of two windows do not.
  @Test func windowsWithTitlesOfTheirOwn() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      program.window("b", isActive: false)
      for (window, name) in [("w1", "b"), ("w2", "a")] {
        try await stage.show(window, [], title: name)
        try await stage.has("Edit.Undo")
        try await stage.run("Edit.Undo")
        try await Self.ran(program, "/\(name)/bar/0/0")
      }
      for path in ["/c", "/d"] { program.window(String(path.dropFirst()), isActive: false) }
      for path in ["/c", "/d"] { program.change(path) { $0.name = "untitled" } }
      program.activate("d")
      try await stage.show("w3", [], title: "untitled")
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      try await Self.ran(program, "/d/bar/0/0")
    }
  }

  /// The window bridge tells of a window before its program does.
  @Test func aProgramThatLearnsLateWhichWindowIsInFront() async throws {
    try await MenuStage.withBars { stage, program in
      program.window("a")
      program.window("b", isActive: false)
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      try await stage.show("w2", [])
      let looks = program.state.now.calls.count { $0.path == "/b" }
      _ = try await program.state.wait(for: "another look") { state in
        state.calls.count { $0.path == "/b" } > looks + 2 ? true : nil
      }
      #expect(try await stage.windows.commands()["org.focusd.Edit.Undo"] == nil)
      program.activate("b")
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, ["/b/bar/0/0"])
    }
  }

  /// With no window in front, as far as the program says, or with two, none is taken for the one in front.
  @Test(arguments: [[], ["a", "b"]]) func aProgramThatDoesNotTellWhichWindowIsInFront(active: [String]) async throws {
    try await MenuStage.withBars { stage, program in
      for name in ["a", "b"] { program.window(name, isActive: false) }
      for name in active { program.change("/" + name) { $0.states = StubBars.active } }
      try await stage.show("w1", [])
      // It is looked at again.
      _ = try await program.state.wait(for: "several looks") { state in
        state.calls.count { $0.path == "/a" && $0.member == "GetState" } >= 4 ? true : nil
      }
      #expect(try await stage.windows.commands()["org.focusd.Edit.Undo"] == nil)
      #expect(!program.state.now.calls.contains { $0.path.hasPrefix("/a/bar") || $0.path.hasPrefix("/b/bar") })
      program.activate("a")
      try await stage.has("Edit.Undo")
    }
  }
}

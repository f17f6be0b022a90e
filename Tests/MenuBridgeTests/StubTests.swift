import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// What the bridge makes of a program that says what it likes.
@Suite struct StubTests {
  @Test func aCommandFollowsItsAction() async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, ["undo"])

      program.enable("undo", false)
      try await stage.has("Edit.Undo", isEnabled: false)
      #expect(try await stage.refusal("Edit.Undo") == "Disabled")
      program.enable("undo", true)
      try await stage.has("Edit.Undo")
      #expect(program.state.now.activated == ["undo"])
    }
  }

  /// In the sandbox of its unit the bridge cannot read a program's environment, and it starts before the session says its own.
  @Test(
    .enabled(
      if: FileManager.default.fileExists(atPath: "/usr/share/locale/de/LC_MESSAGES/gtk30.mo"),
      "needs GTK 3's messages in German: .ci/setup test"))
  func theLanguageOfTheSessionCountsForAProgramWithoutOne() async throws {
    try await MenuStage.with { stage in
      let manager = try await stage.desktop.peer()
      manager.answer(at: "/org/freedesktop/systemd1") { _, _ in .values([.variant(.strings(["LANG=de_DE.UTF-8"]))]) }
      try await manager.own("org.freedesktop.systemd1")
      let process = try await stage.desktop.start(["/usr/bin/env", "-i", "/usr/bin/sleep", "infinity"])
      try await eventually("an empty environment") {
        try String(contentsOfFile: "/proc/\(process.processID)/environ", encoding: .utf8).isEmpty
      }
      let program = StubMenus(try await stage.desktop.peer())
      program.menu("Bearbeiten", ["first": "_Rückgängig", "second": "_Wiederholen"])
      program.state.update { $0.actions = ["first": .init()] }
      try await stage.show("w1", of: program, process: process.processID)
      try await stage.has("Edit.Undo")
    }
  }

  /// Its number is another item's as soon as the program makes its menus anew.
  @Test func aCommandWithoutAStableNameIsStillTheOneThatItsMenuShows() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.menu("Edit", ["5001": "_Undo", "5002": "Re_do"])
      program.state.update { $0.actions = ["5001": .init(), "5002": .init()] }
      try await stage.show("w1", of: program)
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, ["5001"])
      program.menu("Edit", ["5001": "Delete _All", "5002": "_Undo"])
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, ["5001", "5002"])
    }
  }

  /// The program tells it: it is asked only when the command is run.
  @Test func aCommandWhoseActionGoesAndComes() async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      for action in [nil, .init(), .init(isEnabled: false), .init()] as [StubMenus.Action?] {
        program.replace("undo", with: action)
        try await stage.has("Edit.Undo", isEnabled: action?.isEnabled == true)
      }
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, ["undo"])
      #expect(program.state.now.calls.count { $0 == "Describe" } == 1)
    }
  }

  @Test func aCommandThatIsDisabledBehindIsSoInFront() async throws {
    try await MenuStage.with { stage in
      let (program, other) = (try await stage.program("w1"), try await stage.program("w2"))
      try await stage.has("Edit.Undo")
      program.enable("undo", false)
      // The answer to what the bridge asks because of this comes after that, and what is told then counts later.
      _ = try await stage.items()
      other.enable("undo", false)
      try await stage.has("Edit.Undo", isEnabled: false)
      try await stage.windows.focus("w1")
      try await stage.has("Edit.Undo", isEnabled: false)
    }
  }

  @Test func aCommandThatIsEnabledWhileTheDaemonIsAwayIsSoAfterwards() async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      program.enable("undo", false)
      try await stage.has("Edit.Undo", isEnabled: false)
      try await stage.desktop.kill()
      program.enable("undo", true)
      // The bus has it before the daemon comes.
      try await program.peer.askBus("GetId")
      try await stage.desktop.start()
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, ["undo"])
    }
  }

  /// Two items have one action; a third has it too, but in a menu that must be opened to know whether it is enabled.
  @Test func itemsWithTargetsFollowTheirAction() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      func items(_ labels: String...) -> [Named] {
        labels.map { [("label", .string($0)), ("action", .string("win.edit")), ("target", .string($0))] }
      }
      let menus: [Named] = [
        [("label", .string("Edit")), (":submenu", StubMenus.list(1, 0))],
        [("label", .string("More")), (":submenu", StubMenus.list(2, 0)), ("submenu-action", .string("win.more"))],
      ]
      let lists: [[UInt32]: [Named]] = [
        [0, 0]: menus, [1, 0]: items("Undo", "Redo"), [2, 0]: items("Copy", "Paste"),
      ]
      program.state.update { ($0.actions, $0.lists) = (["edit": .init()], lists) }
      try await stage.show("w1", of: program)
      try await stage.has("Edit.Undo")
      let changes: [(isEnabled: Bool, tell: () -> Void)] = [
        (false, { program.enable("edit", false) }), (true, { program.enable("edit", true) }),
        (false, { program.replace("edit", with: nil) }), (true, { program.replace("edit", with: .init()) }),
      ]
      for change in changes {
        change.tell()
        try await stage.has("Edit.Undo", isEnabled: change.isEnabled)
        try await stage.has("Edit.Redo", isEnabled: change.isEnabled)
        #expect(try await stage.windows.commands()["org.focusd.Edit.Copy"] == true)
      }
    }
  }

  struct Change: Sendable {
    let before: StubMenus.Action?
    let isEnabled: Bool
    let tell: @Sendable (StubMenus) -> Void
  }

  /// It tells of a change after its actions were read, and before its menus were.
  @Test(
    arguments: [
      Change(before: .init(), isEnabled: false) { $0.enable("undo", false) },
      Change(before: .init(), isEnabled: false) { $0.replace("undo", with: nil) },
      Change(before: nil, isEnabled: true) { $0.replace("undo", with: .init()) },
      Change(before: .init(isEnabled: false), isEnabled: true) { $0.replace("undo", with: .init()) },
    ]) func anActionThatChangesMeanwhile(change: Change) async throws
  {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.menu("Edit", ["undo": "Undo", "redo": "Redo"])
      program.state.update { state in
        (state.actions["undo"], state.actions["redo"]) = (change.before, .init(isEnabled: false))
        state.answers["Start"] = .hold
      }
      try await stage.show("w1", of: program)
      _ = try await program.state.wait(for: "questions") { state in
        ["DescribeAll", "Start"].allSatisfy(state.calls.contains) ? true : nil
      }
      change.tell(program)
      program.release()
      // The daemon is told of both at once; until then both are enabled.
      try await stage.has("Edit.Redo", isEnabled: false)
      try await stage.has("Edit.Undo", isEnabled: change.isEnabled)
    }
  }

  @Test func anItemIsRunAndChecked() async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Menu.Items")
      #expect(try await stage.items().map(\.id) == ["win.undo", "win.wrap"])
      try await stage.run("Menu.Check", [.string("win.wrap"), .boolean(true)])
      try await stage.run("Menu.Check", [.string("win.wrap"), .boolean(true)])
      try await program.state.ran(\.activated, ["wrap"])
      #expect(try await stage.items().map(\.checked) == [-1, 1])
      try await stage.run("Menu.Activate", [.string("win.wrap")])
      try await program.state.ran(\.activated, ["wrap", "wrap"])
      #expect(try await stage.items().map(\.checked) == [-1, 0])

      #expect(try await stage.refusal("Menu.Check", [.string("win.undo"), .boolean(true)]) == "InvalidArgs")
      #expect(try await stage.refusal("Menu.Activate", [.string("win.nothing")]) == "InvalidArgs")
      program.enable("wrap", false)
      #expect(try await stage.refusal("Menu.Activate", [.string("win.wrap")]) == "Disabled")
      // The menu shows an item without an action as disabled.
      program.state.update { $0.actions["wrap"] = nil }
      #expect(try await stage.items().map(\.isEnabled) == [true, false])
      #expect(try await stage.refusal("Menu.Activate", [.string("win.wrap")]) == "Disabled")
      program.menu("Edit", ["undo": "_Undo"])
      #expect(try await stage.refusal("Menu.Activate", [.string("win.wrap")]) == "InvalidArgs")
      #expect(program.state.now.activated == ["wrap", "wrap"])
    }
  }

  /// A dialog keeps the answer until it is closed.
  @Test func anActionThatDoesNotEndHasBegun() async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      program.state.update { $0.answers["Activate"] = .hold }
      try await stage.run("Edit.Undo")
      _ = try await program.state.wait(for: "a call") { $0.calls.contains("Activate") ? true : nil }
      #expect(program.state.now.calls.count { $0 == "Activate" } == 1)
    }
  }

  /// As mousepad does while a key of i3 is held.
  @Test func anItemThatIsDisabledForAMomentIsWaitedFor() async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      let begun = SuspendingClock.now
      // Longer than the bridge waits for a window.
      while SuspendingClock.now - begun < .milliseconds(600) {
        program.state.update { state in
          state.actions["undo"]?.isEnabled = false
          (state.awakening, state.calls, state.activated) = ("undo", [], [])
        }
        #expect(try await stage.refusal("Edit.Undo") == nil)
        try await program.state.ran(\.activated, ["undo"])
      }
    }
  }

  /// A launcher was in front, and the program disabled the item meanwhile.
  @Test func anItemIsWaitedFor() async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      // This reads the menus again, in case an answer came too late the first time.
      _ = try await stage.items()
      try await stage.windows.register("w2")
      let path = "/org/focusd/Focus1/field/" + (try await stage.menus(of: "w1"))
      // On a slow machine it comes to the front later than the bridge waits.
      try await eventually("it is waited for") {
        try await stage.windows.focus("w2")
        program.state.update { state in
          state.actions["undo"]?.isEnabled = false
          (state.awakening, state.calls, state.activated) = ("undo", [], [])
        }
        let call = stage.windows.begin(.invoke("org.focusd.Edit.Undo", [], at: path))
        try await stage.windows.focus("w1")
        return try await call.refusal() == nil
      }
      try await program.state.ran(\.activated, ["undo"])
      // The bridge found it disabled once.
      #expect(program.state.now.calls == ["Describe", "Describe", "Activate"])
    }
  }

  // MARK: Late answers

  /// Each answer takes longer than one may at first sight.
  @Test func aProgramThatIsSlow() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.state.update { $0.delay = .milliseconds(600) }
      try await stage.show("w1", of: program)
      try await stage.has("Edit.Undo")
      try await program.state.ran(\.activated, only: "undo", in: stage.attempts("Edit.Undo"))
    }
  }

  /// What is not answered in time is not gone: not even what only the menus tell, with an action that says nothing.
  @Test(arguments: [("Edit.Redo", "Describe"), ("Menu.Items", "DescribeAll"), ("Menu.Items", "Start")])
  func anAnswerThatDoesNotCome(command: String, member: String) async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.state.update { $0.actions["again"] = StubMenus.Action() }
      program.menu("Edit", ["undo": "_Undo", "again": "_Redo"])
      try await stage.show("w1", of: program)
      try await stage.has("Edit.Redo")
      // Without the menus, there are still the actions.
      try await stage.keeps("Edit.Redo", unanswered: command, maySucceed: member == "Start") { isSilent in
        program.state.update { $0.answers = isSilent ? [member: .hold] : [:] }
      }
    }
  }

  /// One that was read, and one that was not kept: neither is said not to be there.
  @Test(arguments: [("win.undo", "Describe"), ("win.wrap", "DescribeAll")])
  func anItemThatIsNotToldInTime(id: String, member: String) async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      program.state.update { $0.answers[member] = .hold }
      let error = await #expect(throws: RemoteError.self) { try await stage.run("Menu.Activate", [.string(id)]) }
      // Usually it is the bridge that says so; the daemon does if the bridge is late, too.
      let texts = ["the program does not answer", "did not reply within 5 seconds"]
      #expect(
        error?.shortName == "Timeout" && texts.contains { error?.message.contains($0) == true }, "\(error as Any)")
    }
  }

  /// Its window tells at once what it offers, and its application late.
  @Test func anApplicationThatIsLate() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.state.update { state in
        state.actions["again"] = StubMenus.Action()
        state.lists[[1, 0]] = [("_Undo", "win.undo"), ("_Redo", "app.again")].map { item -> Named in
          [("label", .string(item.0)), ("action", .string(item.1))]
        }
        state.answers[StubMenus.application] = .hold
      }
      try await stage.show("w1", of: program, isOfApplication: true)
      _ = try await program.state.wait(for: "both calls") { $0.calls.count { $0 == "DescribeAll" } >= 2 ? true : nil }
      program.state.update { $0.answers = [:] }
      try await stage.has("Edit.Redo")
    }
  }

  /// It offers little, and is looked at again while a client waits for its items: it has fewer sources by then.
  @Test func itemsThatAreReadWhileTheSourcesChange() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.menu("Tools", ["wrap": "_Wrap"])
      program.state.update { $0.actions["undo"] = nil }
      try await stage.show("w1", of: program)
      try await eventually("items") { try await stage.refusal("Menu.Items") == nil }
      func calls(_ member: String) -> Int { program.state.now.calls.count { $0 == member } }
      let before = (starts: calls("Start"), looks: calls("DescribeAll"))
      program.state.update { $0.answers["Start"] = .hold }
      let start = SuspendingClock.now
      let items = stage.windows.begin(.invoke("org.focusd.Menu.Items"))
      try await eventually("menus are read") { calls("Start") > before.starts }
      stage.tell(
        "w1",
        [
          ("gtk-unique-bus-name", .string(program.peer.name)),
          ("gtk-window-object-path", .objectPath(ObjectPath(known: StubMenus.window))),
        ])
      try await eventually("another look") { calls("DescribeAll") > before.looks + 1 }
      program.release()
      // On a slow machine the look comes when the menus are not waited for any more, after three seconds.
      let isLate = SuspendingClock.now - start > .seconds(2)
      if isLate, try await items.refusal() == "Timeout" { return }
      #expect(try await items.values().count == 1)
    }
  }

  // MARK: Windows

  @Test func theFieldGoesWithItsWindow() async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      #expect(try await stage.desktop.focusctl("list").output.count == 2)
      try await stage.windows.field("w1", "Unregister")
      try await eventually("no field") { try await stage.desktop.focusctl("list").output.isEmpty }

      // The same program has another.
      try await stage.show("w2", of: program)
      try await stage.has("Edit.Undo")
    }
  }

  /// A switch to a window that is known costs no message, and first sight few.
  @Test func aSwitchAsksNothing() async throws {
    try await MenuStage.with { stage in
      var programs: [StubMenus] = []
      // One late answer makes a sight ask again: then those of two other programs count.
      try await inTime("first sights that cost little") {
        let windows = [1, 2].map { "w\(programs.count + $0)" }
        for window in windows { programs.append(try await stage.program(window)) }
        try await stage.has("Edit.Undo")
        try await stage.windows.focus(windows[0])
        try await stage.has("Edit.Undo")
        return programs.suffix(2).allSatisfy { $0.state.now.calls.count <= 12 }
      }
      let (program, other) = (programs[0], programs[1])
      // This reads the menus again, in case an answer came too late the first time.
      for window in ["w2", "w1"] {
        try await stage.windows.focus(window)
        _ = try await stage.items()
      }
      for stub in [program, other] { stub.state.update { $0.calls = [] } }
      for window in ["w2", "w1", "w2", "w1"] { try await stage.windows.focus(window) }
      // What the bridge asks because of these comes before what it asks for this.
      _ = try await stage.items()
      // What ended the readings before may come late.
      #expect(other.state.now.calls.allSatisfy { $0 == "End" })
      #expect(program.state.now.calls.filter { $0 == "DescribeAll" }.count == 1)
    }
  }

  @Test func aProgramThatIsIgnoredIsAskedNothing() async throws {
    let name = try #require(
      try String(contentsOfFile: "/proc/self/comm", encoding: .utf8).split(separator: "\n").first)
    try await MenuStage.with(["--ignore", String(name)]) { stage in
      let program = try await stage.program("w1")
      try await stage.bridge.says("never looked into")
      #expect(try await stage.windows.commands()["org.focusd.Menu.Items"] == nil)
      #expect(program.state.now.calls.isEmpty)
    }
  }

  @Test func theUsersSettingsAreReadAgain() async throws {
    let name = try #require(
      try String(contentsOfFile: "/proc/self/comm", encoding: .utf8).split(separator: "\n").first)
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      program.menu("Edit", ["undo": "Undo"])
      try await eventually("menus") { try await stage.windows.commands()["org.focusd.Menu.Items"] != nil }
      try stage.desktop.write(settings: "[menus]\nIgnore=\(name)\n")
      stage.bridge.terminate(SIGHUP)
      try await eventually("no menus") { try await stage.windows.commands()["org.focusd.Menu.Items"] == nil }
      try stage.desktop.write(settings: "[menus]\n")
      stage.bridge.terminate(SIGHUP)
      try await eventually("menus again") { try await stage.windows.commands()["org.focusd.Menu.Items"] != nil }
    }
  }

  /// Nothing of a menu is logged, nor told unless it is asked for.
  @Test func labelsAreTold() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.menu("Edit", ["undo": "Undo: Typing “secret”"])
      let witness = try await stage.desktop.peer()
      try await witness.subscribe()
      try await stage.show("w1", of: program)
      try await stage.has("Edit.Undo")
      #expect(try await stage.items().map(\.label) == ["Undo: Typing “secret”"])
      #expect(!witness.signals.contains { "\($0)".contains("secret") })
      #expect(!stage.bridge.progress.now.errors.contains { $0.contains("secret") })
    }
  }
}

extension MenuStage {
  /// The id of the field with the menus of a window.
  func menus(of window: String) async throws -> String {
    let lines = try await desktop.focusctl("list").output
    let id = lines.first { $0.contains("menus") }?.split(separator: " ").first
    return id.map(String.init) ?? ""
  }
}

import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Programs that do what no program should: the bridge lives, and others' commands go on.
@Suite struct HostileTests {
  /// After whatever a program did, another one's commands work.
  private static func others(_ stage: MenuStage) async throws {
    let good = try await stage.program("good")
    try await stage.has("Edit.Undo")
    try await stage.run("Edit.Undo")
    try await good.state.ran(\.activated, ["undo"])
  }

  @Test func fiveThousandActions() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.state.update { state in
        for number in 0..<5000 { state.actions["action-\(number)"] = StubMenus.Action() }
        let items = (0..<5000).map { number -> Named in
          [("label", .string("Item \(number)")), ("action", .string("win.action\(number % 10)-\(number)"))]
        }
        state.lists[[1, 0]]? += items
      }
      try await stage.show("w1", of: program)
      try await stage.has("Edit.Undo")
      // On a busy machine, they may take longer than the daemon waits.
      try await eventually("all items") { (try? await stage.items().count) == 4096 }
      try await Self.others(stage)
    }
  }

  /// An answer that is too long to be read is no empty menu; at first sight, the actions are known without it.
  @Test(arguments: [false, true]) func moreItemsThanAreRead(atFirstSight: Bool) async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.state.update { $0.actions["again"] = .init() }
      program.menu("Edit", ["undo": "Undo", "again": "Redo"])
      let grow = { program.state.update { $0.lists[[1, 0]]? += [Named](repeating: [], count: 1 << 16) } }
      if atFirstSight { grow() }
      try await stage.show("w1", of: program)
      try await stage.has("Edit.Undo")
      if !atFirstSight { grow() }
      try await eventually("a refusal") { try await stage.refusal("Menu.Items") == "LimitsExceeded" }
      // On a busy machine, the program may need longer for such an answer than it is given.
      try await program.state.ran(\.activated, only: "undo", in: stage.attempts("Edit.Undo"))

      // Only the menus tell what it is, and they are not read again.
      guard !atFirstSight else { return }
      program.state.update { $0.actions["undo"] = nil }
      #expect(try await stage.refusal("Edit.Undo") == "InvalidArgs")
      try await stage.run("Edit.Redo")
      _ = try await program.state.wait(for: "Redo") { $0.activated.last == "again" ? true : nil }
    }
  }

  /// Such an answer closes the bridge's connection, and is not asked for again as soon as there is another.
  @Test func anAnswerThatIsLongerThanAnyIsRead() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.state.update { $0.answers["DescribeAll"] = .values([.string(String(repeating: "x", count: 33 << 20))]) }
      let start = ContinuousClock.now
      try await stage.show("w1", of: program)
      _ = try await program.state.wait(for: "three connections") { $0.askers.count >= 3 ? true : nil }
      #expect(ContinuousClock.now - start >= .seconds(3))
      try await Self.others(stage)
    }
  }

  /// Whatever the program answers: otherwise, it would go on to tell what changes.
  @Test(arguments: [nil, .error("stub.Error", "no"), .values([.boolean(true)]), .hold] as [Answer?])
  func whatWasStartedIsEnded(answer: Answer?) async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.state.update { $0.answers["Start"] = answer }
      try await stage.show("w1", of: program)
      _ = try await program.state.wait(for: "an end") { $0.calls.contains("End") ? true : nil }
    }
  }

  @Test func menusThatContainEachOther() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.state.update { state in
        state.lists[[1, 0]]? += [
          [("label", .string("Again")), (":submenu", StubMenus.list(1, 0))],
          [("label", .string("Root")), (":submenu", StubMenus.list(0, 0))],
          [(":section", StubMenus.list(1, 0))],
        ]
      }
      try await stage.show("w1", of: program)
      try await stage.has("Edit.Undo")
      #expect(try await stage.items().map(\.id) == ["win.undo", "win.wrap"])
    }
  }

  /// Sixteen lists, each with a way to all others, and no item that could fill them.
  @Test func menusThatContainEachOtherAndNothing() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.state.update { state in
        for list in 2..<18 {
          state.lists[[1, UInt32(list)]] = (2..<18).map { [(":section", StubMenus.list(1, UInt32($0)))] }
        }
        state.lists[[1, 0]]? += [[(":section", StubMenus.list(1, 2))]]
      }
      try await stage.show("w1", of: program)
      try await stage.has("Edit.Undo")
      #expect(try await stage.items().map(\.id) == ["win.undo", "win.wrap"])
    }
  }

  @Test func labelsOfAMegabyteAndControlCharacters() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.menu(
        "Edit",
        ["undo": "_Undo", "long": String(repeating: "long", count: 1 << 18), "line": "one\ntwo\u{1B}[31m\u{202E}three"])
      try await stage.show("w1", of: program)
      try await stage.has("Edit.Undo")
      let labels = try await stage.items().map(\.label)
      #expect(labels.count == 3)
      #expect(labels.allSatisfy { $0.unicodeScalars.count <= 257 })
      #expect(labels.last == "one two [31mthree")
    }
  }

  /// Each says nothing of use, or nothing at all.
  @Test(arguments: ["DescribeAll", "Start", "Describe"], [0, 1, 2, 3])
  func answersOfAnotherForm(member: String, form: Int) async throws {
    let answers: [Answer] = [
      .values([]), .values([.string("nonsense")]), .values([.structure([.uint32(1)]), .uint32(2)]),
      .error("org.freedesktop.DBus.Error.Failed", "no"),
    ]
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.state.update { $0.answers[member] = answers[form] }
      try await stage.show("w1", of: program)
      _ = try await program.state.wait(for: "a call") { $0.calls.contains("DescribeAll") ? true : nil }
      if member == "Describe" {
        try await stage.has("Edit.Undo")
        #expect(try await stage.refusal("Edit.Undo") != nil)
        #expect(program.state.now.activated.isEmpty)
      }
      try await Self.others(stage)
    }
  }

  @Test func aProgramThatNeverAnswers() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      for member in ["DescribeAll", "Start"] { program.state.update { $0.answers[member] = .hold } }
      try await stage.show("w1", of: program)
      _ = try await program.state.wait(for: "a call") { $0.calls.contains("Start") ? true : nil }
      try await Self.others(stage)
      // When it answers at last, it is known.
      program.state.update { $0.answers = [:] }
      try await eventually("its commands") {
        try await stage.windows.focus("good")
        try await stage.windows.focus("w1")
        return try await stage.windows.commands()["org.focusd.Edit.Undo"] == true
      }
    }
  }

  /// It stops in the middle of what it is asked.
  @Test(arguments: ["DescribeAll", "Start", "Describe", "Activate"]) func aProgramThatExits(member: String) async throws
  {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.state.update { $0.answers[member] = .leave }
      try await stage.show("w1", of: program)
      if ["Describe", "Activate"].contains(member) {
        try await stage.has("Edit.Undo")
        // An item may end its program.
        if member == "Activate" { #expect(try await stage.refusal("Edit.Undo") == nil) }
        // What takes long is said to have begun.
        try await eventually("a refusal") { try await stage.refusal("Edit.Undo") != nil }
      }
      _ = try await program.state.wait(for: "a call") { $0.calls.contains(member) ? true : nil }
      try await stage.windows.field("w1", "Unregister")
      try await Self.others(stage)
    }
  }

  @Test func anAnswerAfterTheWindowIsGone() async throws {
    try await MenuStage.with { stage in
      let program = StubMenus(try await stage.desktop.peer())
      program.state.update { $0.answers["Start"] = .hold }
      try await stage.show("w1", of: program)
      _ = try await program.state.wait(for: "a call") { $0.calls.contains("Start") ? true : nil }
      try await stage.windows.field("w1", "Unregister")
      program.peer.perform { thread in thread.release { _ in .values([.boolean(true)]) } }
      try await Self.others(stage)
      #expect(try await stage.desktop.focusctl("list").output.count == 2)
    }
  }

  /// Each window has the commands of its own object.
  @Test func twoWindowsOfOneProgram() async throws {
    try await MenuStage.with { stage in
      let program = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      try await stage.show("w2", of: program)
      try await stage.has("Edit.Undo")
      try await stage.windows.field("w2", "Unregister")
      try await stage.windows.focus("w1")
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, ["undo"])
    }
  }

  /// What the window of the first run had is not the second's.
  @Test func aProgramThatIsStartedAgainUnderItsName() async throws {
    try await MenuStage.with { stage in
      let first = try await stage.program("w1")
      try await first.peer.own("org.example.Stub")
      try await stage.has("Edit.Undo")
      try await first.peer.leave()
      let second = StubMenus(try await stage.desktop.peer())
      try await second.peer.waitForDeparture(of: "org.example.Stub")
      try await second.peer.own("org.example.Stub")
      #expect(try await stage.refusal("Edit.Undo") != nil)
      #expect(second.state.now.calls.isEmpty)
      try await stage.show("w2", of: second)
      try await stage.has("Edit.Undo")
      try await stage.run("Edit.Undo")
      try await second.state.ran(\.activated, ["undo"])
    }
  }
}

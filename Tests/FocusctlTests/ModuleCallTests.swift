import BusSupport
import DBusTypes
import TestSupport
import Testing

/// What `focusd.py` says to the daemon, call by call, and what it makes of the answers.
@Suite struct ModuleCallTests {
  private static let key = "demo.Form.Number"
  private static let conflict = ScriptedDaemon.Answer.error("org.focusd.Focus1.Error.Conflict")
  private static let unsaved = ScriptedDaemon.Answer.error("org.freedesktop.DBus.Error.IOError")
  private static let unknownObject = ScriptedDaemon.Answer.error("org.freedesktop.DBus.Error.UnknownObject")

  /// Starts a tool that imports the module.
  private func tool(_ desktop: TestDesktop, _ script: String) async throws -> ManagedProcess {
    try await desktop.start(
      ["/usr/bin/python3", "-uc", "from gi.repository import GLib\nimport focusd\n" + script],
      extra: ModuleTests.environment)
  }

  private func run(
    _ script: String, _ answers: [ScriptedDaemon.Answer]
  ) async throws -> (result: CommandResult, calls: [String]) {
    try await TestDesktop.with(isServed: false) { desktop in
      let daemon = try await ScriptedDaemon(on: desktop, answers)
      let result = try await tool(desktop, script).result()
      return (result, daemon.calls.now)
    }
  }

  // MARK: Tools

  @Test func anUpdateStaysInTheFieldItRead() async throws {
    let update = try ScriptedDaemon.contestedUpdate()
    let (result, calls) = try await run(
      "print(focusd.update('demo.Form.Number', lambda number: number + 5))",
      update.answers)
    #expect(result.isSilent(status: 0, output: ["15"]), "\(result)")
    #expect(calls == update.calls)
  }

  @Test func anUpdateEndsWithItsField() async throws {
    let (result, calls) = try await run(
      """
      try:
        focusd.update('demo.Form.Number', lambda number: number + 5)
      except focusd.UnknownObject:
        print("gone")
      """, [ScriptedDaemon.reading(.int32(1), revision: 3), Self.conflict, Self.unknownObject])
    #expect(result.isSilent(status: 0, output: ["gone"]), "\(result)")
    #expect(calls.count == 3 && calls.last == "text1 Read demo.Form.Number", "\(calls)")
  }

  /// The bus, or systemd on its behalf, does not start the daemon; a program's own error may be named alike.
  @Test func aDaemonThatDoesNotStartIsNoDaemon() async throws {
    let names = [
      "org.freedesktop.systemd1.UnitMasked", "org.freedesktop.systemd1.NoSuchUnit",
      "org.freedesktop.systemd1.ShuttingDown", "org.freedesktop.DBus.Error.TimedOut",
      "org.freedesktop.DBus.Error.Spawn.ChildExited", "org.freedesktop.DBus.Error.NameHasNoOwner",
    ]
    let others = ["org.freedesktop.DBus.Error.Timeout", "com.example.Error.NoReply"]
    let (result, _) = try await run(
      """
      for _ in range(\(names.count + others.count)):
        try:
          focusd.get('demo.Form.Number')
        except focusd.Error as error:
          print(type(error).__name__)
      """, (names + others).map { .error($0) })
    #expect(
      result.isSilent(status: 0, output: names.map { _ in "NoDaemon" } + ["Timeout", "Error"]), "\(result)")
  }

  // MARK: Followers

  @Test func aFieldThatIsWatchedGoesAndComesBack() async throws {
    try await TestDesktop.with { desktop in
      let watcher = try await tool(
        desktop, "focusd.watch('demo.Form.Number', print, '/field/note'); GLib.MainLoop().run()")
      #expect(try await watcher.line() == "None")
      for value in ["7", "8"] {
        let known = watcher.progress.now.output.count
        let holder = try await desktop.background("exec focusctl hold note \(Self.key)=\(value)")
        try await watcher.line(from: known, "the value") { $0 == value }
        try await holder.stop()
        try await watcher.line(from: known, "nil") { $0 == "None" }
      }
      #expect(watcher.progress.now.output == ["None", "7", "None", "8", "None"])
    }
  }

  /// The daemon tells the value of a field whose owner hangs, and no question is answered.
  @Test func aSignalTellsTheValueItself() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let daemon = try await desktop.peer()
      daemon.answer { call, _ in
        call.member == "Read" ? .error("org.freedesktop.DBus.Error.Timeout", "because") : .values([])
      }
      try await daemon.own(Focus1.name)
      let watcher = try await tool(desktop, "focusd.watch('demo.Form.Number', print); GLib.MainLoop().run()")
      #expect(try await watcher.line() == "None")
      daemon.perform { $0.emitChanged(Focus1.focused, "demo.Form", [("Number", .int32(7)), ("Other", .int32(8))]) }
      try await watcher.line("the value") { $0 == "7" }
      daemon.perform { $0.emitChanged(Focus1.focused, "demo.Form", [("Other", .int32(9))], invalidated: ["Number"]) }
      try await watcher.line(from: 2, "nil") { $0 == "None" }
      #expect(watcher.progress.now.output == ["None", "7", "None"])
      try await watcher.stop()
    }
  }

  /// What was asked later may be answered first, and a program that does not answer in time says nothing of its value.
  @Test(arguments: ["UnknownProperty", "Timeout", "IOError"])
  func anAnswerThatIsLateOrNoneChangesNoValue(error: String) async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let daemon = try await desktop.peer()
      let questions = Observed(0)
      let refusal = Answer.error("org.freedesktop.DBus.Error." + error, "because")
      daemon.answer { call, thread in
        guard call.member == "Read" else { return .values([]) }
        questions.update { $0 += 1 }
        switch questions.now {
        case 1: return .hold
        case 2: return Self.reading(2)
        // One that cannot be answered is repeated, without a signal.
        case 3 where error != "UnknownProperty": return refusal
        default: return Self.reading(3)
        }
      }
      try await daemon.own(Focus1.name)
      let watcher = try await tool(desktop, "focusd.watch('demo.Form.Number/0', print); GLib.MainLoop().run()")
      _ = try await questions.wait(for: "the first question") { $0 == 1 ? true : nil }
      // Of an element a signal does not tell the value.
      let change: Peer.Job = { $0.emitChanged(Focus1.focused, "demo.Form", [("Number", .int32(0))]) }
      daemon.perform(change)
      try await watcher.line("the newer value") { $0 == "2" }
      daemon.perform { $0.release { _ in refusal } }
      daemon.perform(change)
      try await watcher.line("the next value") { $0 == "3" }
      #expect(watcher.progress.now.output == ["2", "3"])
      try await watcher.stop()
    }
  }

  /// What is read each time is told as it was known last.
  @Test func whenFocusMovesTheValueIsReadAgain() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let daemon = try await desktop.peer()
      let questions = Observed<Int32>(0)
      daemon.answer { call, _ in
        guard call.member == "Read" else { return .values([]) }
        return Self.reading(
          questions.update { number in
            number += 1
            return number
          })
      }
      try await daemon.own(Focus1.name)
      let watcher = try await tool(desktop, "focusd.watch('demo.Form.Number', print); GLib.MainLoop().run()")
      try await watcher.line("the first value") { $0 == "1" }
      for (key, isMove) in [("FocusPath", true), ("CanPersist", false), ("SessionFields", true)] {
        let known = watcher.progress.now.output.count
        daemon.perform { $0.emitChanged(Focus1.manager, Focus1.managerInterface, [(key, .strings([]))]) }
        guard isMove else { continue }
        try await watcher.line(from: known, "the next value") { $0 == "\(known + 1)" }
      }
      #expect(watcher.progress.now.output == ["1", "2", "3"] && watcher.progress.now.errors.isEmpty)
      try await watcher.stop()
    }
  }

  private static func reading(_ number: Int32) -> Answer {
    .values([.variants([.int32(number)]), .objectPath(ObjectPath(known: Focus1.field("text1"))), .uint64(1)])
  }

  // MARK: Programs

  private func mixer(_ desktop: TestDesktop, _ extra: [String: String] = [:]) async throws -> ManagedProcess {
    let program = try await desktop.start(
      ["/usr/bin/python3", "-u", ModuleTests.resources + "/mixer.py"],
      extra: ModuleTests.environment.merging(extra) { $1 })
    try await program.line("id")
    return program
  }

  /// The daemon does not tell when it can save again.
  @Test func whatCouldNotBeSavedIsSaidAgain() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let done = ScriptedDaemon.Answer.reply([])
      let path = ScriptedDaemon.Answer.reply([Focus1.fieldPath("window")])
      let answers = [path, path, done, Self.unsaved, Self.unsaved, done, Self.unsaved, done]
      let daemon = try await ScriptedDaemon(on: desktop, answers)
      let program = try await mixer(desktop)
      let call = { (count: Int) in
        try await daemon.calls.wait(for: "call \(count)") { $0.count >= count ? $0 : nil }
      }
      _ = try await call(3)
      // Together they are said again once.
      program.send(line: "for on in (True, False): field.set_enabled('com.example.Mixer.Fade', on)")
      _ = try await call(6)
      program.send(line: "field.unregister()")
      let names = try await call(answers.count).compactMap { $0.split(separator: " ").dropFirst().first }
      #expect(
        names == ["Register", "Register", "Focus"] + ["SetEnabled", "SetEnabled", "SetEnabled"]
          + ["Unregister", "Unregister"], "\(names)")
      try await program.stop()
    }
  }

  @Test func aFieldThatIsUnregisteredWithoutADaemonStaysAway() async throws {
    try await TestDesktop.with { desktop in
      let program = try await mixer(desktop)
      #expect(try await desktop.focusctl("wait", "com.example.Mixer.Gain").succeeded)
      try await desktop.kill()
      program.send(line: "field.unregister(); print('unregistered')")
      try await program.line("the end of the field") { $0 == "unregistered" }
      try await desktop.start()
      let peer = try await desktop.peer()
      try await eventually("the window alone") { try await peer.fields().count == 1 }
      try await program.stop()
    }
  }

  /// A program goes on without a bus, also if it publishes before it knows.
  @Test func theEndOfTheBusIsNotTheEndOfTheProgram() async throws {
    try await TestDesktop.with { desktop in
      let program = try await mixer(desktop)
      #expect(try await desktop.focusctl("wait", "com.example.Mixer.Gain").succeeded)
      let untilClosed = "print('busy'); [None for _ in iter(field.bus.is_closed, True)]"
      program.send(line: untilClosed + "; mixer.gain = 0.9; field.publish(); print('published')")
      try await program.line("what it does") { $0 == "busy" }
      try await desktop.bus.stop()
      _ = try await desktop.ended()
      try await program.line("what was published") { $0 == "published" }
      program.send(line: "field.publish(); field.blur(); field.unregister(); print('unregistered')")
      try await program.line("the end of the field") { $0 == "unregistered" }
      #expect(program.progress.now.errors.isEmpty, "\(program.progress.now.errors)")
      try await program.stop()
    }
  }
}

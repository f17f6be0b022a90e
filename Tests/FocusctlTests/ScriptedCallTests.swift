import BusSupport
import DBusTypes
import Glibc
import TestSupport
import Testing

/// What `focusctl` says to the daemon, call by call, and what it makes of the answers.
@Suite struct ScriptedCallTests {
  private static let conflict = ScriptedDaemon.Answer.error("org.focusd.Focus1.Error.Conflict")
  private static let accessDenied = ScriptedDaemon.Answer.error("org.freedesktop.DBus.Error.AccessDenied")
  private static let unknownObject = ScriptedDaemon.Answer.error("org.freedesktop.DBus.Error.UnknownObject")

  private func run(
    _ arguments: [String], _ script: [ScriptedDaemon.Answer]
  ) async throws -> (result: CommandResult, calls: [String]) {
    try await TestDesktop.with(isServed: false) { desktop in
      let daemon = try await ScriptedDaemon(on: desktop, script)
      let result = try await desktop.focusctl(arguments)
      return (result, daemon.calls.now)
    }
  }

  @Test func gettingAWholeKeyIsOneCall() async throws {
    let (result, calls) = try await run(["get", "demo.Form.Number"], [ScriptedDaemon.reading(.int32(8))])
    #expect(result.isSilent(status: 0, output: ["8"]))
    #expect(calls == ["focused Read demo.Form.Number"])
  }

  @Test func aBusThatSaysNothingIsNotWaitedForLonger() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let path = desktop.bus.directory + "/silent"
      let script =
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print(); input()"
      let silent = try await desktop.start(["/usr/bin/python3", "-uc", script, path])
      try await silent.line("a line that says that it listens")
      let result = try await desktop.run(
        [Products.focusctl, "--address", "unix:path=\(path)", "--timeout", "200ms", "get", "demo.Form.Number"])
      #expect(result.status == 3)
      #expect(result.errors == ["focusctl: no bus at 'unix:path=\(path)': no reply within 0.2 seconds"])
      try await silent.stop()
    }
  }

  /// It was held up, and what it reads takes several steps.
  @Test func aLongReplyThatCameInTimeCountsThoughItIsReadLate() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let daemon = try await desktop.peer()
      let asked = Observed<SuspendingClock.Instant?>(nil)
      daemon.answer { call, _ in
        guard call.member == "Read" else { return .values([]) }
        asked.update { $0 = .now }
        return .hold
      }
      try await daemon.own(Focus1.name)
      // Long enough to be stopped, and replied to, on a busy machine.
      let get = try await desktop.start([Products.focusctl, "--timeout", "10s", "get", "demo.Form.Text"])
      let start = try await asked.wait(for: "the call") { $0 }
      get.terminate(SIGSTOP)
      let text = String(repeating: "x", count: 100_000)
      let reply: [DBusValue] = [
        .variants([.string(text)]), .objectPath(ObjectPath(known: Focus1.field("text1"))), .uint64(1),
      ]
      daemon.perform { $0.release { _ in .values(reply) } }
      // The bus has taken the reply when it answers this.
      try await daemon.askBus("GetId")
      try await eventually("its time is over") { SuspendingClock.now - start > .milliseconds(10_100) }
      get.terminate(SIGCONT)
      #expect(try await get.line("the text") == text)
      #expect(try await get.finish() == .status(0))
    }
  }

  @Test func aShortKeyIsLookedUp() async throws {
    let (result, calls) = try await run(
      ["get", "Number/x", "--field", "text1"],
      [.reply([.variant(.strings(["demo.Form.Number", "demo.Form.Text"]))]), ScriptedDaemon.reading(.int32(8))])
    #expect(result.isSilent(status: 0, output: ["8"]))
    #expect(calls == ["text1 Get org.focusd.Focus1.Bindings Keys", "text1 Read demo.Form.Number/x"])
  }

  @Test func nilIsSilent() async throws {
    let (result, calls) = try await run(
      ["get", "demo.Form.Number"], [ScriptedDaemon.reading(nil), .reply([.variant(.strings([]))])])
    #expect(result.isSilent(status: 1, output: []))
    #expect(calls.count == 2)
  }

  @Test func anUpdateStaysInTheFieldItRead() async throws {
    let update = try ScriptedDaemon.contestedUpdate()
    let (result, calls) = try await run(
      ["update", "demo.Form.Number", "+5"],
      update.answers)
    #expect(result.isSilent(status: 0, output: []))
    #expect(calls == update.calls)
  }

  @Test(arguments: [true, false]) func anUpdateEndsWithItsField(isRemoved: Bool) async throws {
    let (result, calls) = try await run(
      ["update", "demo.Form.Number", "+5"],
      [
        ScriptedDaemon.reading(.int32(1), revision: 3), Self.conflict,
        isRemoved ? Self.unknownObject : ScriptedDaemon.reading(nil),
      ])
    #expect(result.status == 4)
    #expect(
      result.errors == [
        "focusctl: 'demo.Form.Number' was not changed: the field 'text1', from which it was read, no longer has it"
      ])
    #expect(calls.count == 3)
  }

  @Test func aResultOutOfRangeIsNotWritten() async throws {
    let (result, calls) = try await run(
      ["update", "demo.Form.Number", "+5"], [ScriptedDaemon.reading(.int32(.max), revision: 3)])
    #expect(result.status == 4)
    #expect(calls.count == 1)
  }

  @Test func aPreviousFieldIsTheFirstOfTheHistory() async throws {
    let fields = try ["a", "b"].map { try ObjectPath("/org/focusd/Focus1/field/\($0)") }
    let (result, calls) = try await run(
      ["get", "--previous", "demo.Form.Number"],
      [.reply([.variant(.objectPaths(fields))]), ScriptedDaemon.reading(.int32(8))])
    #expect(result.output == ["8"])
    #expect(calls == ["Focus1 Get org.focusd.Focus1.Manager History", "a Read demo.Form.Number"])
  }

  /// A key of a sensitive field, or one that is write-only.
  @Test(arguments: [
    ("s", "12345", "s=12345"), ("d", "8", "d=8.0"), ("b", "true", "b=true"), ("s", "true", "s=true"),
    // Introspection does not show it.
    (nil, "12345", "s=12345"),
  ])
  func aKeyThatCannotBeReadIsWrittenUnseen(type: String?, text: String, written: String) async throws {
    let property = type.map { #"<property name="Password" type="\#($0)" access="write"/>"# } ?? ""
    let (result, calls) = try await run(
      ["set", "Password", text],
      [
        .reply([.variant(.strings(["demo.Login.Password"]))]), Self.accessDenied,
        .reply([.string(#"<node><interface name="demo.Login">\#(property)</interface></node>"#)]),
        ScriptedDaemon.written(.string("")),
      ])
    #expect(result.isSilent(status: 0, output: []), "\(result)")
    #expect(
      calls == [
        "focused Get org.focusd.Focus1.Bindings Keys", "focused Read demo.Login.Password", "focused Introspect",
        "focused Write demo.Login.Password \(written) {}",
      ])
  }

  /// `Keys` leaves it out, and introspection shows it.
  @Test func aKeyOfASensitiveFieldHasAShortName() async throws {
    let shown = #"<node><interface name="demo.Login"><property name="Pin" type="s" access="write"/></interface></node>"#
    let none = ScriptedDaemon.Answer.reply([.variant(.strings([]))])
    let xml = ScriptedDaemon.Answer.reply([.string(shown)])
    let (set, calls) = try await run(
      ["set", "Login.Pin", "1234"], [none, xml, Self.accessDenied, xml, ScriptedDaemon.written(.string(""))])
    #expect(set.isSilent(status: 0, output: []) && calls.last == "focused Write demo.Login.Pin s=1234 {}")
    let (get, _) = try await run(["get", "Pin"], [none, xml, Self.accessDenied])
    #expect(get.status == 4 && get.errors == ["focusctl: because"])
  }

  @Test func whatIsAppendedToAKeyThatCannotBeReadDoesNotReplaceIt() async throws {
    let (result, calls) = try await run(
      ["set", "demo.Login.Tags/-", "c"], [Self.accessDenied, Self.accessDenied])
    #expect(result.status == 4)
    #expect(calls == ["focused Read demo.Login.Tags", "focused Write demo.Login.Tags/- s=c {}"])
  }

  @Test(arguments: [["get", "Password"], ["update", "Password", "append x"]])
  func aWriteOnlyKeyIsNotRead(arguments: [String]) async throws {
    let (result, calls) = try await run(
      arguments, [.reply([.variant(.strings(["demo.Login.Password"]))]), Self.accessDenied])
    #expect(result.status == 4 && result.output.isEmpty && result.errors == ["focusctl: because"])
    #expect(calls.last == "focused Read demo.Login.Password")
  }

  /// A daemon that has read everything, and holds back the reading of the keys in `held`; the numbers of others are 0.
  private func followedDaemon(
    _ desktop: TestDesktop, held: [String], _ questions: Observed<[String]>
  ) async throws -> Peer {
    let (all, one) = (try ScriptedDaemon.readingAll(number: 0).values, try ScriptedDaemon.reading(.int32(0)).values)
    let daemon = try await desktop.peer()
    daemon.answer { call, _ in
      switch (call.member, call.arguments.first) {
      case ("ReadAll", _): return .values(all)
      case ("Read", .string(let key)):
        questions.update { $0.append(key) }
        return held.contains(key) ? .hold : .values(one)
      case ("Get", _) where call.arguments.last == .string("FocusedField"):
        return .values([.variant(Focus1.fieldPath("a"))])
      default: return .values([.variant(.dictionary(DBusDictionary(known: .string, .boolean, [])))])
      }
    }
    try await daemon.own(Focus1.name)
    return daemon
  }

  /// Changes that come before the daemon has said which fields the first of them are from.
  @Test func aWatchWithFieldsNeverGoesBack() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let questions = Observed<[String]>([])
      let daemon = try await followedDaemon(desktop, held: ["demo.Form.Number"], questions)
      let last = try ScriptedDaemon.reading(.int32(3)).values
      let watch = try await desktop.background("exec focusctl watch demo.Form.Number --format '{field}{value}'")
      _ = try await watch.lines(1)
      for number in 1...3 {
        daemon.perform { $0.emitChanged(Focus1.focused, "demo.Form", [("Number", .int32(Int32(number)))]) }
      }
      _ = try await questions.wait(for: "the questions") { $0.count == 3 ? true : nil }
      daemon.perform { $0.release { _ in .values(last) } }
      let lines = try await watch.progress.wait(for: "the last change") { $0.output.count >= 4 ? $0.output : nil }
      #expect(lines == ["0", "text11", "text12", "text13"], "\(lines)")
      try await watch.stop()
    }
  }

  /// The owner of one key is silent; what nobody watches is not asked for.
  @Test func aWatchWithFieldsWaitsForNoOtherKey() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let questions = Observed<[String]>([])
      let daemon = try await followedDaemon(desktop, held: ["demo.Form.Silent"], questions)
      let watch = try await desktop.background("exec focusctl watch Silent Number --format '{key}{field}{value}'")
      _ = try await watch.lines(2)
      for (name, number) in [("Silent", 1), ("Other", 1), ("Number", 2)] {
        daemon.perform { $0.emitChanged(Focus1.focused, "demo.Form", [(name, .int32(Int32(number)))]) }
      }
      let lines = try await watch.progress.wait(for: "the change") { $0.output.count >= 4 ? $0.output : nil }
      #expect(lines == ["Silentnilnil", "Number0", "Numbertext12", "Numbertext10"], "\(lines)")
      #expect(questions.now == ["demo.Form.Silent", "demo.Form.Number"])
      try await watch.stop()
    }
  }

  /// The program behind a field may answer with the names that the bus uses.
  @Test(arguments: ["DBus.Error.ServiceUnknown", "DBus.Error.NoReply", "systemd1.NoSuchUnit"])
  func anErrorOfTheProgramSaysNothingOfTheDaemon(name: String) async throws {
    let (result, calls) = try await run(["run", "demo.Form.Go"], [.error("org.freedesktop." + name)])
    #expect(result.status == 4 && result.errors == ["focusctl: because"], "\(result)")
    #expect(calls.count == 1)
  }

  /// Focus has moved to a field that gives the key another type.
  @Test func aValueIsReadByTheTypeThatTheKeyHasWhenItIsWritten() async throws {
    let mismatch = ScriptedDaemon.Answer.error("org.focusd.Focus1.Error.TypeMismatch")
    let (result, calls) = try await run(
      ["set", "demo.Form.Number", "8"],
      [
        ScriptedDaemon.reading(.int32(1)), mismatch, ScriptedDaemon.reading(.string("")),
        ScriptedDaemon.written(.string("8")),
      ])
    #expect(result.isSilent(status: 0, output: []))
    #expect(
      calls == [
        "focused Read demo.Form.Number", "focused Write demo.Form.Number i=8 {}", "focused Read demo.Form.Number",
        "focused Write demo.Form.Number s=8 {}",
      ])
    let (refused, more) = try await run(
      ["set", "demo.Form.Number", "8"],
      [ScriptedDaemon.reading(.int32(1)), mismatch, ScriptedDaemon.reading(.int32(1))])
    #expect(refused.status == 4 && more.count == 3)
  }

  /// The program's word, and not the daemon's on the key.
  @Test(arguments: [["get", "demo.Form.Live"], ["set", "demo.Form.Live", "1"], ["update", "demo.Form.Live", "+1"]])
  func aProgramThatRefusesItsValueIsNoUsageError(arguments: [String]) async throws {
    let (result, calls) = try await run(arguments, [.error("org.freedesktop.DBus.Error.InvalidArgs")])
    #expect(result.status == 4 && result.errors == ["focusctl: because"], "\(result)")
    #expect(calls == ["focused Read demo.Form.Live"])
  }

  @Test func appendingAsksForTheArray() async throws {
    let (result, calls) = try await run(
      ["set", "demo.Form.Tags/-", "c"],
      [ScriptedDaemon.reading(.strings([])), ScriptedDaemon.written(.string("c"))])
    #expect(result.isSilent(status: 0, output: []))
    #expect(calls == ["focused Read demo.Form.Tags", "focused Write demo.Form.Tags/- s=c {}"])
  }

  /// The daemon sends the changes of a turn before the replies of that turn, which may be older.
  @Test func aSignalBeforeTheReplyIsNewerThanTheReply() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let daemon = try await ScriptedDaemon(
        on: desktop, [.signal(number: 1, then: .signal(number: 2, then: try ScriptedDaemon.readingAll(number: 1)))])
      let watch = try await desktop.start([Products.focusctl, "watch", "Number"])
      #expect(try await watch.line() == "2")
      try await watch.stop()
      #expect(daemon.questions == ["focused ReadAll"])
      #expect(watch.progress.now.output == ["2"])
    }
  }

  @Test func withoutADaemonNamedKeysAreNil() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let watch = try await desktop.start([Products.focusctl, "watch", "demo.Form.Number"])
      #expect(try await watch.line() == "nil")
      let daemon = try await ScriptedDaemon(on: desktop, [try ScriptedDaemon.readingAll(number: 7)])
      #expect(try await watch.lines(2) == ["nil", "7"])
      try await desktop.bus.stop()
      #expect(try await watch.finish() == .status(3))
      #expect(watch.progress.now.errors == ["focusctl: lost the connection to the bus"])
      #expect(daemon.questions == ["focused ReadAll"])
    }
  }

  @Test func watchingEndsWithItsReader() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let daemon = try await ScriptedDaemon(on: desktop, [try ScriptedDaemon.readingAll(number: 7)])
      let result = try await desktop.run([
        "/bin/sh", "-c", "'\(Products.focusctl)' --address '\(desktop.bus.address)' watch Number | head -n 1",
      ])
      #expect(result.isSilent(status: 0, output: ["7"]))
      #expect(daemon.questions == ["focused ReadAll"])
    }
  }

  @Test func withoutADaemonOrABusTheStatusIsThree() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let absent = try await desktop.focusctl("get", "demo.Form.Number")
      #expect(absent.status == 3)
      #expect(absent.errors.count == 1)
      let nowhere = try await desktop.run([Products.focusctl, "--address", "unix:path=/nonexistent", "list"])
      #expect(nowhere.status == 3)
      #expect(
        nowhere.errors == [
          "focusctl: no bus at 'unix:path=/nonexistent': Failed to connect to socket /nonexistent: "
            + "No such file or directory"
        ])
    }
  }
}

extension CommandResult {
  /// Whether the command ended so, without a word on standard error.
  func isSilent(status: Int32, output: [String]) -> Bool {
    self.status == status && self.output == output && errors.isEmpty
  }
}

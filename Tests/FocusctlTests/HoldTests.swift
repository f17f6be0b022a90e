import BusSupport
import DBusTypes
import TestSupport
import Testing

/// `focusctl hold`: a script's own field.
@Suite struct HoldTests {
  private func hold(_ desktop: TestDesktop, _ rest: String...) async throws -> ManagedProcess {
    let hold = try await desktop.start([Products.focusctl, "--address", desktop.bus.address, "hold"] + rest)
    // Standard output has nothing to say of it.
    _ = try await desktop.focusctl("wait", "demo.Hold.Text", "--timeout", "60")
    return hold
  }

  @Test func withoutADaemonItSaysSoAndWaits() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let hold = try await desktop.start(
        [Products.focusctl, "--address", desktop.bus.address, "hold", "h", "demo.Hold.Text=a"])
      let errors = try await hold.progress.wait(for: "a message") { $0.errors.isEmpty ? nil : $0.errors }
      #expect(errors[0].hasSuffix("; the field waits for the daemon"), "\(errors)")
      try await desktop.start()
      try await eventually("the field") {
        try await desktop.focusctl("get", "Hold.Text", "--field", "h").output == ["a"]
      }
      try await hold.stop()
    }
  }

  @Test func aScriptAndOthersChangeItsValues() async throws {
    try await TestDesktop.with { desktop in
      let hold = try await hold(
        desktop, "h", "demo.Hold.Text=a", "demo.Hold.N:d=1", "--focus", "--read-only", "demo.Hold.N", "--label",
        "Script")
      let shown = try await desktop.shell(
        """
        focusctl focused; focusctl list --format '{id} {label} {linger}'; focusctl set Text $'two\\nli\\\\nes'
        focusctl get Text --json; focusctl set N 2; echo $?
        """)
      #expect(shown.output == ["h", "h Script false", #"{"type":"s","data":"two\nli\\nes"}"#, "4"], "\(shown)")
      #expect(try await hold.lines(1) == ["demo.Hold.Text two\\nli\\\\nes"])
      let watch = try await desktop.background("exec focusctl watch Text --json")
      _ = try await watch.lines(1)
      for line in ["Text b\\nc\\\\n", "demo.Hold.N 7.5", "Text ", "Nope 1", "N x", "Text last"] {
        hold.send(line: line)
      }
      _ = try await watch.progress.wait(for: "last text") { $0.output.last?.contains("last") == true ? true : nil }
      #expect(
        watch.progress.now.output.dropFirst() == [
          #"{"type":"s","data":"b\nc\\n"}"#, #"{"type":"s","data":""}"#, #"{"type":"s","data":"last"}"#,
        ])
      #expect(try await desktop.focusctl("get", "N").output == ["7.5"])
      let errors = try await hold.progress.wait(for: "errors") { $0.errors.count >= 2 ? $0.errors : nil }
      #expect(errors.count == 2, "\(errors)")
      try await watch.stop()
      try await hold.stop()
    }
  }

  /// Each line is told, the last ones, too, before the field goes.
  @Test func whatIsSaidLastIsTold() async throws {
    try await TestDesktop.with { desktop in
      let watcher = try await desktop.peer()
      try await watcher.subscribe()
      let result = try await desktop.shell("seq -f 'N %g' 2 9 | focusctl hold h demo.Hold.N=1")
      #expect(result.succeeded && result.text.isEmpty && result.errors.isEmpty, "\(result)")
      try await watcher.signals("its end") { signals in
        signals.contains { $0.member == "InterfacesRemoved" } ? () : nil
      }
      let told = watcher.signals.values(of: "demo.Hold.N", at: Focus1.field("h"))
      #expect(told.compactMap(\.self).last == .int32(9), "\(told)")
    }
  }

  @Test func itsCommandsAreLines() async throws {
    try await TestDesktop.with { desktop in
      let hold = try await hold(
        desktop, "demo.Hold.Text=a", "--focus", "--command", "demo.Hold.Go", "--command", "demo.Hold.Say:s",
        "--command",
        "demo.Hold.Both:si")
      let result = try await desktop.shell(
        "focusctl run Go; focusctl run Say $'a b\\nc'; focusctl run Both 'a b' 3; focusctl run Go 1; echo $?")
      #expect(result.output == ["2"], "\(result)")
      #expect(
        try await hold.lines(3) == ["run demo.Hold.Go", "run demo.Hold.Say a b\\nc", "run demo.Hold.Both \"a b\" 3"])
      try await hold.stop()
    }
  }

  @Test func itTakesFocusAndLosesIt() async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell("focusctl register other demo.Hold.Text=x --focus")
      let watch = try await desktop.background("exec focusctl watch --focus")
      #expect(try await watch.lines(1) == ["other"])
      let hold = try await hold(desktop, "h", "demo.Hold.Text=a")
      hold.send(line: "focus")
      #expect(try await watch.lines(2).last == "h")
      hold.send(line: "blur")
      #expect(try await watch.lines(3).last == "nil")
      // Others may move focus to it, too.
      #expect(try await desktop.focusctl("focus", "h").status == 0)
      #expect(try await watch.lines(4).last == "h")
      try await desktop.crash()
      #expect(try await watch.lines(6).suffix(2) == ["nil", "h"])
      // The field is there before its object.
      #expect(try await desktop.focusctl("wait", "demo.Hold.Text").succeeded)
      #expect(try await desktop.focusctl("set", "Text", "again").status == 0)
      #expect(try await hold.lines(1) == ["demo.Hold.Text again"])
      try await watch.stop()
      try await hold.stop()
    }
  }

  /// A program whose window went behind says so after the window bridge.
  @Test func whatIsBlurredBehindIsNotRemembered() async throws {
    try await TestDesktop.with { desktop in
      let windows = try await desktop.peer()
      try await windows.own("org.focusd.Bridge1.Windows")
      for window in ["w1", "w2"] { try await windows.register(window) }
      let watch = try await desktop.background("exec focusctl watch --focus")
      let hold = try await hold(desktop, "h", "demo.Hold.Text=a")
      let field = try await windows.getAll("org.focusd.Focus1.Field", at: Focus1.field("h"))
      try await windows.field("w1", "Adopt", [.strings([field["Owner"]?.basicText ?? ""])])
      try await windows.focus("w1")
      hold.send(line: "focus")
      try await watch.line("its focus") { $0 == "h" }
      try await windows.focus("w2")
      #expect(try await watch.lines(4).last == "w2")
      hold.send(line: "blur")
      hold.send(line: "demo.Hold.Text told")
      try await eventually("the blur has arrived") {
        try await windows.get("demo.Hold.Text", at: Focus1.field("h")) == .string("told")
      }
      try await windows.focus("w1")
      #expect(try await desktop.focusctl("focused").output == ["w1"])
      // Nor if there is no daemon when it is said.
      hold.send(line: "focus")
      try await watch.line(from: 5, "its focus again") { $0 == "h" }
      try await windows.focus("w2")
      #expect(try await desktop.focusctl("focused").output == ["w2"])
      try await desktop.kill()
      hold.send(line: "blur")
      hold.send(line: "demo.Hold.Text once more")
      try await desktop.start()
      try await eventually("the blur has arrived again") {
        try await windows.get("demo.Hold.Text", at: Focus1.field("h")) == .string("once more")
      }
      try await windows.focus("w1")
      #expect(try await desktop.focusctl("focused").output == ["w1"])
      try await hold.stop()
    }
  }

  @Test func whatIsSaidOfALongLineIsShort() async throws {
    try await TestDesktop.with { desktop in
      let hold = try await hold(desktop, "h", "demo.Hold.Text=a", "demo.Hold.N:i=1", "--focus")
      let long = String(repeating: "x", count: 100_000)
      for line in [long, "demo." + long, "Nope/" + long, "N " + long] { hold.send(line: line) }
      let errors = try await hold.progress.wait(for: "errors") { $0.errors.count >= 4 ? $0.errors : nil }
      #expect(errors.count == 4 && errors.allSatisfy { $0.utf8.count < 400 }, "\(errors.map { $0.prefix(300) })")
      try await hold.stop()
    }
  }

  /// Only three escapes are on a line, and any program can read them: nothing else changes, and backslashes are doubled.
  @Test func aLineHasThreeEscapesBothWays() async throws {
    try await TestDesktop.with { desktop in
      let hold = try await hold(desktop, "h", "demo.Hold.Text=a", "--focus", "--command", "demo.Hold.Say:s")
      let text = "a\\n\\\\n\\tb\u{1b}\u{200b}\u{85} é"
      for line in ["focusctl set Text", "focusctl run Say"] {
        _ = try await desktop.shell("\(line) $'a\\n\\\\n\\tb\\e\u{200b}\u{85} é'")
      }
      #expect(try await hold.lines(2) == ["demo.Hold.Text " + text, "run demo.Hold.Say " + text])
      hold.send(line: "Text c\\n\\\\n\\t\\q\\")
      try await eventually("it has what was said") {
        try await desktop.focusctl("get", "Text", "--json").output == [#"{"type":"s","data":"c\n\\n\t\\q\\"}"#]
      }
      try await hold.stop()
    }
  }

  /// What cannot be written can be typed.
  @Test(arguments: ["set Text.Content b", "update Text.Content append b", "set demo.Hold.Text b"])
  func aRefusalSaysWhatElseToDo(call: String) async throws {
    try await TestDesktop.with { desktop in
      let hold = try await hold(
        desktop, "h", "org.focusd.Text.Content=a", "demo.Hold.Text=a", "--focus", "--read-only",
        "org.focusd.Text.Content", "--read-only", "demo.Hold.Text")
      let result = try await desktop.shell("focusctl \(call)")
      #expect(result.status == 4 && result.errors.count == 1 && result.errorText.contains("is read-only"), "\(result)")
      #expect(
        result.errorText.contains("try xdotool on X11, else wtype or ydotool") == call.contains("Text.Content"),
        "\(result)")
      try await hold.stop()
    }
  }

  @Test func itIsInTheProcessThatStartedIt() async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        focusctl hold h demo.Hold.Text=a --scope session </dev/null & own=$!
        focusctl hold i demo.Other.Text=a --scope session --process 1 </dev/null & other=$!
        focusctl wait demo.Hold.Text && focusctl wait demo.Other.Text
        [ "$(focusctl list --format '{id} {process}')" = "$(printf 'h %s\\ni 1' $$)" ]; echo $?
        kill $own $other
        """)
      #expect(result.output == ["0"], "\(result)")
    }
  }

  /// What starts it may have closed any of its descriptors, and still wants a field.
  @Test(arguments: ["<&-", "<&- >&-", "<&- >&- 2>&-", "</dev/null >&-"])
  func closedDescriptorsDoNotEndIt(closed: String) async throws {
    try await TestDesktop.with { desktop in
      let hold = try await desktop.background("exec focusctl hold h demo.Hold.Text=a --focus \(closed)")
      #expect(try await desktop.focusctl("wait", "demo.Hold.Text", "--timeout", "60").status == 0)
      #expect(try await desktop.focusctl("set", "Text", "b").status == 0)
      #expect(try await desktop.focusctl("get", "Text").output == ["b"])
      #expect(try await desktop.focusctl("list", "--format", "{id}").output == ["h"])
      try await hold.stop()
    }
  }

  @Test func aLineThatIsTooLongChangesNothing() async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        { head -c 70000000 /dev/zero | tr '\\0' x; echo; echo Text b; focusctl wait demo.Hold.Text
          until [ "$(focusctl get Text)" = b ]; do sleep 0.02; done; } | focusctl hold h demo.Hold.Text=a --focus
        """)
      #expect(
        result.status == 0
          && result.errors == ["focusctl: a line of standard input has more than 64 MiB, and changes nothing"],
        "\(result)")
    }
  }

  @Test func itEndsWithStandardInput() async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        "printf 'Text b' | focusctl hold h demo.Hold.Text=a; echo $?; focusctl list; echo x | focusctl hold h a.B.C=1 --focus"
      )
      #expect(result.output == ["0"] && result.errors.count == 1, "\(result)")
    }
  }

  /// A service, or a job in the background, has no input that could end.
  @Test func itDoesNotEndWithoutStandardInput() async throws {
    try await TestDesktop.with { desktop in
      let hold = try await desktop.background("exec focusctl hold h demo.Hold.Text=a --scope session </dev/null")
      #expect(try await desktop.focusctl("wait", "demo.Hold.Text", "--timeout", "60").status == 0)
      try await hold.stop()
    }
  }

  @Test func itEndsWithTheReaderOfItsOutput() async throws {
    try await TestDesktop.with { desktop in
      let hold = try await desktop.background("focusctl hold h demo.Hold.Text=a --scope session | head -n 1")
      #expect(try await desktop.focusctl("wait", "demo.Hold.Text", "--timeout", "60").status == 0)
      #expect(try await desktop.focusctl("set", "demo.Hold.Text", "b").status == 0)
      #expect(try await hold.finish() == .status(0))
    }
  }

  @Test(arguments: [
    (["hold"], "'hold' needs a KEY=VALUE or a '--command'"),
    (["hold", "h"], "'hold' needs a KEY=VALUE or a '--command'"),
    (["hold", "a.B.C=1", "--process", "0x1"], "'0x1' is not a process id for '--process', such as 4711"),
    (["hold", "a.B.C=1", "--process", "0"], "'0' is not a process id for '--process', such as 4711"),
    (["hold", "a.B.C=1", "a.B.C=2"], "'a.B.C' is given twice"),
    (["hold", "a.B.C=1", "--command", "a.B.C"], "'a.B.C' is both a value and a command"),
    (["hold", "a.B.C=1", "--read-only", "a.B.D"], "'a.B.D' of '--read-only' is not among the field's keys"),
    (
      ["hold", "a.B.C=1", "--command", "a.B.D:q!"],
      "'q!' is not a signature: one of 'ybnqiuxtdsoghv', an array 'a…', a structure '(…)' or a dictionary 'a{…}' at each place"
    ),
  ])
  func badCallsAreRefused(arguments: [String], message: String) async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let result = try await desktop.focusctl(arguments)
      #expect(result.status == 2 && result.errors == ["focusctl: " + message], "\(result)")
    }
  }

  @Test func anIDThatIsTakenIsRefused() async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell("focusctl register h; focusctl hold h a.B.C=1; echo $?")
      #expect(result.output == ["h", "4"] && result.errors.count == 1, "\(result)")
    }
  }

  @Test(
    "A field that is refused is told, though standard input has ended already",
    arguments: [
      "h a.B.C=1", "--parent nobody i a.B.C=1", "i org.focusd.Text.Content:i=1", "i org.focusd.Edit.Undo=1",
      "i --command org.focusd.Text.Insert:i", "i --command org.focusd.Text.Caret",
    ])
  func refusedAtTheEnd(rest: String) async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell("focusctl register h; printf 'a.B.C 5\\n' | focusctl hold \(rest); echo $?")
      #expect(result.output == ["h", "4"] && result.errors.count == 1, "\(result)")
    }
  }
}

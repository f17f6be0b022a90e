import BusSupport
import DBusTypes
import Glibc
import TestSupport
import Testing

/// The rows of the table of secrets that no toolkit which can be installed here shows, and what happens to a secret.
@Suite struct SecretTests {
  /// A program's element, and how its toolkit shows it.
  struct Row: Sendable, CustomStringConvertible {
    let name: String
    let toolkit: String
    let element: StubElement

    var description: String { name }
  }

  private static let secret = "correct-horse-battery"

  private static func row(
    _ name: String, _ toolkit: String, role: UInt32 = 61, _ text: String = secret, display: String? = nil,
    count: Int32? = nil, attributes: [String: String] = [:]
  ) -> Row {
    var element = StubElement.entry(text, role: role)
    (element.display, element.count, element.attributes) = (display, count, attributes)
    return Row(name: name, toolkit: toolkit, element: element)
  }

  private static let bullets = String(repeating: "●", count: secret.count)

  @Test(arguments: [
    row("GTK 3 hidden entry", "gtk", role: 40, bullets),
    row("GTK 4 PasswordEntry", "GTK", role: 40),
    row("GTK 4 entry that is not visible", "GTK", display: bullets),
    row("the same with another character", "GTK", display: String(repeating: "x", count: secret.count)),
    row("GTK that does not tell what is displayed", "GTK", display: ""),
    row("Qt", "Qt", role: 40, "", count: 21),
    row("Qt with another role", "Qt", "", count: 21),
    row("Chromium", "Chromium", role: 79, attributes: ["text-input-type": "password"]),
    row("Firefox", "Gecko", role: 40, bullets),
    row("-webkit-text-security", "WebKitGTK", role: 79, bullets),
  ])
  func aSecretIsWrittenAndNeverRead(_ row: Row) async throws {
    try await AccessibleDesktop.with { desktop in
      let traffic = try await desktop.monitor()
      let program = try await desktop.program(toolkit: row.toolkit)
      program.set("/secret", row.element)
      program.activate()
      program.focus("/secret")
      try await desktop.waits(for: "Element.Role", .string("password"))
      program.textChanged("/secret")
      #expect(try await desktop.keys().filter { $0.hasPrefix("org.focusd.Text.") } == ["org.focusd.Text.Content"])
      #expect(try await desktop.get("Text.Content") == nil)
      #expect(try await desktop.refusal("Text.Content", .string("filled in")) == nil)
      #expect(program.text(of: "/secret") == "filled in")
      // What is typed next goes behind it.
      #expect(program.state.now.elements["/secret"]?.caret == 9)
      if row.element.role == 40 {
        // A write asks whether the length has changed, and moves the caret, without a look at it.
        let asked = program.state.now.calls.filter { $0.interface == "org.a11y.atspi.Text" || $0.key.contains("Text.") }
        #expect(
          asked.allSatisfy { $0.key == "org.a11y.atspi.Text.CharacterCount" || $0.member == "SetCaretOffset" },
          "\(asked)")
      }
      #expect(!desktop.status.now.events.contains { $0.contains("Text") })
      try await desktop.expectNowhere(Self.secret, in: traffic)
    }
  }

  /// Firefox agrees to fill a password in, and does not.
  @Test func aSecretOfAnotherLengthThatIsNotTakenIsAnError() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(toolkit: "Gecko")
      program.set("/secret", .entry("", role: 40))
      program.change("/secret") { $0.ignoresWrites = true }
      program.activate()
      program.focus("/secret")
      try await desktop.waits(for: "Element.Role", .string("password"))
      let ignored = try await desktop.refusal("Text.Content", .string(Self.secret))
      #expect(ignored?.message.contains("agreed and changed nothing") == true)
      // As many characters as before may be others; of an entry with a limit, some are cut off.
      program.change("/secret") { ($0.ignoresWrites, $0.count) = (true, 8) }
      let unknown = try await desktop.refusal("Text.Content", .string(Self.secret))
      #expect(
        unknown?.message.contains("may be changed: the program has 8 of 21 characters") == true, "\(unknown as Any)")
      program.change("/secret") { ($0.ignoresWrites, $0.limit) = (false, 5) }
      let cut = try await desktop.refusal("Text.Content", .string(Self.secret))
      #expect(cut?.message.contains("was cut: the program has 5 of 21 characters") == true, "\(cut as Any)")
      // Whose length cannot be read may have been taken.
      program.change("/secret") { $0.interfaces = ["EditableText"] }
      #expect(try await desktop.refusal("Text.Content", .string(Self.secret)) == nil)
    }
  }

  /// Only what is proved not to be secret is shown.
  @Test(
    arguments: [
      ("GetAttributes", nil), ("GetAttributes", .string("none")), ("GetAttributes", .strings(["text-input-type:text"])),
      ("GetRole", .string("entry")), ("GetRole", .int32(61)),
    ] as [(String, DBusValue?)])
  func whatIsNotProvedIsNotShown(_ member: String, _ answer: DBusValue?) async throws {
    try await AccessibleDesktop.with { desktop in
      let traffic = try await desktop.monitor()
      let program = try await desktop.program(toolkit: "Chromium")
      program.set("/entry", .entry(Self.secret, role: 79))
      program.change("/entry") { $0.answers.updateValue(answer, forKey: member) }
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Element.Role", .string("password"))
      #expect(try await desktop.get("Text.Length") == nil)
      try await desktop.expectNowhere(Self.secret, in: traffic)
      // It is not secret for good.
      program.change("/entry") { ($0.answers, $0.text) = ([:], "plain") }
      program.stateChanged("/entry", "editable", 1)
      try await desktop.waits(for: "Text.Content", .string("plain"))
    }
  }

  @Test func attributesThatAreLateHideTheText() async throws {
    try await AccessibleDesktop.with { desktop in
      let traffic = try await desktop.monitor()
      let program = try await desktop.program(toolkit: "Gecko")
      program.set("/entry", .entry(Self.secret, role: 79))
      program.change("/entry") { $0.silent = ["GetAttributes"] }
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Element.Role", .string("password"))
      #expect(try await desktop.get("Text.Content") == nil)
      try await desktop.expectNowhere(Self.secret, in: traffic)
    }
  }

  @Test func theRoleIsAskedAgainAfterTheText() async throws {
    try await AccessibleDesktop.with { desktop in
      let traffic = try await desktop.monitor()
      let program = try await desktop.program()
      program.set("/entry", .entry(Self.secret))
      program.change("/entry") { $0.roleAfterText = 40 }
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Element.Role", .string("password"))
      #expect(try await desktop.get("Text.Content") == nil)
      try await desktop.expectNowhere(Self.secret, in: traffic)
    }
  }

  @Test func aTextThatIsNotShownIsNotListenedTo() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(toolkit: "gtk")
      program.set("/terminal", .entry("$ ls", role: 60))
      program.set("/entry", .entry("abc"))
      program.activate()
      program.focus("/terminal")
      try await desktop.waits(for: "Element.Role", .string("terminal"))
      #expect(!desktop.status.now.events.contains { $0.contains("Text") })
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("abc"))
      _ = try await desktop.status.wait(for: "events") { $0.events.contains { $0.contains("Text") } ? true : nil }
      program.focus("/terminal")
      _ = try await desktop.status.wait(for: "no events") { $0.events.contains { $0.contains("Text") } ? nil : true }
      // A hundred lines of output are no reason to ask anything.
      try await desktop.waits(for: "Element.Role", .string("terminal"))
      let calls = program.state.now.calls.count
      for _ in 0..<100 { program.textChanged("/terminal") }
      program.set("/other", .entry("other"))
      program.focus("/other")
      try await desktop.waits(for: "Text.Content", .string("other"))
      let asked = program.state.now.calls.dropFirst(calls).filter { $0.path == "/terminal" }
      #expect(asked.count < 20, "\(asked.count)")
    }
  }

  @Test func whatIsSecretOnceStaysSo() async throws {
    try await AccessibleDesktop.with { desktop in
      let traffic = try await desktop.monitor()
      let program = try await desktop.program(toolkit: "gtk")
      program.set("/secret", .entry(Self.secret, role: 40))
      program.set("/entry", .entry("abc"))
      program.activate()
      program.focus("/secret")
      try await desktop.waits(for: "Element.Role", .string("password"))
      // "Show password" makes it an ordinary entry.
      program.change("/secret") { $0.role = 61 }
      program.textChanged("/secret")
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("abc"))
      program.focus("/secret")
      try await desktop.waits(for: "Element.Role", .string("password"))
      #expect(try await desktop.get("Text.Content") == nil)
      // Also when its field was let go of.
      for index in 0..<20 {
        program.set("/other\(index)", .entry("text \(index)"))
        program.focus("/other\(index)")
        try await desktop.waits(for: "Text.Content", .string("text \(index)"))
      }
      program.focus("/secret")
      try await desktop.waits(for: "Element.Role", .string("password"))
      // Or when other settings have the bridge look at all programs anew.
      try await desktop.beginsAnew()
      try await eventually("a password") {
        program.activate()
        program.focus("/secret")
        return try await desktop.get("Element.Role") == .string("password")
      }
      // Or when a message that is too long closes the bridge's connection.
      let long = DBusValue.variant(.string(String(repeating: "x", count: 33 << 20)))
      program.peer.perform {
        let event: [DBusValue] = [.string("focused"), .int32(1), .int32(0), long, .properties([])]
        $0.emit("/entry", "org.a11y.atspi.Event.Object", "StateChanged", event)
      }
      try await desktop.bridge.says("the connection to the accessibility bus is closed")
      try await eventually("a password again") {
        program.activate()
        program.focus("/secret")
        return try await desktop.get("Element.Role") == .string("password")
      }
      try await desktop.expectNowhere(Self.secret, in: traffic)
    }
  }

  /// A page that shows the password has another element for that.
  @Test func whatTakesTheSecretsPlaceIsSecret() async throws {
    try await AccessibleDesktop.with { desktop in
      let traffic = try await desktop.monitor()
      let program = try await desktop.program(toolkit: "Gecko")
      func entry(_ path: String, _ text: String, role: UInt32 = 61, index: Int32) {
        var entry = StubElement.entry(text, role: role)
        entry.index = index
        program.set(path, entry)
      }
      entry("/hidden", Self.secret, role: 40, index: 2)
      entry("/shown", Self.secret, index: 2)
      entry("/other", "abc", index: 3)
      program.activate()
      program.focus("/hidden")
      try await desktop.waits(for: "Element.Role", .string("password"))
      for _ in 0..<2 {
        program.focus("/other")
        try await desktop.waits(for: "Text.Content", .string("abc"))
        program.focus("/shown")
        try await desktop.waits(for: "Element.Role", .string("password"))
        #expect(try await desktop.get("Text.Content") == nil)
      }
      // Also when other settings have the bridge look at all programs anew.
      entry("/anew", Self.secret, index: 2)
      try await desktop.beginsAnew()
      try await eventually("a password again") {
        program.activate()
        program.focus("/anew")
        return try await desktop.get("Element.Role") == .string("password")
      }
      try await desktop.expectNowhere(Self.secret, in: traffic)
    }
  }

  /// GTK 4 offers to copy a password that is shown.
  @Test func aSecretIsNotCopied() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(toolkit: "GTK", version: "4.18.6")
      var entry = StubElement.entry(Self.secret, role: 40)
      entry.interfaces.insert("Action")
      entry.actions = ["clipboard.cut", "clipboard.copy", "clipboard.paste", "selection.select-all"]
      program.set("/secret", entry)
      program.activate()
      program.focus("/secret")
      try await eventually("its commands") { try await desktop.session.commands()["org.focusd.Edit.Paste"] == true }
      let commands = try await desktop.session.commands().keys
      #expect(commands.contains("org.focusd.Edit.SelectAll"))
      for command in ["Cut", "Copy"] { #expect(!commands.contains("org.focusd.Edit.\(command)")) }
    }
  }

  @Test func anEntryThatAPageCallsAPasswordLaterBecomesSecret() async throws {
    try await AccessibleDesktop.with { desktop in
      let traffic = try await desktop.monitor()
      let program = try await desktop.program(toolkit: "Gecko")
      program.set("/entry", .entry("abc", role: 79))
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("abc"))
      try await desktop.session.subscribe()
      program.change("/entry") { ($0.text, $0.attributes) = (Self.secret, ["text-input-type": "password"]) }
      program.textChanged("/entry")
      try await desktop.session.signals("role") { signals in
        signals.values(of: "org.focusd.Element.Role").contains(.string("password")) ? true : nil
      }
      #expect(try await desktop.get("Text.Content") == nil)
      try await desktop.expectNowhere(Self.secret, in: traffic)
    }
  }

  @Test func anEmptyEntryThatHidesWhatIsTypedBecomesSecret() async throws {
    try await AccessibleDesktop.with { desktop in
      let traffic = try await desktop.monitor()
      let program = try await desktop.program(toolkit: "GTK")
      program.set("/entry", .entry(""))
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string(""))
      program.change("/entry") {
        $0.text = Self.secret
        $0.display = Self.bullets
        $0.caret = 21
      }
      program.textChanged("/entry")
      try await desktop.waits(for: "Element.Role", .string("password"))
      #expect(try await desktop.get("Text.Length") == nil)
      #expect(try await desktop.get("Text.Caret") == nil)
      try await desktop.waitsForTextKeys(["org.focusd.Text.Content"])
      try await desktop.expectNowhere(Self.secret, in: traffic)
    }
  }

  /// The first text that an entry gets may be the one that shows that it hides it.
  @Test(arguments: ["Text.Content", "Text.SelectedText"])
  func anEmptyEntryThatHidesWhatIsWrittenHasTakenIt(_ key: String) async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(toolkit: "GTK")
      program.set("/entry", .entry(""))
      program.change("/entry") { $0.display = Self.bullets }
      program.activate()
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string(""))
      #expect(try await desktop.refusal(key, .string(Self.secret)) == nil)
      #expect(program.state.now.elements["/entry"]?.text == Self.secret)
      try await desktop.waits(for: "Element.Role", .string("password"))
    }
  }

  @Test func aTerminalShowsItsTextOnlyIfAskedTo() async throws {
    for arguments in [[], ["--terminals"]] {
      try await AccessibleDesktop.with { desktop in
        try await desktop.endBridge()
        desktop.status.update { $0.events = [] }
        try await desktop.startBridge(arguments)
        let program = try await desktop.program(toolkit: "gtk")
        program.set("/terminal", .entry("$ ls", role: 60))
        program.activate()
        program.focus("/terminal")
        try await desktop.waits(for: "Element.Role", .string("terminal"))
        #expect(try await desktop.get("Text.Content") == (arguments.isEmpty ? nil : .string("$ ls")))
      }
    }
  }

  @Test func theUsersSettingsAreReadAgain() async throws {
    try await AccessibleDesktop.with { desktop in
      let vault = try await desktop.program("vault", entry: Self.secret)
      try desktop.desktop.write(settings: "[accessibility]\nSecret=vault\nSceret=x\n")
      desktop.bridge.terminate(SIGHUP)
      // Others fill it in, and read nothing of it.
      try await eventually("a secret") {
        // The bridge may not have listened yet, and this program shows no children in which it could look.
        vault.activate()
        vault.focus("/entry")
        let role = try await desktop.get("Element.Role")
        let text = try await desktop.get("Text.Content")
        return role != nil && text == nil
      }
      try await desktop.bridge.says("focusd.conf:3: unknown key 'Sceret'")
      try desktop.desktop.write(settings: "[accessibility]\nIgnore=vault\n")
      desktop.bridge.terminate(SIGHUP)
      try await eventually("no fields") { try await desktop.get("Element.Role") == nil }
      try desktop.desktop.write(settings: "")
      desktop.bridge.terminate(SIGHUP)
      try await eventually("a text") {
        vault.activate()
        vault.focus("/entry")
        return try await desktop.get("Text.Content") == .string(Self.secret)
      }
    }
  }

  @Test func anIgnoredProgramIsNotAskedAnything() async throws {
    try await AccessibleDesktop.with("--ignore", "vault") { desktop in
      let vault = try await desktop.program("vault")
      vault.set("/entry", .entry(Self.secret))
      vault.activate()
      vault.focus("/entry")
      // What two connections send has no order of its own.
      try await vault.peer.settleAtBus()
      try await desktop.program("other", entry: "abc")
      vault.focus("/entry")
      try await vault.peer.settleAtBus()
      try await desktop.waitsForNothing()
      #expect(vault.state.now.calls.allSatisfy { $0.path == StubProgram.root }, "\(vault.state.now.calls)")
    }
  }

  /// It is not asked whether it is in front, so what it claimed before another came there must not count later.
  @Test func anIgnoredProgramThatSaysItsNameLateHidesNoOther() async throws {
    try await AccessibleDesktop.with("--ignore", "vault") { desktop in
      let vault = try await desktop.program("vault")
      vault.state.update { $0.rootIsHung = true }
      vault.set("/entry", .entry(Self.secret))
      vault.activate()
      vault.focus("/entry")
      _ = try await vault.state.wait(for: "a question") { $0.calls.isEmpty ? nil : true }
      try await desktop.program("other", entry: "abc")
      vault.state.update { $0.rootIsHung = false }
      try await eventually("it is known") {
        desktop.bridge.progress.now.errors.contains { $0.contains("is not in front as it claims") }
      }
      #expect(try await desktop.get("Text.Content") == .string("abc"))
    }
  }

  /// A number that is hidden as it is typed is asked for before that is known.
  @Test func aSpinButtonThatHidesWhatIsTypedTellsNoValue() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(toolkit: "GTK")
      program.set("/pin", .entry("4711", role: 52))
      program.change("/pin") { pin in
        (pin.value, pin.display) = (4711, "●●●●")
        pin.interfaces.insert("Value")
      }
      program.activate()
      program.focus("/pin")
      try await desktop.waits(for: "Element.Role", .string("password"))
      #expect(try await desktop.get("Range.Value") == nil)
    }
  }
}

extension AccessibleDesktop {
  /// Has the bridge look at all programs anew, with other settings.
  fileprivate func beginsAnew() async throws {
    try desktop.write(settings: "[accessibility]\nIgnore=vault\n")
    bridge.terminate(SIGHUP)
    try await eventually("no field") { try await get("Element.Role") == nil }
  }
}

extension DaemonSession {
  /// Waits until `keys` are those that resolve in the vocabulary of texts.
  fileprivate func waitsForTextKeys(_ keys: Set<String>) async throws {
    try await eventually("the keys of a text are \(keys)") {
      try await self.keys().filter { $0.hasPrefix("org.focusd.Text.") } == keys
    }
  }

  /// Writes down all that goes over the session bus from now on.
  func monitor() async throws -> ManagedProcess {
    let monitor = try await desktop.start(["/usr/bin/dbus-monitor", "--address", desktop.bus.address])
    try await monitor.line("monitor")
    return monitor
  }

  /// Checks that `text` was neither sent over the session bus nor logged.
  ///
  /// With `exceptWrites`, it may have been in what others wrote, on its way to the daemon and to the bridge.
  func expectNowhere(_ text: String, in traffic: ManagedProcess, exceptWrites: Bool = false) async throws {
    let end = "end of the traffic"
    let probe = try await desktop.peer()
    _ = try? await probe.call(Focus1.manager, "demo.End", "Reached", [.string(end)])
    try await traffic.line("end") { $0.contains(end) }
    let lines = traffic.progress.now.output
    let found = lines.indices.filter { lines[$0].contains(text) }
    // A message is a line that begins at the margin, and its arguments.
    let messages = found.map { lines[...$0].last { !$0.hasPrefix(" ") } ?? "" }
    #expect(messages.allSatisfy { exceptWrites && $0.contains("member=Set") }, "\(messages)")
    for process in [bridge, desktop.daemon] {
      #expect(!(process.progress.now.errors + process.progress.now.output).contains { $0.contains(text) })
    }
  }
}

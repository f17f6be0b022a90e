import BusSupport
import Foundation
import TestSupport
import Testing

/// The Python modules for authors, judged by the texts that real widgets hold and by what passes on the bus.
@Suite struct ModuleTests {
  static let clients = TestDesktop.project + "/Sources/Examples/Clients"
  static let resources = TestDesktop.project + "/Tests/FocusctlTests/Resources"

  /// What a program has that imports the modules, and neither a graphics card nor an accessibility bus.
  static let environment = [
    "PYTHONPATH": clients, "PYTHONDONTWRITEBYTECODE": "1", "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo",
    "GTK_A11Y": "none", "NO_AT_BRIDGE": "1",
  ]

  /// `widgets.py`, and the file with the texts of its widgets.
  private struct Window {
    let desktop: TestDesktop
    let file: String

    func holds(_ texts: String...) async throws {
      try await eventually("\(texts) in the widgets") {
        guard let data = FileManager.default.contents(atPath: file) else { return false }
        return try JSONDecoder().decode([String].self, from: data) == texts
      }
    }

    func set(_ key: String, _ value: String) async throws {
      let result = try await desktop.focusctl("set", "org.focusd." + key, "--", value)
      #expect(result.succeeded, "\(result)")
    }

    func run(_ command: String...) async throws {
      let result = try await desktop.focusctl(["run"] + command)
      #expect(result.succeeded, "\(result)")
    }
  }

  @Test(
    .enabled(if: TestDesktop.canDisplay && TestDesktop.has("xdotool", "python3")),
    arguments: ["gtk3", "gtk4", "qt5", "qt6", "qt5 without GLib"])
  func theTextsOf(_ toolkit: String) async throws {
    try await TestDesktop.with { desktop in
      try await desktop.display()
      let file = desktop.bus.directory + "/texts"
      let extra = toolkit.hasSuffix("GLib") ? ["QT_NO_GLIB": "1"] : [:]
      let program = try await desktop.start(
        [
          "/usr/bin/python3", Self.resources + "/widgets.py",
          String(toolkit.prefix(4)).trimmingCharacters(in: .whitespaces), file,
        ],
        extra: Self.environment.merging(extra) { $1 })
      try await program.line("window")
      let window = Window(desktop: desktop, file: file)
      try await window.holds("Grüße", "hush", "")
      let focus = try await desktop.background("exec focusctl watch --focus")
      try await desktop.xdotool("search", "--sync", "--onlyvisible", "--name", "^widgets$", "windowfocus")
      let entry = try await focus.line("focus of the entry") { $0.hasPrefix("entry_") }
      try await useEntry(window, entry)
      try await desktop.xdotool("key", "Tab")
      let secret = try await focus.line("focus of the secret entry") { $0.hasPrefix("secret_") }
      try await useSecret(window, secret, program)
      try await desktop.xdotool("key", "Tab")
      let view = try await focus.line("focus of the text of several lines") { $0.hasPrefix("view_") }
      try await useView(window)
      try await restart(window, focus, view)
      // What is read-only for others stays so, and what is no text is refused.
      for arguments in [
        ["set", "Text.Length", "3"], ["set", "Text.Caret", "99"], ["set", "Text.Selection", "[3,1]"],
      ] {
        #expect(try await desktop.focusctl(arguments).status == 4)
      }
      let wrong = try await desktop.busctl("set-property", "org.focusd.Text", "Content", "i", "7")
      #expect(!wrong.succeeded, "\(wrong)")
      try await window.holds("Gr🙂üße!", "pässwörd", "new")
      // No command changes what nobody could edit by hand.
      #expect(try await desktop.focusctl("--field", entry, "set", "Text.Selection", "[0,2]").succeeded)
      let isReadOnly = toolkit.hasPrefix("gtk") ? "set_editable(False)" : "setReadOnly(True)"
      program.send(line: "entry.\(isReadOnly); print('read-only', flush=True)")
      try await program.line("that it is read-only") { $0 == "read-only" }
      for command in ["Undo", "Redo", "Cut", "Paste"] {
        let refused = try await desktop.focusctl("--field", entry, "run", "Edit." + command)
        #expect(refused.status == 4 && refused.errorText.contains("cannot be edited now"), "\(command) \(refused)")
      }
      try await window.holds("Gr🙂üße!", "pässwörd", "new")
    }
  }

  private func useEntry(_ window: Window, _ entry: String) async throws {
    try await window.set("Text.Content", "aé🙂z")
    try await window.holds("aé🙂z", "hush", "")
    try await window.set("Text.Selection", "[1,3]")
    let values = try await window.desktop.focusctl("get", "Text.Caret", "Text.Length", "Text.SelectedText")
    #expect(values.output == ["3", "4", "é🙂"])
    try await window.set("Text.SelectedText", "Ü🎉ß")
    try await window.holds("aÜ🎉ßz", "hush", "")
    #expect(try await window.desktop.focusctl("get", "Text.Selection").output == ["[4,4]"])
    for (command, text) in [("Undo", "aé🙂z"), ("Redo", "aÜ🎉ßz"), ("Undo", "aé🙂z"), ("Undo", "Grüße")] {
      try await window.run("Edit." + command)
      try await window.holds(text, "hush", "")
    }
    try await window.set("Text.Caret", "2")
    try await window.run("Text.Insert", "🙂")
    try await window.holds("Gr🙂üße", "hush", "")
    let typed = try await window.desktop.background("exec focusctl watch Text.Content")
    try await window.desktop.xdotool("key", "End")
    try await window.desktop.xdotool("type", "!")
    try await typed.line("what was typed") { $0 == "Gr🙂üße!" }
    try await window.holds("Gr🙂üße!", "hush", "")
    // In another program's window it would be asked for.
    #expect(try await window.desktop.focusctl("focus", entry).succeeded)
  }

  /// It can be written, and neither focusd nor a program that asks its object learns what it holds.
  private func useSecret(_ window: Window, _ secret: String, _ program: ManagedProcess) async throws {
    let desktop = window.desktop
    try await window.set("Text.Content", "pässwörd")
    try await window.holds("Gr🙂üße!", "pässwörd", "")
    #expect(try await desktop.focusctl("get", "org.focusd.Text.Content").output.isEmpty)
    let connection = try await desktop.busctl(
      "get-property", at: Focus1.field(secret), "org.focusd.Focus1.Field", "Connection")
    let owner = try #require(connection.text.firstMatch(of: /:[0-9.]+/)).output
    for call in [["Get", "ss", "org.focusd.Text", "Content"], ["GetAll", "s", "org.focusd.Element"]] {
      let asked = try await desktop.run(
        ["/usr/bin/busctl", "--address=" + desktop.bus.address, "call", String(owner), "/" + secret]
          + ["org.freedesktop.DBus.Properties"] + call)
      #expect(!asked.succeeded && asked.output.isEmpty, "\(asked)")
    }
  }

  private func useView(_ window: Window) async throws {
    try await window.set("Text.Content", "one\nü🙂2")
    try await window.holds("Gr🙂üße!", "pässwörd", "one\nü🙂2")
    try await window.set("Text.Selection", "[4,6]")
    try await window.set("Text.SelectedText", "yy")
    try await window.holds("Gr🙂üße!", "pässwörd", "one\nyy2")
    try await window.run("Edit.Undo")
    try await window.holds("Gr🙂üße!", "pässwörd", "one\nü🙂2")
    try await window.run("Edit.Undo")
    try await window.holds("Gr🙂üße!", "pässwörd", "")
    // A no-break space stays one.
    try await window.set("Text.Content", "5\u{a0}€")
    #expect(try await window.desktop.focusctl("update", "Text.Content", "append", "!").succeeded)
    try await window.holds("Gr🙂üße!", "pässwörd", "5\u{a0}€!")
  }

  /// Killed and started again, with its state, then without: all fields are back, and the one with focus can be written.
  private func restart(_ window: Window, _ focus: ManagedProcess, _ view: String) async throws {
    let desktop = window.desktop
    for isForgetful in [false, true] {
      try await desktop.kill()
      if isForgetful { try FileManager.default.removeItem(atPath: desktop.stateDirectory) }
      let known = focus.progress.now.output.count
      try await desktop.start()
      try await focus.line(from: known, "focus after a restart") { $0 == view }
      try await eventually("all fields") { try await desktop.focusctl("list").output.count == 3 }
      let text = isForgetful ? "new" : "back"
      try await eventually("key") { try await desktop.focusctl("get", "org.focusd.Text.Content").succeeded }
      try await window.set("Text.Content", text)
      try await window.holds("Gr🙂üße!", "pässwörd", text)
    }
  }

  // MARK: Without widgets

  /// Starts a program with a field, and one within it that has focus: what it prints is what others did.
  private func mixer(_ desktop: TestDesktop) async throws -> ManagedProcess {
    try await desktop.start(["/usr/bin/python3", "-u", Self.resources + "/mixer.py"], extra: Self.environment)
  }

  /// Focus is called only once Register has been answered; the field within another is registered after that.
  @Test func theOrderOfCalls() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let monitor = try await desktop.start(
        ["/usr/bin/busctl", "--address=" + desktop.bus.address, "--json=short", "monitor", Focus1.name])
      _ = try await monitor.progress.wait(for: "monitor") {
        $0.errors.contains { $0.hasPrefix("Monitoring") } ? true : nil
      }
      try await desktop.start()
      let program = try await mixer(desktop)
      _ = try await program.line("id")
      #expect(try await desktop.focusctl("wait", "com.example.Mixer.Gain").succeeded)
      try await desktop.crash()
      #expect(try await desktop.focusctl("wait", "com.example.Mixer.Gain").succeeded)
      try await eventually("the second Focus") {
        monitor.progress.now.output.count { $0.contains(#""member":"Focus""#) } == 2
      }
      program.send(line: "field.blur()")
      // Of the field, and of the one that it is in.
      try await eventually("both calls") {
        monitor.progress.now.output.count { $0.contains(#""member":"Blur""#) } == 2
      }
      try await eventually("no focus") { try await desktop.focusctl("focused").status == 1 }
      try await monitor.stop()
      let messages = monitor.progress.now.output.compactMap(Message.init)
      let calls = messages.indices.filter { ["Register", "Examine", "Focus", "Blur"].contains(messages[$0].member) }
      let names = calls.compactMap { messages[$0].member }
      #expect(
        names == [
          "Register", "Register", "Focus", "Register", "Examine", "Register", "Examine", "Focus", "Blur", "Blur",
        ],
        "\(names)")
      // None of them is sent before all of those before it are answered.
      for (earlier, later) in zip(calls, calls.dropFirst()) where messages[later].member != "Blur" {
        let reply = messages.firstIndex {
          $0.answered == messages[earlier].cookie && $0.receiver == messages[earlier].sender
        }
        #expect(try #require(reply) < later, "\(messages[earlier]) \(messages[later])")
      }
    }
  }

  /// The daemon does not wait for long while it looks at an object, and this program may have been held up.
  @Test func whatTheDaemonGaveUpOnIsAskedForAgain() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let timeout = ScriptedDaemon.Answer.error("org.freedesktop.DBus.Error.Timeout")
      let exists = ScriptedDaemon.Answer.error("org.focusd.Focus1.Error.FieldExists")
      let answers: [ScriptedDaemon.Answer] = [
        timeout, .reply([Focus1.fieldPath("window")]), exists, timeout, exists, .reply([]), .reply([]),
      ]
      let daemon = try await ScriptedDaemon(on: desktop, answers)
      let program = try await mixer(desktop)
      let calls = try await daemon.calls.wait(for: "the calls") { $0.count >= answers.count ? $0 : nil }
      let names = calls.map { $0.split(separator: " ").dropFirst().first }
      #expect(
        names == ["Register", "Register", "Register", "Examine", "Register", "Examine", "Focus"], "\(calls)")
      try await program.stop()
    }
  }

  private struct Message {
    let member, sender, receiver: String?
    let cookie, answered: Int?

    init?(_ line: String) {
      guard let fields = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else { return nil }
      member = fields["member"] as? String
      (sender, receiver) = (fields["sender"] as? String, fields["destination"] as? String)
      (cookie, answered) = (fields["cookie"] as? Int, fields["reply_cookie"] as? Int)
    }
  }

  @Test func valuesAndCommandsOfAProgram() async throws {
    try await TestDesktop.with { desktop in
      let program = try await mixer(desktop)
      let id = try await program.line("id")
      #expect(try await desktop.focusctl("wait", "com.example.Mixer.Gain").succeeded)
      let result = try await desktop.shell(
        """
        focusctl get Gain Hands Title; focusctl set Gain 0.84; focusctl get Gain; focusctl run Fade 2.5
        for arguments in 'set Gain 2' 'set Note 3' 'set Hands [1,2]' 'get Mixer.Secret' 'run Boom' 'run Broken'; do
          focusctl $arguments; echo $?
        done
        focusctl set Mixer.Secret hush
        focusctl set com.example.Mixer.Gain 1; focusctl get Gain
        """)
      #expect(
        result.output == ["0.5", "[3,12]", "täst", "0.8", "true"] + Array(repeating: "4", count: 6) + ["1.0"],
        "\(result)")
      #expect(result.errors.contains("focusctl: at most 1"), "\(result)")
      #expect(result.errors.contains("focusctl: 'Boom' is greyed out"), "\(result)")
      let said = try await program.lines(5)
      #expect(said == [id, "gain 0.8", "fade 2.5", "secret hush", "gain 1.0"], "\(said)")
      // Nil, and back; a command that is turned off stays so when the daemon has forgotten it.
      let note = try await desktop.background("exec focusctl watch Note")
      try await note.line("note") { $0 == "x" }
      program.send(line: "mixer.note = None; field.publish()")
      try await note.line("nil") { $0 == "nil" }
      program.send(line: "mixer.note = 'ü'; field.publish(); field.set_enabled('com.example.Mixer.Fade', False)")
      try await note.line("note again") { $0 == "ü" }
      // What cannot be told is nil, and nothing else.
      program.send(line: "mixer.note = 7; field.publish()")
      try await note.line(from: 3, "what is no text") { $0 == "nil" }
      #expect(try await desktop.focusctl("get", "Gain").output == ["1.0"])
      program.send(line: "mixer.note = 'y'; field.publish()")
      try await note.line(from: 4, "note once more") { $0 == "y" }
      try await eventually("the command is turned off") { try await desktop.focusctl("run", "Fade", "1").status == 4 }
      try await desktop.kill()
      try FileManager.default.removeItem(atPath: desktop.stateDirectory)
      try await desktop.start()
      try await eventually("focus again") { try await desktop.focusctl("focused").output == [id] }
      try await eventually("the command is turned off still") {
        try await desktop.focusctl("run", "Fade", "1").status == 4
      }
      program.send(line: "field.blur()")
      try await eventually("the field around it") { try await desktop.focusctl("focused").output != [id] }
      #expect(try await desktop.focusctl("focus", id).succeeded)
      #expect(try await desktop.focusctl("focused").output == [id])
      program.send(line: "field.unregister()")
      try await eventually("the field is gone") { try await desktop.focusctl("list").output.count == 1 }
      try await program.stop()
      try await eventually("the other as well") { try await desktop.focusctl("list").output.isEmpty }
    }
  }

  @Test func tools() async throws {
    try await TestDesktop.with { desktop in
      let program = try await mixer(desktop)
      let id = try await program.line("id")
      #expect(try await desktop.focusctl("wait", "com.example.Mixer.Gain").succeeded)
      let tool = try await desktop.start(
        ["/usr/bin/python3", "-u", Self.resources + "/tool.py", id], extra: Self.environment)
      try await tool.line("verdict") { $0 == "as expected" }
      try await tool.line("first value") { $0 == "watched 0.7" }
      #expect(try await desktop.focusctl("set", "Gain", "0.2").succeeded)
      try await tool.line("change") { $0 == "watched 0.2" }
      try await desktop.kill()
      try await tool.line("nil without a daemon") { $0 == "watched None" }
      let known = tool.progress.now.output.count
      try await desktop.start()
      try await tool.line(from: known, "value of the next daemon") { $0 == "watched 0.2" }
    }
  }

  /// Another loop than GLib's, and no session bus at all.
  @Test func asyncio() async throws {
    try await TestDesktop.with { desktop in
      let program = try await desktop.start(
        ["/usr/bin/python3", "-u", Self.resources + "/mixer.py", "asyncio"], extra: Self.environment)
      let id = try await program.line("id")
      #expect(try await desktop.focusctl("wait", "com.example.Mixer.Gain").succeeded)
      #expect(try await desktop.focusctl("focused").output == [id])
      #expect(try await desktop.focusctl("set", "Gain", "0.25").succeeded)
      try await program.line("what was written, in the loop's thread") { $0 == "gain 0.2 MainThread" }
    }
  }
}

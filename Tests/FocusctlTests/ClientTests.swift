import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// The examples for authors of applications, each as its users start it.
@Suite struct ClientTests {
  private static let clients = ModuleTests.clients

  // MARK: Toolkits

  /// A program with an entry, and a slider after it.
  struct Toolkit: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let title: String
    var hasSlider = true
    let start: @Sendable (TestDesktop) async throws -> [String]
  }

  private static let toolkits = [
    Toolkit(testDescription: "GTK 3, Python", title: "GTK 3") { _ in ["/usr/bin/python3", clients + "/gtk3.py"] },
    Toolkit(testDescription: "GTK 4, Python", title: "GTK 4") { _ in ["/usr/bin/python3", clients + "/gtk4.py"] },
    Toolkit(testDescription: "GTK 4, C", title: "GTK 4", hasSlider: false) {
      try await compiled("gtk4", "gtk4", $0)
    },
    Toolkit(testDescription: "Qt 6, Python", title: "Qt 6") { _ in ["/usr/bin/python3", clients + "/qt6.py"] },
  ]

  /// Compiles the example `name` in C with `library`, and returns what starts it.
  private static func compiled(_ name: String, _ library: String, _ desktop: TestDesktop) async throws -> [String] {
    let compiled = try await desktop.shell(
      """
      cc -Wall -Wextra -Wno-unused-parameter -Werror \(clients)/\(name).c -o ~/\(name) \
        $(pkg-config --cflags --libs \(library) | sed 's/-I/-isystem/g')
      """)
    try #require(compiled.succeeded, "\(compiled)")
    return [desktop.bus.directory + "/" + name]
  }

  @Test(.enabled(if: TestDesktop.canDisplay && TestDesktop.has("xdotool", "python3")), arguments: toolkits)
  func aProgramOf(_ toolkit: Toolkit) async throws {
    try await TestDesktop.with { desktop in
      try await desktop.display()
      let program = try await desktop.start(try await toolkit.start(desktop), extra: ModuleTests.environment)
      let focus = try await desktop.background("exec focusctl watch --focus")
      // Without a window manager, somebody has to give the window the keyboard.
      try await desktop.xdotool("search", "--sync", "--onlyvisible", "--name", "^\(toolkit.title)$", "windowfocus")
      let note = try await focus.line("focus of the entry") { $0.hasPrefix("note_") }
      let texts = try await desktop.background("exec focusctl watch Text.Content")
      #expect(try await texts.line() == "good morning")
      #expect(try await desktop.focusctl("set", "Text.Content", "").succeeded)
      try await desktop.xdotool("type", "abc")
      try await texts.line("typed text") { $0 == "abc" }
      #expect(try await desktop.focusctl("set", "Text.SelectedText", "déf🙂").succeeded)
      #expect(try await desktop.focusctl("get", "Text.Content").output == ["abcdéf🙂"])
      try await desktop.xdotool("key", "ctrl+a")
      let selected = try await desktop.background("exec focusctl watch Text.SelectedText")
      try await selected.line("selection") { $0 == "abcdéf🙂" }
      #expect(try await desktop.focusctl("set", "Text.SelectedText", "x").succeeded)
      #expect(try await desktop.focusctl("get", "Text.Content").output == ["x"])
      if toolkit.hasSlider { try await useSlider(desktop, focus, note) }
      try await returns(desktop, focus, note, toolkit)
      try await program.stop()
    }
  }

  private func useSlider(
    _ desktop: TestDesktop, _ focus: ManagedProcess, _ note: String
  ) async throws {
    #expect(try await desktop.focusctl("get", "Text.Caret").output == ["1"])
    try await desktop.xdotool("key", "Tab")
    try await focus.line("focus of the slider") { $0.hasPrefix("volume_") }
    #expect(try await desktop.focusctl("run", "Range.Increment").succeeded)
    let values = try await desktop.background("exec focusctl watch Range.Value")
    #expect(try await values.line() == "0.6")
    try await desktop.xdotool("key", "End")
    try await values.line("value that was chosen with a key") { $0 == "1.0" }
    // Another program asks for the focus.
    let known = focus.progress.now.output.count
    #expect(try await desktop.focusctl("focus", note).succeeded)
    try await focus.line(from: known, "focus of the entry, as asked for") { $0 == note }
  }

  /// A window that is deactivated has no focus; a daemon that forgot everything learns of the fields again.
  private func returns(
    _ desktop: TestDesktop, _ focus: ManagedProcess, _ note: String, _ toolkit: Toolkit
  ) async throws {
    var known = focus.progress.now.output.count
    let other = try await desktop.start(["/usr/bin/python3", "-c", Self.otherWindow])
    try await other.line("window")
    try await desktop.xdotool("search", "--sync", "--onlyvisible", "--name", "^other$", "windowfocus")
    try await focus.line(from: known, "blur of the window that was left") { $0 == "nil" }
    known = focus.progress.now.output.count
    try await desktop.xdotool("search", "--onlyvisible", "--name", "^\(toolkit.title)$", "windowfocus")
    try await focus.line(from: known, "focus of the window that is back") { $0 == note }
    // Restarted with its state, then without.
    for isForgetful in [false, true] {
      try await desktop.kill()
      if isForgetful { try FileManager.default.removeItem(atPath: desktop.stateDirectory) }
      known = focus.progress.now.output.count
      try await desktop.start()
      try await focus.line(from: known, "focus after a restart") { $0 == note }
      // The field is there before its object.
      #expect(try await desktop.focusctl("wait", "org.focusd.Text.Content").succeeded)
      #expect(try await desktop.focusctl("get", "Text.Content").output == ["x"])
    }
  }

  /// The daemon does not wait for long while it looks at an object, and the program may have been held up.
  @Test(.enabled(if: TestDesktop.canDisplay)) func whatTheDaemonGaveUpOnIsAskedForAgainInC() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      try await desktop.display()
      let daemon = try await ScriptedDaemon(
        on: desktop, [.error("org.freedesktop.DBus.Error.Timeout"), .reply([Focus1.fieldPath("note")])])
      let program = try await desktop.start(
        try await Self.compiled("gtk4", "gtk4", desktop), extra: ModuleTests.environment)
      try await program.line("the second answer") { $0.hasPrefix("registered") }
      // The window may have focus by then, which is told next.
      let members = daemon.calls.now.prefix(2).map { $0.split(separator: " ").dropFirst().first }
      #expect(members == ["Register", "Register"])
      try await program.stop()
    }
  }

  @Test(.enabled(if: TestDesktop.canDisplay && TestDesktop.has("xdotool", "python3")))
  func theMenusOfAWindow() async throws {
    try await TestDesktop.with { desktop in
      try await desktop.display()
      let program = try await desktop.start(
        ["/usr/bin/python3", Self.clients + "/menu.py"],
        extra: ModuleTests.environment)
      let focus = try await desktop.background("exec focusctl watch --focus")
      try await desktop.xdotool("search", "--sync", "--onlyvisible", "--name", "^Clock$", "windowfocus")
      try await focus.line("focus of the window") { $0.hasPrefix("menu_") }
      let result = try await desktop.shell(
        """
        focusctl menu; focusctl menu 'Clock › Start'; focusctl menu Start; focusctl menu Seconds on
        focusctl menu seconds on; focusctl menu seconds toggle; focusctl menu Seconds toggle; focusctl menu
        """)
      #expect(
        result.output == [
          "Clock › Start\tCtrl+S", "View › Seconds\t\toff", "Clock › Stop\tCtrl+T\tdisabled",
          "Clock › Stop\tCtrl+T", "View › Seconds\t\ton", "Clock › Start\tCtrl+S\tdisabled",
        ], "\(result)")
      #expect(result.errors == ["focusctl: 'Start' is disabled now"], "\(result)")
      let said = try await program.lines(4)
      #expect(said == ["started", "seconds True", "seconds False", "seconds True"])
    }
  }

  @Test(.enabled(if: TestDesktop.has("python3", "cc")), arguments: ["Python", "C"])
  func aProgramWithoutAWindow(language: String) async throws {
    try await TestDesktop.with { desktop in
      let program = try await desktop.start(
        language == "C"
          ? try await Self.compiled("lamp", "libsystemd", desktop) : ["/usr/bin/python3", Self.clients + "/lamp.py"],
        extra: ModuleTests.environment)
      let result = try await desktop.shell(
        """
        focusctl wait Brightness; focusctl get Brightness; focusctl update Brightness +90 --max 100
        focusctl set Brightness 101; focusctl run Off; focusctl get Brightness
        """)
      #expect(result.output == ["20", "0"], "\(result)")
      #expect(result.errors == ["focusctl: 101 is not between 0 and 100"], "\(result)")
      #expect(try await program.lines(2) == ["brightness 100", "brightness 0"])
      // A daemon that was killed has it again, and so has one that forgot all.
      try await desktop.kill()
      try await desktop.start()
      #expect(try await desktop.focusctl("set", "Brightness", "30").succeeded)
      try await desktop.kill()
      try FileManager.default.removeItem(atPath: desktop.stateDirectory)
      try await desktop.start()
      #expect(try await desktop.shell("focusctl wait Brightness; focusctl get Brightness").output == ["30"])
      try await program.stop()
    }
  }

  private static let otherWindow = """
    import gi
    gi.require_version("Gtk", "4.0")
    from gi.repository import GLib, Gtk
    Gtk.init()
    window = Gtk.Window(title="other")
    window.present()
    print("shown", flush=True)
    GLib.MainLoop().run()
    """

  // MARK: Editors and shells

  @Test(.enabled(if: TestDesktop.has("emacs"))) func emacs() async throws {
    try await editor([
      "/usr/bin/emacs", "--batch", "--eval", #"(find-file "file.txt")"#, "-l", Self.clients + "/emacs.el", "--eval",
      #"(progn (focusd-send "focus") (while t (accept-process-output nil 1)))"#,
    ])
  }

  /// The first text replaces the region, and the next one is inserted after it; a rectangle does not count as a region.
  @Test(
    .enabled(if: TestDesktop.has("emacs")),
    arguments: [("(activate-mark)", ["a", "b"], "one two c\n"), ("(rectangle-mark-mode 1)", [""], "a\nbone two c\n")])
  func emacsHasARegion(select: String, selected: [String], file: String) async throws {
    try await TestDesktop.with { desktop in
      let home = desktop.bus.directory
      try "a\nbc\n".write(toFile: home + "/file.txt", atomically: false, encoding: .utf8)
      try file.write(toFile: home + "/expected", atomically: false, encoding: .utf8)
      let region = "(progn (transient-mark-mode 1) (goto-char 4) (set-mark 1) \(select) (focusd-update)"
      let editor = try await desktop.start(
        [
          "/usr/bin/env", "--chdir", home, "/usr/bin/emacs", "--batch", "--eval", #"(find-file "file.txt")"#, "-l",
          Self.clients + "/emacs.el", "--eval",
          region + #" (focusd-send "focus") (while t (accept-process-output nil 1)))"#,
        ], extra: TestDesktop.programs)
      let result = try await desktop.shell(
        """
        focusctl wait Document.Path; focusctl get Text.SelectedText
        for word in 'one ' 'two '; do focusctl set Text.SelectedText "$word"; done; focusctl run Document.Save
        cd; until cmp -s file.txt expected; do sleep 0.02; done
        """)
      #expect(result.output == selected && result.errors.isEmpty, "\(result)")
      try await editor.stop()
    }
  }

  @Test(.enabled(if: TestDesktop.has("nvim"))) func neovim() async throws {
    try await editor([
      "/usr/bin/nvim", "--headless", "-u", "NONE", "-c", "luafile \(Self.clients)/neovim.lua", "-c",
      "doautocmd FocusGained", "file.txt",
    ])
  }

  private func editor(_ arguments: [String]) async throws {
    try await TestDesktop.with { desktop in
      let home = desktop.bus.directory
      try "abc\n".write(toFile: home + "/file.txt", atomically: false, encoding: .utf8)
      let editor = try await desktop.start(
        ["/usr/bin/env", "--chdir", home] + arguments, extra: TestDesktop.programs)
      let text = "two\\ \nlines\t"
      let result = try await desktop.shell(
        """
        focusctl wait Document.Path
        focusctl get Document.Path
        focusctl set Text.SelectedText "$TEXT"
        # What was inserted is not selected.
        focusctl watch Text.SelectedText | grep -m 1 '^$'
        focusctl run Document.Save
        """, extra: ["TEXT": text])
      #expect(
        result.output.count == 2 && result.output[0].hasSuffix("/file.txt") && result.output[1].isEmpty
          && result.errors.isEmpty, "\(result)")
      // The editor answers before it has saved.
      let saved = try await desktop.shell(
        """
        cd; echo abc >before; { printf %s "$TEXT"; cat before; } >expected
        until cmp -s file.txt expected; do sleep 0.02; done
        focusctl run Edit.Undo; focusctl run Document.Save
        until cmp -s file.txt before; do sleep 0.02; done
        # Each write is a step to undo, and goes on where the one before has ended.
        holds() { printf '%sabc\\n' "$1" >expected; until cmp -s file.txt expected; do sleep 0.02; done; }
        for word in 'one ' 'two '; do focusctl set Text.SelectedText "$word"; done
        focusctl run Document.Save; holds 'one two '
        for left in 'one ' ''; do focusctl run Edit.Undo; focusctl run Document.Save; holds "$left"; done
        # Nothing is left to undo, and what was undone before does not come back.
        focusctl run Edit.Undo; focusctl set Text.SelectedText 'end '; focusctl run Document.Save; holds 'end '
        """, extra: ["TEXT": text])
      #expect(saved.succeeded && saved.errors.isEmpty, "\(saved)")
      try await editor.stop()
      let focus = try await desktop.background("exec focusctl watch --focus")
      try await focus.line("the end of its field") { $0 == "nil" }
    }
  }

  /// Whatever options the user has.
  @Test(
    .enabled(if: TestDesktop.has("zsh", "script")),
    arguments: ["", "setopt no_clobber no_unset warn_create_global"])
  func theLineOfAPrompt(options: String) async throws {
    try await TestDesktop.with { desktop in
      let recipe = try TestDesktop.recipe("The line of a shell's prompt", "zsh").joined()
      try #require(recipe == "source ~/focusd/Sources/Examples/Clients/prompt.zsh")
      let home = desktop.bus.directory
      try "\(options)\nPS1='> '\nsource \(TestDesktop.project)/Sources/Examples/Clients/prompt.zsh\n".write(
        toFile: home + "/.zshrc", atomically: false, encoding: .utf8)
      #expect(try await desktop.focusctl("register", "note", "org.focusd.Text.Content=not own", "--focus").succeeded)
      let shell = try await desktop.terminal(80, 24, "cd; exec zsh -i", extra: ["TERM": "xterm"])
      #expect(try await desktop.focusctl("wait", "org.focusd.Shell.Buffer").succeeded)
      shell.send("focusctl --previous get Text.Content\n")
      try await shell.line("what had focus before the shell") { $0.contains("not own") }
      #expect(try await desktop.focusctl("unregister", "note").succeeded)
      try await eventually("the next line") { try await desktop.focusctl("get", "Shell.Buffer").output == [""] }
      let buffer = try await desktop.background("exec focusctl watch Shell.Buffer")
      // The shell may have been seen before it lost focus to the command.
      try await buffer.line("the empty line") { $0.isEmpty }
      shell.send(#"print -r a\\b"#)
      try await buffer.line("what is typed") { $0 == #"print -r a\\\\b"# }
      let typed = buffer.progress.now.output.count
      shell.send("\n")
      try await shell.line("what the command prints") { $0.contains(#"a\b"#) && !$0.contains("print") }
      // While the command runs, the line has no focus: a key shows that the next one has it.
      shell.send("x")
      try await buffer.line(from: typed, "the next line") { $0 == "x" }
      let result = try await desktop.shell(
        #"focusctl set Shell.Buffer $'print two\nprint -r li\\\\nes'; focusctl get Shell.Buffer; focusctl run Shell.Accept"#
      )
      #expect(result.output == ["print two", #"print -r li\\nes"#] && result.errors.isEmpty, "\(result)")
      try await shell.line("what the second line prints") { $0.contains(#"li\nes"#) && !$0.contains("print") }
      // The next line may be written before this one has been left.
      for number in 1...2 {
        let line = "print $((40 + \(number)))"
        // Between two lines the shell has no focus, and a call is refused.
        let next = try await desktop.shell(
          "{ until focusctl set Shell.Buffer '\(line)'; do :; done; until focusctl run Shell.Accept; do :; done; } 2>&1"
        )
        #expect(next.succeeded && next.errors.isEmpty, "\(next)")
      }
      for text in ["41", "42"] {
        try await shell.line("what both print") { $0.contains(text) && !$0.contains("print") }
      }
      try await eventually("nothing is left of it") {
        try await desktop.focusctl("get", "Shell.Buffer").output == [""]
      }
      // The terminal's window is left, and comes to the front again.
      let focus = try await desktop.background("exec focusctl watch --focus")
      try await focus.line("focus") { $0 != "nil" }
      shell.send("\u{1b}[O")
      try await focus.line(from: 1, "blur") { $0 == "nil" }
      shell.send("\u{1b}[I")
      try await focus.line(from: 2, "focus again") { $0 != "nil" }
      shell.send("sleep 1000 & echo $! >child; cd /\n")
      let directory = try await desktop.background("exec focusctl watch Shell.Directory")
      try await directory.line("the new directory") { $0 == "/" }
      // A program that the shell started does not keep the field.
      let known = focus.progress.now.output.count
      shell.send("kill -KILL $$\n")
      try await focus.line(from: known, "the end of its focus") { $0 == "nil" }
      // The line loses focus to the command before that ends the shell.
      try await eventually("no field") { try await desktop.focusctl("list").output.isEmpty }
      #expect(try await desktop.shell("cd; kill $(cat child)").succeeded)
    }
  }

  /// In a pane of tmux the field names the client's process; in a terminal that was started from a pane it does not.
  @Test(.enabled(if: TestDesktop.has("zsh", "script")), arguments: ["$(tty)", "/dev/other"])
  func aPromptInTmuxIsInTheWindowOfItsClient(pane: String) async throws {
    try await TestDesktop.with { desktop in
      try "PS1='> '\nsource \(TestDesktop.project)/Sources/Examples/Clients/prompt.zsh\n".write(
        toFile: desktop.bus.directory + "/.zshrc", atomically: false, encoding: .utf8)
      let tmux = TestDesktop.standIn(
        "tmux", "#!/bin/sh\n[ \"$1 $2 $3 $4\" = 'display-message -p -t %0' ] && echo \"\(pane) $(cat ~/client)\"")
      let shell = try await desktop.terminal(
        80, 24, "cd; echo 1 >client; \(tmux)exec zsh -i", extra: ["TERM": "xterm", "TMUX": "/a,1,0", "TMUX_PANE": "%0"])
      #expect(try await desktop.focusctl("wait", "org.focusd.Shell.Buffer").succeeded)
      func process() async throws -> DBusValue? {
        let field = try #require(try await desktop.focusctl("list", "--format", "{id}").output.first)
        return try await desktop.peer().get(Focus1.fieldInterface + ".Process", at: "/org/focusd/Focus1/field/" + field)
      }
      #expect(try await process() == .uint32(1) || pane != "$(tty)")
      #expect(try await process() != .uint32(1) || pane == "$(tty)")
      try await shell.stop()
    }
  }

  /// What is accepted there is an answer, which must not be run.
  @Test(.enabled(if: TestDesktop.has("zsh", "script"))) func whatVaredEditsIsNoLineOfThePrompt() async throws {
    try await TestDesktop.with { desktop in
      try "PS1='> '\nsource \(TestDesktop.project)/Sources/Examples/Clients/prompt.zsh\n".write(
        toFile: desktop.bus.directory + "/.zshrc", atomically: false, encoding: .utf8)
      let shell = try await desktop.terminal(80, 24, "cd; exec zsh -i", extra: ["TERM": "xterm"])
      #expect(try await desktop.focusctl("wait", "org.focusd.Shell.Buffer").succeeded)
      let field = try #require(try await desktop.focusctl("list", "--format", "{id}").output.first)
      shell.send("vared -p $'your name?\\n' -c name; print got $name.\n")
      try await shell.line("the question") { $0.contains("your name?") && !$0.contains("vared") }
      try await eventually("the line has been left") { try await desktop.focusctl("get", "Shell.Buffer").status == 1 }
      shell.send("print RUN")
      #expect(try await desktop.focusctl("--field", field, "run", "org.focusd.Shell.Accept").succeeded)
      shell.send("\n")
      try await shell.line("the answer") { $0.contains("got print RUN.") }
      try await eventually("the next line") { try await desktop.focusctl("get", "Shell.Buffer").output == [""] }
      #expect(!shell.progress.now.output.contains { $0.filter { $0 != "\r" } == "RUN" })
      try await shell.stop()
    }
  }

  /// Its terminal says nothing when a frame of the server begins or ends in it.
  @Test(.enabled(if: TestDesktop.has("emacs", "script"))) func aFrameOfEmacsServer() async throws {
    try await TestDesktop.with { desktop in
      let socket = desktop.bus.directory + "/server"
      let server = try await desktop.background("exec emacs --fg-daemon=\(socket) -Q -l \(Self.clients)/emacs.el")
      try await eventually("the server") { try await desktop.focusctl("list").output.contains { $0.contains("Emacs") } }
      #expect(try await desktop.focusctl("focused").status == 1)
      let call = "exec emacsclient -s \(socket) -nw /dev/shm/focusd-no-such-file.txt"
      let frame = try await desktop.terminal(80, 24, call)
      try await eventually("the file") {
        try await desktop.focusctl("get", "Document.Path").output == ["/dev/shm/focusd-no-such-file.txt"]
      }
      frame.send("\u{18}\u{03}")
      try await eventually("no focus") { try await desktop.focusctl("focused").status == 1 }
      try await server.stop()
    }
  }
}

import BusSupport
import Foundation
import TestSupport
import Testing

/// The examples for editors and shells in programs that outlive the session, as those in tmux do.
@Suite struct ClientReturnTests {
  /// A program on a terminal, and what is typed there.
  struct Program: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let key: String
    /// What starts it at home; its key has the value `first` then.
    let start: String
    let first: String
    /// Gives its key the value `second`.
    let change: String
    let second: String
    /// Has it believe that a minute has passed.
    let later: String
    /// Shows that the user is there.
    let event: String
    /// Writes the file `done`.
    let finish: String
  }

  private static let clients = ModuleTests.clients

  private static let zsh = Program(
    testDescription: "zsh", key: "Shell.Directory", start: "exec zsh -i", first: "", change: "cd sub\n",
    second: "/sub", later: "focusd_started=0\n", event: "\n", finish: ": >~/done\n")
  private static let programs = [
    zsh,
    Program(
      testDescription: "Neovim", key: "Document.Path",
      start: """
        exec nvim -u NONE -i NONE -n -c 'lua late, time = 0, os.time; os.time = function() return time() + late end' \
        -c 'luafile \(clients)/neovim.lua' one
        """,
      first: "/one", change: ":e sub/two\r", second: "/sub/two", later: ":lua late = late + 60\r", event: "\u{1b}[I",
      finish: ":call writefile([], $HOME . '/done')\r"),
    Program(
      testDescription: "Emacs", key: "Document.Path", start: "exec emacs -nw -Q -l \(clients)/emacs.el one",
      first: "/one", change: "\u{18}\u{6}sub/two\r", second: "/sub/two",
      later: "\u{1b}:(setq focusd-started 0)\r", event: "\u{1b}[I",
      finish: "\u{1b}:(write-region \"\" nil \"~/done\")\r"),
  ].filter { TestDesktop.has("script", URL(filePath: String($0.start.split(separator: " ")[1])).lastPathComponent) }

  /// Starts it with a `focusctl` that writes the process number of each `hold` into the file `starts`.
  private func start(
    _ program: Program, _ desktop: TestDesktop, extra: [String: String] = [:]
  ) async throws -> ManagedProcess {
    try """
    PS1='> '
    source \(Self.clients)/prompt.zsh
    other() { print -r -- $BUFFER >>~/hooked }
    add-zle-hook-widget line-pre-redraw other
    """.write(toFile: desktop.bus.directory + "/.zshrc", atomically: false, encoding: .utf8)
    let counted = TestDesktop.standIn(
      "focusctl",
      """
      #!/bin/sh
      [ "$1" != hold ] || echo $$ >>~/starts
      exec \(Products.focusctl) "$@"
      """)
    return try await desktop.terminal(
      80, 24, "cd; mkdir sub; \(counted)\n\(program.start)", extra: extra.merging(["TERM": "xterm"]) { $1 })
  }

  private func lines(_ file: String, _ desktop: TestDesktop) -> [String] {
    let text = try? String(contentsOfFile: desktop.bus.directory + "/" + file, encoding: .utf8)
    return (text ?? "").split(separator: "\n").map(String.init)
  }

  /// Waits until its program has seen the end of the last `hold`.
  private func untilEnded(_ desktop: TestDesktop) async throws {
    let process = try #require(lines("starts", desktop).last.flatMap { Int32($0) })
    try await eventually("end of \(process)") { kill(process, 0) == -1 }
  }

  /// A minute later, shows that the user is there until it has started another `hold`: Neovim sees focus before older keys.
  private func returns(to program: Program, _ process: ManagedProcess, _ desktop: TestDesktop) async throws {
    try await untilEnded(desktop)
    let count = lines("starts", desktop).count
    process.send(program.later)
    try await eventually("another start") {
      process.send(program.event)
      return lines("starts", desktop).count > count
    }
  }

  private func shows(_ path: String, _ program: Program, _ desktop: TestDesktop) async throws {
    let home = URL(filePath: desktop.bus.directory).lastPathComponent
    try await eventually(path) {
      try await desktop.focusctl("get", program.key).output.first?.hasSuffix("/" + home + path) == true
    }
  }

  /// Shows that the user is there some times, and waits each time until the program has seen that.
  private func stay(_ program: Program, _ process: ManagedProcess, _ desktop: TestDesktop) async throws {
    let file = desktop.bus.directory + "/done"
    for _ in 0..<4 {
      try await untilEnded(desktop)
      process.send(program.event + program.finish)
      try await eventually("file") { FileManager.default.fileExists(atPath: file) }
      try FileManager.default.removeItem(atPath: file)
    }
  }

  /// Ends it, and checks that it has said nothing of `focusctl`.
  private func stop(_ process: ManagedProcess) async throws {
    try await process.stop()
    let shown = process.progress.now.output.joined(separator: "\n")
    for word in ["focusctl", "rror", "exit", "killed"] { #expect(!shown.contains(word), "\(shown)") }
  }

  @Test(arguments: programs) func theNextSessionHasTheFieldToo(of program: Program) async throws {
    try await TestDesktop.with { desktop in
      let process = try await start(program, desktop)
      try await shows(program.first, program, desktop)
      try await desktop.bus.stop()
      _ = try await desktop.ended()
      process.send(program.change)
      try await returns(to: program, process, desktop)
      try await stay(program, process, desktop)
      try await untilEnded(desktop)
      // A minute may have passed meanwhile.
      #expect(lines("starts", desktop).count <= 3)
      let session = try await desktop.beginAgain()
      try await session[1].says("serving")
      try await returns(to: program, process, desktop)
      try await shows(program.second, program, desktop)
      // One that is killed comes back as well.
      kill(try #require(lines("starts", desktop).last.flatMap { Int32($0) }), SIGKILL)
      try await returns(to: program, process, desktop)
      try await shows(program.second, program, desktop)
      try await stop(process)
      for process in session { try await process.stop() }
    }
  }

  /// The shell sees the end of what ended during a command at the next prompt.
  @Test(.enabled(if: TestDesktop.has("zsh", "script"))) func whatEndsDuringACommandIsBackAfterIt() async throws {
    try await TestDesktop.with { desktop in
      let shell = try await start(Self.zsh, desktop)
      #expect(try await desktop.focusctl("wait", "Shell.Directory").succeeded)
      let process = try #require(lines("starts", desktop).first)
      shell.send("kill -KILL \(process); while kill -0 \(process); do :; done 2>/dev/null; focusd_started=0\n")
      #expect(try await desktop.focusctl("wait", "Shell.Directory").succeeded)
      try await shell.stop()
    }
  }

  @Test(.enabled(if: TestDesktop.has("zsh", "script"))) func aShellWithoutABusGoesOnAsWithoutFocusd() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let shell = try await start(
        Self.zsh, desktop, extra: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(desktop.bus.directory)/nowhere"])
      try await eventually("the first start") { !lines("starts", desktop).isEmpty }
      try await stay(Self.zsh, shell, desktop)
      #expect(lines("starts", desktop).count <= 2)
      // zsh calls no hook after one that fails.
      #expect(lines("hooked", desktop).contains(":"))
      try await stop(shell)
    }
  }
}

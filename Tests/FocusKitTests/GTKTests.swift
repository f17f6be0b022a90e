import BusSupport
import FocusKit
import Foundation
import TestSupport
import Testing

/// The example with GTK 4, before an X server of its own; it is built where GTK's headers are.
@Suite struct GTKTests {
  private static let page = "Sources/FocusKit/FocusKit.docc/BesideAnotherMainLoop.md"

  static let canRun =
    TestDesktop.canDisplay
    && [Products.directory + "/GTKControls", "/usr/bin/xdotool"].allSatisfy(FileManager.default.isExecutableFile)

  @Test func thePageShowsItsProgram() throws {
    let shown = try Article(Self.page).texts("swift")
    #expect(try Set(shown) == Set(Article.snippets("Sources/Examples/GTKControls")))
  }

  /// Two windows, each a process of its own.
  private static func withWindows(_ body: (TestDesktop, FocusClient) async throws -> Void) async throws {
    try await TestDesktop.with { desktop in
      try await desktop.display()
      let client = desktop.client()
      client.connect()
      let left = try await desktop.window("left", client)
      let right = try await desktop.window("right", client)
      try await body(desktop, client)
      for window in [left, right] { try await window.process.stop() }
    }
  }

  @Test(.enabled(if: canRun)) func theFocusOfTheWidgetsIsThatOfTheFields() async throws {
    try await Self.withWindows { desktop, client in
      // The window that came last is in front.
      try await client.waits(for: "right_text")
      try await desktop.xdotool("key", "Tab")
      try await client.waits(for: "right_volume")
      try await desktop.xdotool("search", "--onlyvisible", "--name", "^left$", "windowfocus")
      try await client.waits(for: "left_text")
      try await desktop.xdotool("search", "--onlyvisible", "--name", "^right$", "windowfocus")
      try await client.waits(for: "right_volume")
      // Another program asks for the focus.
      #expect(try await desktop.focusctl("focus", "left_volume").succeeded)
      try await client.waits(for: "left_volume")
      try await eventually("the keyboard is the left window's") {
        try await desktop.run(["/usr/bin/xdotool", "getwindowfocus", "getwindowname"]).output == ["left"]
      }
      try await desktop.xdotool("key", "End")
      try await Changes(client.changes(of: \.range.value)).wait(for: 1)
      // Without a window manager, a window that was used before does not come to the front by itself.
      #expect(try await desktop.focusctl("focus", "right_text").succeeded)
      try await desktop.xdotool("search", "--onlyvisible", "--name", "^right$", "windowfocus")
      try await desktop.xdotool("type", "abc")
      try await Changes(client.changes(of: \.text.content)).wait(for: "abc")
      #expect(client.focusedField == "right_text")
    }
  }

  @Test(.enabled(if: canRun)) func othersReadAndWriteWhatTheWidgetsShow() async throws {
    try await Self.withWindows { desktop, client in
      try await client.waits(for: "right_text")
      let texts = Changes(client.changes(of: \.text.content))
      try await desktop.xdotool("type", "hello")
      try await texts.wait(for: "hello")
      for block in try Article(Self.page).texts("console") {
        let (commands, output) = Self.parts(of: block)
        let result = try await desktop.bash(commands.joined(separator: "\n"))
        #expect(result.output == output && result.errors.isEmpty, "\(result)")
      }
      try await texts.wait(for: "good morning")
      try await desktop.xdotool("key", "End")
      try await desktop.xdotool("type", "!")
      try await texts.wait(for: "good morning!")
      try await desktop.xdotool("key", "Tab")
      try await client.waits(for: "right_volume")
      #expect(try await client.write(\.range.value, 0.5) == 0.5)
      #expect(try await client.write(\.range.value, 1e300) == 1)
      await #expect(throws: FocusError.self) { try await client.write(\.range.value, .nan) }
      let volumes = Changes(client.changes(of: \.range.value))
      try await client.run(\.range.decrement)
      try await volumes.wait(for: 0.95)
      #expect(try await client.read(\.element.role) == .slider)
    }
  }

  /// What is typed in `block`, and what is printed.
  private static func parts(of block: String) -> (commands: [String], output: [String]) {
    let lines = block.components(separatedBy: "\n")
    return (lines.filter { $0.hasPrefix("$ ") }.map { String($0.dropFirst(2)) }, lines.filter { !$0.hasPrefix("$ ") })
  }
}

extension FocusClient {
  /// Waits until the field `id` has focus.
  fileprivate func waits(for id: String) async throws { try await until(id) { self.focusedField == id } }
}

extension TestDesktop {
  /// Starts the example and waits until its entry has focus.
  fileprivate func window(_ name: String, _ client: FocusClient) async throws -> Program {
    let program = Program(
      try await start(
        ["/usr/bin/stdbuf", "-oL", Products.directory + "/GTKControls", name],
        // Neither a graphics card nor an accessibility bus is needed.
        extra: ["GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "none"]))
    try await program.prints("registered as \(name)")
    try await client.waits(for: "\(name)_text")
    return program
  }

  /// Does what a person at the display does.
  fileprivate func xdotool(_ arguments: String...) async throws {
    let result = try await run(["/usr/bin/xdotool"] + arguments)
    #expect(result.succeeded, "\(result)")
  }
}

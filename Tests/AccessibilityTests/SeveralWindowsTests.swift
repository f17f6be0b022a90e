import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// The windows of one program beside the window bridge: what is written is in the window in front, whatever the program says.
@Suite struct SeveralWindowsTests {
  private static let kits = RealDesktop.canRun("/usr/bin/openbox", Products.windowBridge) ? TextTests.Kit.here : []

  /// Runs `body` with a window for each title.
  private static func with(
    _ kit: TextTests.Kit, _ titles: [String], isolation: isolated (any Actor)? = #isolation,
    _ body: (RealDesktop, ManagedProcess, [String]) async throws -> Void
  ) async throws {
    try await RealDesktop.with { desktop in
      let session = desktop.desktop
      let manager = try await session.windowManager()
      let bridge = try await session.startBridge([Products.windowBridge])
      let program = try await start(kit, titles, writing: desktop.file, desktop)
      try await body(desktop, program, desktop.windows(ofProcess: program.processID, count: titles.count))
      for process in [program, bridge, manager] { try await process.stop() }
    }
  }

  /// Starts a program with a window for each title, which writes its texts to `file`.
  private static func start(
    _ kit: TextTests.Kit, _ titles: [String], writing file: String, _ desktop: RealDesktop
  ) async throws -> ManagedProcess {
    let script = try #require(Bundle.module.path(forResource: "windows", ofType: "py", inDirectory: "Resources"))
    return try await desktop.desktop.start(
      ["/usr/bin/python3", "-B", script, kit.rawValue, file] + titles, extra: AccessibilityLauncher.environment)
  }

  /// Not all toolkits tell that a dialog was closed: what it held has focus no more, and is not what had it before.
  @Test(arguments: kits) func aDialogLeavesNothing(_ kit: TextTests.Kit) async throws {
    try await Self.with(kit, ["main"]) { desktop, _, windows in
      try await desktop.activate(windows[0])
      try await desktop.waits(for: "Element.Role", .string("textbox"))
      try await eventually("in its window") { try await desktop.session.fields("FocusPath").last == windows[0] }
      let path = try await desktop.session.fields("FocusPath")
      for round in 1...3 {
        try await desktop.xdotool("key", "Return")
        try await desktop.waits(for: "Window.Title", .string("dialog"))
        try await desktop.waits(for: "Element.Role", .string("textbox"))
        try await eventually("what was before") { try await desktop.session.fields("History").first == path[0] }
        // It stays there for longer than it takes the window behind to say that it is not active any more.
        for number in 1...20 {
          try await desktop.writes("d\(number)", in: "dialog")
        }
        try await desktop.xdotool("key", "Escape")
        try await eventually("the window behind it") { try await desktop.session.fields("FocusPath") == path }
        try await desktop.writes("m\(round)", in: "0")
        try await eventually("nothing of the dialog") { try await desktop.session.fields().count == 2 }
        #expect(try await desktop.session.fields("FocusPath") == path)
      }
    }
  }

  /// GTK 4 does not tell that a dialog is in front that was behind a dialog of another program.
  @Test(arguments: kits) func aDialogThatWasBehindLeavesNothing(_ kit: TextTests.Kit) async throws {
    try await Self.with(kit, ["main"]) { desktop, _, windows in
      let otherKit = Self.kits.first { $0.isQt && $0 != kit } ?? kit
      let other = try await Self.start(otherKit, ["other"], writing: desktop.file + ".other", desktop)
      let mains = windows + (try await desktop.windows(ofProcess: other.processID, count: 1))
      var dialogs: [[String]] = []
      for window in mains {
        try await desktop.activate(window)
        try await eventually("an entry in \(window)") { try await desktop.session.fields("FocusPath").count == 2 }
        try await desktop.xdotool("key", "Return")
        try await eventually("the dialog's entry") {
          let path = try await desktop.session.fields("FocusPath")
          guard path.count == 2, path.last != window else { return false }
          dialogs.append(path)
          return true
        }
      }
      try await desktop.activate(dialogs[0][1])
      try await eventually("the dialog's entry again") {
        try await desktop.session.fields("FocusPath") == dialogs[0]
      }
      // It stays there until nobody asks any more which windows were closed.
      let end = SuspendingClock.now + .seconds(1)
      while SuspendingClock.now < end { try await desktop.writes("typed", in: "dialog") }
      try await desktop.xdotool("key", "Escape")
      try await eventually("nothing of the dialog") {
        try await Set(desktop.session.fields()).isDisjoint(with: dialogs[0])
      }
      try await other.stop()
    }
  }

  /// Nothing but which of them is in front tells windows of one title apart.
  @Test(arguments: kits, [["first", "second"], ["both", "both"]])
  func aWriteIsInTheWindowInFront(_ kit: TextTests.Kit, _ titles: [String]) async throws {
    try await Self.with(kit, titles) { desktop, program, windows in
      for (window, other) in [(windows[0], windows[1]), (windows[1], windows[0])] {
        try await desktop.activate(window)
        try await eventually("a connection in \(window) alone") {
          try await !desktop.session.adopted(by: window).isSubset(of: desktop.session.adopted(by: other))
        }
      }
      var fields: [String] = []
      for (number, window) in windows.enumerated() {
        try await desktop.activate(window)
        // What a program says hundreds of milliseconds late is taken for the window in front by then, until it says more.
        try await desktop.waits(for: "Element.Name", .string("entry \(number)"))
        try await desktop.set("Text.SelectedText", .string("\(number)"))
        try await desktop.holds("\(number)", "\(number)")
        fields.append(try #require(await desktop.session.fields("FocusPath").first))
      }
      #expect(Set(fields).count == 2)

      // It tells nothing, and still is written to where the window manager says.
      program.terminate(SIGSTOP)
      try await desktop.activate(windows[0])
      #expect(try await desktop.session.fields("FocusPath") == [fields[0], windows[0]])
      let write = desktop.session.begin(.set("org.focusd.Text.SelectedText", .string("!")))
      // The daemon has passed it on when it answers what comes after it.
      #expect(try await desktop.session.fields("FocusPath") == [fields[0], windows[0]])
      program.terminate(SIGCONT)
      try await write.values()
      try await desktop.holds("0", "0!")
      try await desktop.holds("1", "1")
      #expect(try await desktop.session.fields("History").first == fields[1])
    }
  }
}

extension RealDesktop {
  /// The fields of the windows of a process, oldest first, once there are so many.
  fileprivate func windows(ofProcess process: Int32, count: Int) async throws -> [String] {
    var windows: [String] = []
    try await eventually("windows") {
      let found = try await desktop.run(["/usr/bin/xdotool", "search", "--onlyvisible", "--pid", "\(process)"])
      windows = found.output.compactMap { Int($0) }.sorted().map { "w\($0)" }
      return Set(windows).isSubset(of: try await session.fields()) && windows.count == count
    }
    return windows
  }

  /// Writes a text, which ends up in `entry`; a window that is slow to say that it is in front may have none for a moment.
  fileprivate func writes(_ text: String, in entry: String) async throws {
    try await eventually("a text to write") {
      let error = try await self.refusal("Text.Content", .string(text))
      #expect(error == nil || ["NotFocused", "Timeout"].contains(error?.shortName), "\(String(describing: error))")
      return error == nil
    }
    try await holds(entry, text)
  }

  /// Brings a window to the front, and waits until focus is in it.
  fileprivate func activate(_ window: String) async throws {
    try await xdotool("windowactivate", String(window.dropFirst()))
    try await eventually("\(window) in front") { try await self.session.fields("FocusPath").last == window }
  }
}

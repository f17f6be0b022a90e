import BusSupport
import DBusTypes
import TestSupport
import Testing

/// The bridge with stock programs before an X server of their own.
@Suite struct ProgramTests {
  private static let yad = "/usr/bin/yad"
  private static let zenity = "/usr/bin/zenity"
  private static let secret = "correct-horse-battery"
  private static let hasGTK3 =
    RealDesktop.canRun() && RealDesktop.hasPython("/usr/lib/x86_64-linux-gnu/girepository-1.0/Gtk-3.0.typelib")

  private static let form = [
    yad, "--title=Form", "--form", "--field=Name", "abc", "--field=Number:NUM", "5", "--field=Check:CHK", "TRUE",
    "--field=Password:H", secret, "--field=Scale:SCL", "30",
  ]

  @Test(.enabled(if: RealDesktop.canRun(yad))) func aFormOfGTK3() async throws {
    try await RealDesktop.with { desktop in
      let traffic = try await desktop.monitor()
      let yad = try await desktop.start("Form", Self.form)
      try await desktop.waits(for: "Text.Content", .string("abc"))
      #expect(try await desktop.get("Window.Application") == .string("yad"))
      #expect(try await desktop.get("Window.ProcessId") == .uint32(UInt32(yad.processID)))
      try await desktop.writesText()
      try await desktop.tab(to: "spinbutton")
      #expect(try await desktop.desktop.focusctl("update", "Range.Value", "+2").succeeded)
      try await desktop.waits(for: "Text.Content", .string("7"))
      try await desktop.tab(to: "checkbox")
      #expect(try await desktop.desktop.focusctl("update", "Toggle.Checked", "toggle").succeeded)
      #expect(try await desktop.get("Toggle.Checked") == .boolean(false))
      try await desktop.tab(to: "password")
      try await desktop.fillsInSecret()
      try await desktop.tab(to: "slider")
      try await desktop.run("Range.Increment")
      #expect(try await desktop.get("Range.Value") == .double(31))
      try await desktop.tab(to: "button")
      #expect(try await desktop.get("Element.Name") == .string("Cancel"))
      // The field of the entry is still the same, and its values are those of now.
      try await desktop.tab(to: "textbox")
      #expect(try await desktop.get("Text.Content") == .string("oXXer"))
      try await desktop.expectNowhere(Self.secret, in: traffic)
      try await desktop.expectNowhere("filled-in", in: traffic, exceptWrites: true)
      try await yad.stop()
      try await eventually("no fields") { try await desktop.fields().isEmpty }
    }
  }

  /// ATK's bridge freezes a program whose dialog was opened by a call over the accessibility bus, at the first key.
  @Test(.enabled(if: hasGTK3)) func aDialogThatAnActionOpensWorks() async throws {
    try await RealDesktop.with { desktop in
      let program = try await desktop.script("dialog", title: "Window")
      try await desktop.waits(for: "Element.Name", .string("Ask"))
      try await desktop.run("Action.Click")
      try await desktop.front("Dialog")
      try await desktop.waits(for: "Element.Role", .string("textbox"))
      try await desktop.xdotool("key", "q")
      try await desktop.waits(for: "Text.Content", .string("q"))
      try await desktop.set("Text.SelectedText", .string("ü"))
      // Neither may one that is called in the dialog come on the same connection.
      try await desktop.xdotool("key", "Tab")
      try await desktop.waits(for: "Element.Role", .string("checkbox"))
      try await desktop.set("Toggle.Checked", .boolean(true))
      try await desktop.xdotool("key", "Tab")
      try await desktop.waits(for: "Element.Name", .string("OK"))
      try await desktop.run("Action.Click")
      try await desktop.front("Answer qü True")
      try await program.stop()
    }
  }

  /// GTK 3 tells of the focus of a row only if somebody has looked at the row before.
  @Test(.enabled(if: hasGTK3), arguments: ["text", "icons"])
  func rowsOfListsAndComboBoxesHaveFocus(kind: String) async throws {
    try await RealDesktop.with { desktop in
      let program = try await desktop.script("list", kind, title: "List")
      try await desktop.waits(for: "Element.Name", .string("Alpha"))
      for (key, row) in [("Down", "Beta"), ("Down", "Gamma"), ("Up", "Beta"), ("End", "Omega"), ("Home", "Alpha")] {
        try await desktop.xdotool("key", key)
        try await desktop.waits(for: "Element.Name", .string(row))
        #expect(try await desktop.get("Element.Role") == .string("cell"))
      }
      try await desktop.xdotool("key", "Tab")
      try await desktop.waits(for: "Element.Role", .string("textbox"))
      try await desktop.xdotool("key", "Tab")
      // Its button says that it has focus.
      try await desktop.waits(for: "Element.Name", .string("Red"))
      #expect(try await desktop.get("Element.Role") == .string("combobox"))
      try await desktop.xdotool("key", "Tab")
      try await desktop.waits(for: "Element.Name", .string("Alpha"))
      try await program.stop()
    }
  }

  @Test(.enabled(if: RealDesktop.canRun(zenity, yad))) func twoProgramsAndOneThatIsStopped() async throws {
    try await RealDesktop.with { desktop in
      let zenity = try await desktop.start(
        "Question", [Self.zenity, "--entry", "--title=Question", "--text=Name", "--entry-text=first"])
      try await desktop.waits(for: "Text.Content", .string("first"))
      let yad = try await desktop.start("Form", Self.form)
      try await desktop.waits(for: "Text.Content", .string("abc"))
      try await desktop.xdotool(
        "search", "--onlyvisible", "--name", "^Question$", "windowfocus")
      try await desktop.waits(for: "Text.Content", .string("first"))
      try await desktop.set("Text.Content", .string("second"))
      try await desktop.xdotool("search", "--onlyvisible", "--name", "^Form$", "windowfocus")
      try await desktop.waits(for: "Text.Content", .string("abc"))
      zenity.terminate(19)
      try await desktop.set("Text.Content", .string("written meanwhile"))
      try await desktop.xdotool("key", "Tab")
      try await desktop.waits(for: "Element.Role", .string("spinbutton"))
      zenity.terminate(18)
      try await desktop.xdotool("search", "--onlyvisible", "--name", "^Question$", "windowfocus")
      try await desktop.waits(for: "Text.Content", .string("second"))
      try await zenity.stop()
      try await eventually("the other's fields") { try await desktop.get("Text.Content") != .string("second") }
      try await yad.stop()
    }
  }

  @Test(
    .enabled(
      if: RealDesktop.canRun()
        && RealDesktop.hasPython("/usr/lib/x86_64-linux-gnu/girepository-1.0/Gtk-4.0.typelib")))
  func aWindowOfGTK4() async throws {
    try await RealDesktop.with { desktop in
      let traffic = try await desktop.monitor()
      let program = try await desktop.script("gtk4_window", title: "Controls")
      try await desktop.waits(for: "Text.Content", .string("abc"))
      try await desktop.writesText()
      try await desktop.tab(to: "password")
      try await desktop.fillsInSecret()
      // The second shows itself as an ordinary entry, and its text as it is.
      try await desktop.tab(to: "password")
      try await desktop.fillsInSecret()
      try await desktop.tab(to: "slider")
      try await desktop.set("Range.Value", .double(2))
      try await desktop.xdotool("key", "End")
      try await desktop.waits(for: "Range.Value", .double(10))
      // An entry that hides its text, empty at first.
      try await desktop.tab(to: "textbox")
      try await desktop.xdotool("type", Self.secret)
      try await desktop.waits(for: "Element.Role", .string("password"))
      #expect(try await desktop.get("Text.Content") == nil)
      try await desktop.expectNowhere(Self.secret, in: traffic)
      try await desktop.expectNowhere("corr", in: traffic)
      try await program.stop()
    }
  }

  @Test(
    .enabled(
      if: RealDesktop.canRun() && RealDesktop.hasPython("/usr/lib/python3/dist-packages/PyQt5/QtWidgets.abi3.so")))
  func aWindowOfQt5() async throws {
    try await RealDesktop.with { desktop in
      let traffic = try await desktop.monitor()
      let program = try await desktop.script("qt5_window", title: "Controls")
      try await desktop.waits(for: "Text.Content", .string("abc"))
      try await desktop.writesText()
      try await desktop.tab(to: "password")
      try await desktop.fillsInSecret()
      try await desktop.tab(to: "slider")
      #expect(try await desktop.desktop.focusctl("update", "Range.Value", "+2").succeeded)
      #expect(try await desktop.get("Range.Value") == .double(2))
      try await desktop.tab(to: "checkbox")
      try await desktop.set("Toggle.Checked", .boolean(true))
      try await desktop.tab(to: "button")
      #expect(try await desktop.keys().contains("org.focusd.Element.Name"))
      try await desktop.expectNowhere(Self.secret, in: traffic)
      // It has died of less.
      #expect(program.progress.now.exit == nil)
      try await program.stop()
    }
  }
}

extension RealDesktop {
  /// Reads, writes and follows the text entry that has focus, which ends as "oXXer".
  func writesText() async throws {
    try await set("Text.SelectedText", .string("hello"))
    try await eventually("written") {
      if case .string(let text)? = try await self.get("Text.Content") { text.contains("hello") } else { false }
    }
    try await xdotool("key", "End")
    try await xdotool("type", "xyz")
    try await eventually("typed") {
      if case .string(let text)? = try await self.get("Text.Content") { text.hasSuffix("helloxyz") } else { false }
    }
    try await set("Text.Content", .string("other"))
    try await set("Text.Selection", .structure([.int32(1), .int32(3)]))
    #expect(try await get("Text.SelectedText") == .string("th"))
    try await run("Text.Insert", [.string("XX")])
    #expect(try await get("Text.Content") == .string("oXXer"))
    try await set("Text.Caret", .int32(2))
    #expect(try await get("Text.Caret") == .int32(2))
  }

  /// Checks that the element that has focus takes a secret, and shows none.
  func fillsInSecret() async throws {
    #expect(try await keys().filter { $0.hasPrefix("org.focusd.Text.") } == ["org.focusd.Text.Content"])
    #expect(try await get("Text.Content") == nil)
    #expect(try await refusal("Text.Content", .string("filled-in")) == nil)
  }
}

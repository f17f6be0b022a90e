import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// Texts of stock toolkits, judged by what the program's widgets hold: it writes that to a file.
@Suite struct TextTests {
  enum Kit: String, Sendable, CaseIterable {
    case gtk3, gtk4, qt5, qt6

    var isHere: Bool {
      switch self {
      case .gtk3: RealDesktop.hasPython("/usr/lib/x86_64-linux-gnu/girepository-1.0/Gtk-3.0.typelib")
      case .gtk4: RealDesktop.hasPython("/usr/lib/x86_64-linux-gnu/girepository-1.0/Gtk-4.0.typelib")
      case .qt5: RealDesktop.hasPython("/usr/lib/python3/dist-packages/PyQt5/QtWidgets.abi3.so")
      case .qt6: RealDesktop.hasPython("/usr/lib/python3/dist-packages/PyQt6/QtWidgets.abi3.so")
      }
    }

    var isQt: Bool { self == .qt5 || self == .qt6 }

    /// The widgets, in the order in which Tab goes through them.
    var widgets: [String] { isQt ? ["entry", "view", "plain"] : ["entry", "view"] }

    static let here = RealDesktop.canRun() ? allCases.filter(\.isHere) : []
  }

  /// A replacement of what is selected, in characters.
  private struct Case {
    let before: String
    let selection: Range<Int32>
    let text: String
    let after: String

    init(_ before: String, _ selection: Range<Int32>, _ text: String, _ after: String) {
      (self.before, self.selection, self.text, self.after) = (before, selection, text, after)
    }
  }

  private static let cases = [
    Case("", 0..<0, "Grüße", "Grüße"), Case("😀", 1..<1, "🚀", "😀🚀"), Case("😀🚀", 2..<2, "z", "😀🚀z"),
    Case("a😀bc", 2..<3, "ü", "a😀üc"), Case("a😀b", 1..<2, "", "ab"), Case("e\u{301}x", 1..<2, "\u{308}", "e\u{308}x"),
    Case("אבג", 1..<2, "ש", "אשג"), Case("abc", 0..<3, "abc", "abc"), Case("x", 1..<1, "🏳️‍🌈", "x🏳️‍🌈"),
    Case("12", 1..<1, "a\r\nb", "1a\r\nb2"), Case("12", 1..<1, "a\tb", "1a\tb2"),
  ]

  @Test(arguments: Kit.here) func whatIsWrittenIsWhatTheProgramHolds(_ kit: Kit) async throws {
    try await RealDesktop.withTexts(kit.rawValue) { desktop in
      for widget in kit.widgets {
        try await desktop.waits(for: "Element.Role", .string("textbox"))
        // A view of Qt has one end of a line.
        func held(_ text: String) -> String {
          kit.isQt && widget != "entry" ? text.replacing("\r\n", with: "\n") : text
        }
        for each in Self.cases {
          try await desktop.set("Text.Content", .string(each.before))
          try await desktop.holds(widget, each.before)
          let (start, end) = (each.selection.lowerBound, each.selection.upperBound)
          try await desktop.set("Text.Selection", .structure([.int32(start), .int32(end)]))
          try await desktop.run("Text.Insert", [.string(each.text)])
          try await desktop.holds(widget, held(each.after))
          #expect(try await desktop.get("Text.Content") == .string(held(each.after)))
          let caret = start + Int32(held(each.text).unicodeScalars.count)
          #expect(try await desktop.get("Text.Caret") == .int32(caret), "\(widget): \(each)")
        }
        try await desktop.types(in: widget)
        // An entry takes less.
        if widget != "entry" { try await desktop.writesALongText(in: widget) }
        try await desktop.tab()
      }
      if kit.isQt {
        try await desktop.waits(for: "Text.SelectedText", .string("ab?"))
        try await desktop.set("Text.Selection", .structure([.int32(3), .int32(3)]))
        try await desktop.run("Text.Insert", [.string("ü")])
        try await desktop.holds("half", "ab\u{FFFD}ü")
      }
    }
  }

  /// GTK 3 undoes nothing, and Qt takes what follows what was typed for the same.
  @Test(arguments: Kit.here.filter { $0 == .gtk4 }) func whatIsAddedIsOneStepToUndo(_ kit: Kit) async throws {
    try await RealDesktop.withTexts(kit.rawValue) { desktop in
      for widget in kit.widgets {
        try await desktop.waits(for: "Element.Role", .string("textbox"))
        try await desktop.set("Text.Content", .string(""))
        try await desktop.xdotool("type", "typed")
        try await desktop.waits(for: "Text.Content", .string("typed"))
        try await desktop.set("Text.Content", .string("typed 😀 ü"))
        try await desktop.holds(widget, "typed 😀 ü")
        try await desktop.xdotool("key", "ctrl+z")
        try await desktop.holds(widget, "typed")
        // Two steps, and what was before it is still there to be undone.
        try await desktop.set("Text.Content", .string("Grüße"))
        try await desktop.holds(widget, "Grüße")
        for text in ["", "typed"] {
          try await desktop.xdotool("key", "ctrl+z")
          try await desktop.holds(widget, text)
        }
        try await desktop.tab()
      }
    }
  }

  /// GTK 4 lists what can be undone only when there is something.
  @Test(arguments: Kit.here.filter { $0 == .gtk4 }) func anEditorHasItsCommands(_ kit: Kit) async throws {
    try await RealDesktop.withTexts(kit.rawValue) { desktop in
      try await desktop.waits(for: "Element.Role", .string("textbox"))
      try await desktop.tab()
      try await desktop.set("Text.Content", .string(""))
      try await desktop.xdotool("type", "typed")
      try await desktop.holds("view", "typed")
      for (command, text) in [
        ("Undo", ""), ("Redo", "typed"), ("SelectAll", "typed"), ("Cut", ""), ("Paste", "typed"),
        ("SelectAll", "typed"),
        ("Copy", "typed"), ("Paste", "typed"), ("Paste", "typedtyped"),
      ] {
        try await eventually(command) {
          try await desktop.session.commands()["org.focusd.Edit." + command] == true
        }
        try await desktop.run("Edit." + command)
        try await desktop.holds("view", text)
      }
    }
  }

  /// The bridge is stopped, and so has heard nothing of it.
  @Test(arguments: Kit.here) func aTextThatWasTypedMeanwhileStays(_ kit: Kit) async throws {
    try await RealDesktop.withTexts(kit.rawValue) { desktop in
      try await desktop.waits(for: "Element.Role", .string("textbox"))
      try await desktop.set("Text.Content", .string("abc"))
      try await desktop.set("Text.Caret", .int32(3))
      let write = try await desktop.write(of: "Text.Content", .string("mine"))
      desktop.bridge.terminate(SIGSTOP)
      try await desktop.xdotool("key", "d")
      try await desktop.holds("entry", "abcd")
      let call = desktop.session.begin(write)
      try await desktop.session.settle()
      desktop.bridge.terminate(SIGCONT)
      #expect(try await call.refusal() == "Conflict")
      try await desktop.holds("entry", "abcd")
      #expect(try await desktop.get("Text.Content") == .string("abcd"))
    }
  }

  /// Qt's entries say that they are editable, too, and its texts do not tell that they are so again.
  @Test(arguments: Kit.here.filter(\.isQt)) func onlyWhatCanBeEditedIsWritten(_ kit: Kit) async throws {
    try await RealDesktop.withTexts(kit.rawValue) { desktop in
      for widget in kit.widgets {
        try await desktop.waits(for: "Element.Role", .string("textbox"))
        try await desktop.set("Text.Content", .string("first"))
        try await desktop.holds(widget, "first")
        try await desktop.xdotool("key", "F8")
        try await desktop.holds("lock", "True")
        for key in ["Text.Content", "Text.SelectedText"] {
          let error = try await desktop.refusal(key, .string("second"))
          #expect(error?.shortName == "PropertyReadOnly", "\(widget) \(key): \(String(describing: error))")
        }
        try await desktop.holds(widget, "first")
        try await desktop.xdotool("key", "F8")
        try await desktop.holds("lock", "False")
        try await desktop.xdotool("type", "x")
        try await eventually("\(widget) is writable") {
          try await desktop.refusal("Text.Content", .string("third")) == nil
        }
        try await desktop.holds(widget, "third")
        try await desktop.tab()
      }
    }
  }

  /// Qt's combo boxes say that they have focus, and their lines are typed into.
  @Test(arguments: Kit.here.filter(\.isQt)) func theLineOfAComboBoxIsWritten(_ kit: Kit) async throws {
    try await RealDesktop.withTexts(kit.rawValue) { desktop in
      for _ in 0...kit.widgets.count {
        try await desktop.waits(for: "Element.Role", .string("textbox"))
        try await desktop.tab()
      }
      try await desktop.waits(for: "Text.Content", .string("one"))
      try await desktop.set("Text.Content", .string("Grüße 🎉"))
      try await desktop.holds("combo", "Grüße 🎉")
      try await desktop.xdotool("type", "x")
      try await eventually("the typed character") { try await desktop.get("Text.Content") != .string("Grüße 🎉") }
      try await desktop.tab()
      try await desktop.waits(for: "Text.Content", .string(""))
    }
  }

  /// GTK's numeric spin button removes the text, refuses the new one, and agrees to both.
  @Test(arguments: Kit.here.filter { !$0.isQt }) func aRefusedReplacementLeavesTheOldText(_ kit: Kit) async throws {
    try await RealDesktop.withTexts(kit.rawValue) { desktop in
      for _ in kit.widgets {
        try await desktop.waits(for: "Element.Role", .string("textbox"))
        try await desktop.tab()
      }
      try await desktop.waits(for: "Element.Role", .string("spinbutton"))
      try await desktop.holds("spin", "5")
      #expect(try await desktop.refusal("Text.Content", .string("abc"))?.message.contains("did not take") == true)
      try await desktop.holds("spin", "5")
      try await desktop.set("Text.Selection", .structure([.int32(0), .int32(1)]))
      #expect(try await desktop.refusal("Text.SelectedText", .string("abc"))?.message.contains("did not take") == true)
      try await desktop.holds("spin", "5")
      try await desktop.set("Text.Content", .string("7"))
      try await desktop.holds("spin", "7")
    }
  }
}

extension RealDesktop {
  var file: String { desktop.bus.directory + "/texts" }

  /// Runs `body` with a window of texts in front.
  static func withTexts(
    _ kit: String, script: String = "texts", title: String = "Texts", isolation: isolated (any Actor)? = #isolation,
    _ body: (RealDesktop) async throws -> Void
  ) async throws {
    try await RealDesktop.with { desktop in
      let program = try await desktop.script(script, kit, desktop.file, title: title)
      try await body(desktop)
      #expect(program.progress.now.exit == nil)
      try await program.stop()
    }
  }

  /// Waits until the program holds `text`.
  func holds(_ widget: String, _ text: String) async throws {
    try await eventually("\(widget) holds \(text.prefix(50))") { () async throws -> Bool in
      let data = try Data(contentsOf: URL(fileURLWithPath: self.file))
      let texts = try? JSONDecoder().decode([String: String].self, from: data)
      return texts?[widget].map { $0.utf8.elementsEqual(text.utf8) } == true
    }
  }

  /// What is inserted one after another ends up so.
  fileprivate func types(in widget: String) async throws {
    try await set("Text.Content", .string(""))
    for text in ["😀", "🚀", "z"] { try await run("Text.Insert", [.string(text)]) }
    try await holds(widget, "😀🚀z")
    // The program's own caret is there.
    try await xdotool("type", "k")
    try await holds(widget, "😀🚀zk")
    try await waits(for: "Text.Caret", .int32(4))
  }

  /// More than is published.
  fileprivate func writesALongText(in widget: String) async throws {
    // In lines: GTK would make one as wide as it is.
    let text = String(repeating: "01234\n6😀9", count: 7778)
    try await mayBeLate { try await set("Text.Content", .string(text)) }
    try await holds(widget, text)
    try await waits(for: "Text.Length", .int32(70_002))
    #expect(try await get("Text.Content") == nil)
    try await selects(69_997, 70_000)
    try await waits(for: "Text.SelectedText", .string("4\n6"))
    try await mayBeLate { try await run("Text.Insert", [.string("ü🚀")]) }
    try await holds(widget, text.dropLast(5) + "ü🚀😀9")
    try await waits(for: "Text.Caret", .int32(69_999))
    // What is nil cannot be written.
    try await selects(0, 70_001)
    try await mayBeLate { try await run("Text.Insert", [.string("end")]) }
    try await holds(widget, "end")
  }

  /// Selects in a long text, again if the program was not asked before the time was over.
  private func selects(_ start: Int32, _ end: Int32) async throws {
    let selection = DBusValue.structure([.int32(start), .int32(end)])
    try await eventually("\(start) to \(end) is selected") {
      try await mayBeLate { try await set("Text.Selection", selection) }
      return try await get("Text.Selection") == selection
    }
  }

  /// Makes a change of a long text, which a slow machine lays out for longer than the daemon waits: what comes of it counts.
  private func mayBeLate(_ change: () async throws -> Void) async throws {
    do { try await change() } catch let error as RemoteError where error.shortName == "Timeout" {}
  }
}

import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// Firefox: what the page's own script says that it holds is what counts.
@Suite(.serialized, .enabled(if: FirefoxDriver.canRun, "needs firefox-esr: .ci/setup test"))
struct FirefoxTests {
  @Test func textsAreReadWrittenAndUndone() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("entries.html")
      try await stage.shows("Document.Title", .string("Entries"))
      // (an element, what is written, what it holds then)
      let written: [(String, String, String)] = [
        ("entry", "one", "one"), ("entry", "äö 😀 e\u{301} 👩‍👩‍👧 \u{202e}", "äö 😀 e\u{301} 👩‍👩‍👧 \u{202e}"), ("entry", "", ""),
        ("limited", "too long", "too l"), ("email", "a@b", "a@b"), ("area", "two\nlines\n", "two\nlines\n"),
        ("upper", "shout", "SHOUT"), ("open shadow", "in", "in"), ("closed shadow", "in 😀", "in 😀"),
        ("number", "7", "7"), ("plain", "rich 😀", "rich 😀"), ("closed rich", "deep", "deep"),
      ]
      for (name, text, held) in written {
        try await stage.focusNamed(name)
        #expect(try await stage.write("Text.Content", .string(text)) == .string(held), "\(name)")
        #expect(try await stage.held(name) == held, "\(name)")
        #expect(try await stage.get("Text.Content") == .string(held), "\(name)")
      }
      #expect(try await !stage.held("seen:entry").contains("false"), "the page saw events that nobody typed")
      try await typing(stage)
      try await whatChangesNothing(stage)
      try await refusals(stage)
      try await editable(stage)
    }
  }

  private func typing(_ stage: FirefoxStage) async throws {
    try await stage.focusNamed("entry")
    try await stage.run("keys", "typed")
    try await stage.shows("Text.Content", .string("typed"))
    try await stage.shows("Text.Caret", .int32(5))
    try await stage.write("Text.Content", .string("a😀b😀c"))
    try await stage.write("Text.Selection", .structure([.int32(1), .int32(4)]))
    // The page counts UTF-16 units.
    #expect(try await stage.held("selection:entry") == "1,6")
    #expect(try await stage.get("Text.SelectedText") == .string("😀b😀"))
    try await stage.write("Text.SelectedText", .string("-"))
    #expect(try await stage.held("entry") == "a-c")
    try await stage.write("Text.Caret", .int32(1))
    try await stage.runs("Text.Insert", [.string("😀")])
    #expect(try await stage.held("entry") == "a😀-c")
    try await stage.shows("Text.Caret", .int32(2))
    // Real keys undo what was written.
    try await stage.run("keys", "Control", "z")
    try await stage.holds("entry", "a-c")
    try await stage.runs("Edit.Undo")
    try await stage.holds("entry", "a😀b😀c")
    try await stage.runs("Edit.Redo")
    try await stage.holds("entry", "a-c")
    try await stage.runs("Edit.SelectAll")
    #expect(try await stage.held("selection:entry") == "0,3")
    // What a script changes without an event.
    try await stage.script("find('entry').value = 'by itself'")
    try await stage.shows("Text.Content", .string("by itself"))
    // Longer than what is shown as a whole.
    try await stage.focusNamed("area")
    try await stage.script("find('area').value = '😀'.repeat(30000)")
    try await stage.shows("Text.Length", .int32(30000))
    #expect(try await stage.get("Text.Content") == nil)
    try await stage.runs("Edit.SelectAll")
    try await stage.runs("Text.Insert", [.string(String(repeating: "x", count: 60000))])
    #expect(try await stage.held("area").utf8.count == 60000)
  }

  /// Nothing is deleted where nothing is selected, and what is there already is not written twice.
  private func whatChangesNothing(_ stage: FirefoxStage) async throws {
    for (name, content) in [("entry", "abc"), ("email", "a@b"), ("plain", "abc"), ("pastes", "a\nb")] {
      try await stage.focusNamed(name)
      for _ in 0..<2 { try await stage.write("Text.Content", .string(content)) }
      #expect(try await stage.get("Text.Content") == .string(content), "\(name)")
      let held = try await stage.held(name)
      try await stage.runs("Text.Insert", [.string("")])
      #expect(try await stage.held(name) == held, "\(name)")
    }
    try await stage.runs("Edit.SelectAll")
    try await stage.write("Text.SelectedText", .string("a\nb"))
    #expect(try await stage.get("Text.Content") == .string("a\nb"))
    // What the entry or the page makes of it is there already.
    for (name, first, again) in [("email", "a@b.c", "a@b.c "), ("upper", "abc", "aBC")] {
      try await stage.focusNamed(name)
      for text in [first, again] { try await stage.write("Text.Content", .string(text)) }
    }
    // No more than somebody could type, however often.
    try await stage.focusNamed("limited")
    for _ in 0..<2 { #expect(try await stage.write("Text.Content", .string("too long")) == .string("too l")) }
    #expect(try await errorName { try await stage.runs("Text.Insert", [.string("x")]) } == "Failed")
    #expect(try await stage.held("limited") == "too l")
    // What a script made longer is shortened all the same.
    try await stage.script("find('limited').value = 'too long'")
    try await stage.write("Text.Selection", .structure([.int32(3), .int32(5)]))
    try await stage.write("Text.SelectedText", .string(""))
    #expect(try await stage.held("limited") == "tooong")
  }

  private func refusals(_ stage: FirefoxStage) async throws {
    try await stage.focusNamed("fixed")
    try await stage.shows("Text.Content", .string("fixed"))
    #expect(try await errorName { try await stage.write("Text.Content", .string("x")) } == "PropertyReadOnly")
    try await stage.focusNamed("stubborn")
    #expect(try await errorName { try await stage.write("Text.Content", .string("x")) } == "Failed")
    #expect(try await stage.held("stubborn") == "mine")
    // (an element, what is written, what it holds then)
    for (name, text, held) in [
      ("later", "x", "mine"), ("trusting", "x", "mine"), ("digits", "none", ""), ("replaced", "x", ""),
      ("date", "tomorrow", "2024-05-06"), ("time", "9:00", "10:00"), ("number", "1,5", "7"), ("title", "a\nb", "a"),
      ("chat", "a\nb", ""),
    ] {
      try await stage.focusNamed(name)
      #expect(
        try await errorName { try await stage.write("Text.Content", .string(text)) }
          == (name == "replaced" ? "UnknownObject" : "Failed"), "\(name)")
      #expect(try await stage.held(name) == held, "\(name)")
    }
    #expect(try await stage.held("entry") != "b")
    try await stage.focusNamed("number")
    #expect(try await errorName { try await stage.runs("Text.Insert", [.string("x")]) } == "Failed")
    #expect(try await stage.held("number") == "7")
    try await stage.focusNamed("kept")
    #expect(try await errorName { try await stage.write("Range.Value", .double(4)) } == "Failed")
    try await stage.focusNamed("slow")
    #expect(try await errorName { try await stage.write("Text.Content", .string("a\nb")) } == "Failed")
    try await stage.holds("slow", "a\nb")
    try await stage.focusNamed("inner")
    let inner = Focus1.field(try #require(try await stage.client.fields("FocusPath").first))
    try await stage.script("document.querySelector('#set').disabled = true")
    #expect(
      try await errorName { _ = try await stage.client.write("org.focusd.Text.Content", .string("x"), at: inner) }
        == "PropertyReadOnly")
    #expect(try await stage.held("inner") == "mine")
    // An element that is gone.
    try await stage.focusNamed("limited")
    let field = Focus1.field(try #require(try await stage.client.fields("FocusPath").first))
    try await stage.script("window.kept = find('limited'); kept.remove()")
    #expect(
      try await errorName { _ = try await stage.client.write("org.focusd.Text.Content", .string("x"), at: field) }
        == "UnknownObject")
    // One that lost focus while it is written, or before a text is inserted where nothing tells.
    try await stage.focusNamed("plain")
    try await stage.script("document.addEventListener('selectionchange', () => focusOn('entry'), { once: true })")
    let entry = try await stage.held("entry")
    #expect(try await errorName { try await stage.write("Text.Content", .string("astray")) } == "Failed")
    #expect(try await stage.held("entry") == entry)
    try await stage.focusNamed("email")
    let email = Focus1.field(try #require(try await stage.client.fields("FocusPath").first))
    try await stage.focusNamed("entry")
    #expect(
      try await errorName { _ = try await stage.client.invoke("org.focusd.Text.Insert", [.string("x")], at: email) }
        == "Failed")
    // One that lost focus is written all the same, and takes none.
    try await stage.focusNamed("upper")
    let upper = Focus1.field(try #require(try await stage.client.fields("FocusPath").first))
    try await stage.focusNamed("entry")
    _ = try await stage.client.write("org.focusd.Text.Content", .string("aside"), at: upper)
    #expect(try await stage.held("upper") == "ASIDE")
    try await stage.client.focus(String(upper.dropFirst(Focus1.field("").count)))
    try await stage.shows("Element.Name", .string("upper"))
  }

  private func editable(_ stage: FirefoxStage) async throws {
    try await stage.focusNamed("rich")
    try await stage.shows("Text.Content", .string("first\nsecond line"))
    try await stage.write("Text.Selection", .structure([.int32(6), .int32(12)]))
    #expect(try await stage.get("Text.SelectedText") == .string("second"))
    try await stage.write("Text.SelectedText", .string("2nd 😀"))
    #expect(try await stage.held("lines:rich") == "first|2nd 😀 line")
    try await stage.write("Text.Content", .string("three\nshort\n\nlines"))
    #expect(try await stage.get("Text.Content") == .string("three\nshort\n\nlines"))
    #expect(try await stage.held("rich").split(separator: "\n") == ["three", "short", "lines"])
    try await stage.write("Text.Caret", .int32(5))
    try await stage.runs("Text.Insert", [.string("!")])
    try await stage.shows("Text.Content", .string("three!\nshort\n\nlines"))
    // A line break in the place of a selection.
    try await stage.write("Text.Content", .string("\nfoo"))
    #expect(try await stage.get("Text.Content") == .string("\nfoo"))
    try await stage.write("Text.Content", .string("three!\nshort\n\nlines"))
    // A selection may begin at something that nobody sees.
    try await stage.script("find('rich').prepend(document.createElement('style'))")
    try await stage.runs("Edit.SelectAll")
    try await stage.shows("Text.Selection", .structure([.int32(0), .int32(19)]))
    try await stage.write("Text.SelectedText", .string(""))
    #expect(try await stage.held("rich").allSatisfy(\.isWhitespace))
  }

  /// A page that is open all day has more elements than the extension keeps.
  @Test func anElementThatComesBackAfterManyOthersIsWritten() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("entries.html")
      try await stage.focusNamed("entry")
      try await stage.script(
        """
        for (let number = 0; number < 64; number++) {
          document.body.insertAdjacentHTML("beforeend", `<button aria-label="other ${number}">x</button>`);
        }
        """)
      for number in 0..<64 { try await stage.focusNamed("other \(number)") }
      try await stage.focusNamed("entry")
      try await stage.write("Text.Content", .string("back"))
      #expect(try await stage.held("entry") == "back")
    }
  }

  @Test func rangesAndTogglesAreWritten() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("entries.html")
      try await stage.focusNamed("slider")
      #expect(try await stage.get("Range.Step") == .double(0.5))
      #expect(try await stage.write("Range.Value", .double(7.6)) == .double(7.5))
      #expect(try await stage.held("slider") == "7.5")
      try await stage.runs("Range.Increment")
      #expect(try await stage.held("slider") == "8")
      #expect(try await stage.write("Range.Value", .double(99)) == .double(10))
      try await stage.runs("Range.Increment")
      #expect(try await stage.held("slider") == "10")
      try await stage.focusNamed("number")
      try await stage.runs("Range.Decrement")
      #expect(try await stage.held("number") == "2")
      for (name, step, held) in [
        ("decimal", "Increment", "0.3"), ("any", "Increment", "6"), ("any", "Decrement", "5"),
      ] {
        try await stage.focusNamed(name)
        try await stage.runs("Range.\(step)")
        #expect(try await stage.held(name) == held, "\(name)")
      }
      try await stage.focusNamed("huge")
      #expect(try await stage.get("Range.Value") == .double(1e20))
      try await stage.script("find('box').ariaLabel = 'x'.repeat(199) + '😀'")
      try await stage.focus("#box")
      try await stage.shows("Element.Name", .string(String(repeating: "x", count: 199) + "\u{fffd}"))
      try await stage.script("document.querySelector('#box').ariaLabel = 'box'")
      for name in ["box", "radio", "switch"] {
        try await stage.focusNamed(name)
        try await stage.write("Toggle.Checked", .boolean(true))
        #expect(try await stage.held("checked:\(name)") == "true", "\(name)")
        let refusal = try await errorName { try await stage.write("Toggle.Checked", .boolean(false)) }
        #expect(refusal == (name == "radio" ? "Failed" : nil), "\(name)")
      }
      try await stage.focus("button")
      try await stage.shows("Element.Name", .string("Press me"))
      #expect(try await stage.get("Element.Role") == .string("button"))
      #expect(try await stage.get("Text.Content") == nil)
      // Back to the page itself.
      try await stage.script("document.activeElement.blur()")
      try await stage.shows("Element.Role", nil)
      try await stage.shows("Document.Title", .string("Entries"))
    }
  }

  @Test func secretsNeverLeaveThePage() async throws {
    try await FirefoxStage.with { stage in
      let watch = try await stage.desktop.start([Products.focusctl, "--address", stage.desktop.bus.address, "watch"])
      try await stage.open("secrets.html")
      for name in ["password", "code", "card", "named", "discs", "rich"] {
        try await stage.focusNamed("open")
        try await stage.shows("Text.Content", .string("open"))
        try await stage.focusNamed(name)
        #expect(try await stage.get("Element.Role") == .string("password"), "\(name)")
        #expect(try await stage.get("Text.Content") == .string("AccessDenied"), "\(name)")
        #expect(try await stage.client.readAll().keys.filter { $0.contains(".Text.") }.isEmpty, "\(name)")
        // Secret once, secret for good.
        try await stage.script(
          "const e = find('\(name)'); e.type = 'text'; e.removeAttribute('autocomplete'); "
            + "e.removeAttribute('name'); e.removeAttribute('style')")
        try await stage.focusNamed("open")
        try await stage.focusNamed(name)
        #expect(try await stage.get("Text.Content") == .string("AccessDenied"), "\(name)")
        try await stage.write("Text.Content", .string("filled in"))
        try await stage.holds(name, "filled in")
      }
      watch.terminate()
      try await watch.finish()
      let told = watch.progress.now.output.joined()
      #expect(told.contains("open") && !told.contains("hunter2") && !told.contains("filled"))
    }
  }

  @Test func nothingIsSharedBeforeTheUserSaysSo() async throws {
    try await FirefoxStage.with(isShared: false) { stage in
      try await stage.open("entries.html")
      try await eventually("a tab") { try await stage.client.commands()["org.focusd.Tab.New"] == true }
      try await stage.focus("entry")
      #expect(
        try await stage.client.keys().filter { $0 != "org.focusd.Document.Title" && $0 != "org.focusd.Document.Url" }
          .isEmpty)
      #expect(try await stage.get("Document.Title") == nil)
      #expect(try await stage.client.commands()["org.focusd.Edit.Undo"] == nil)
      // The tabs are driven all the same.
      try await stage.runs("Tab.New")
      try await eventually("two tabs") { (try await stage.run("handles") as? [Any])?.count == 2 }
      try await stage.runs("View.ZoomIn")
      // One after another, without a look at which tab is in front.
      for command in ["Tab.Close", "Tab.New", "Tab.Close"] { try await stage.runs(command) }
      try await eventually("one tab") { (try await stage.run("handles") as? [Any])?.count == 1 }
      try await stage.run("share", "all")
      try await stage.open("entries.html")
      try await stage.focusNamed("entry")
      // And takes it back.
      let first = try #require(try await stage.run("handle"))
      try await stage.run("new", "tab")
      try await stage.run("share", "none")
      try await eventually("nothing of a page") { try await stage.get("Document.Title") == nil }
      try await eventually("the tabs alone") { try await stage.client.fields().count == 2 }
      // And shares it again, without a new page.
      try await stage.run("share", "all")
      try await stage.run("switch", first)
      try await stage.shows("Document.Title", .string("Entries"))
      try await stage.focusNamed("upper")
    }
  }

  @Test func tabsWindowsAndFrames() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("entries.html")
      try await stage.focusNamed("entry")
      try await stage.write("Text.Content", .string("first tab"))
      let first = try #require(try await stage.run("handle"))
      let second = try #require(try await stage.run("new", "tab"))
      try await stage.open("entries.html")
      try await stage.focusNamed("area")
      try await stage.write("Text.Content", .string("second tab"))
      try await stage.runs("Tab.Previous")
      try await stage.shows("Text.Content", .string("first tab"))
      try await stage.runs("Tab.Next")
      try await stage.shows("Text.Content", .string("second tab"))
      try await stage.run("switch", first)
      try await stage.shows("Text.Content", .string("first tab"))
      // A window of its own.
      let window = try #require(try await stage.run("new", "window"))
      try await stage.open("entries.html")
      try await stage.focusNamed("upper")
      try await stage.write("Text.Content", .string("window"))
      try await stage.shows("Text.Content", .string("WINDOW"))
      try await stage.run("switch", second)
      try await stage.shows("Text.Content", .string("second tab"))
      try await stage.run("switch", window)
      try await stage.shows("Text.Content", .string("WINDOW"))
      try await stage.run("close")
      try await stage.run("switch", second)
      try await stage.shows("Text.Content", .string("second tab"))
      try await stage.runs("Tab.Close")
      try await stage.run("switch", first)
      try await stage.shows("Text.Content", .string("first tab"))
      try await frames(stage)
    }
  }

  private func frames(_ stage: FirefoxStage) async throws {
    try await stage.open("frames.html")
    try await stage.focusNamed("outside")
    try await stage.script("inside()")
    try await stage.shows("Element.Name", .string("entry"))
    try await stage.write("Text.Content", .string("in the frame"))
    #expect(try await stage.held("inside") == "in the frame")
    try await stage.focusNamed("outside")
    try await stage.write("Text.Content", .string("outside"))
    #expect(try await stage.held("outside") == "outside")
    // A page that goes takes its elements along, and brings them back.
    try await stage.open("rewritten.html")
    try await stage.shows("Document.Title", .string("Rewritten"))
    try await eventually("the tab alone") { try await stage.client.fields("FocusPath").count == 1 }
    try await stage.script("rewrite()")
    try await stage.focusNamed("one")
    try await stage.write("Text.Content", .string("written anew"))
    #expect(try await stage.held("one") == "written anew")
    try await stage.focusNamed("two")
    try await stage.runs("Navigation.Back")
    try await stage.shows("Document.Title", .string("Frames"))
    try await stage.focusNamed("outside")
    try await stage.write("Text.Content", .string("back"))
    #expect(try await stage.held("outside") == "back")
  }

  /// Killed, and turned off and on again: no field stays behind, and all come back.
  @Test func theHostAndTheExtensionComeBack() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("entries.html")
      try await stage.focusNamed("entry")
      try await stage.write("Text.Content", .string("still here"))
      let before = try await stage.host()
      kill(before, SIGKILL)
      try await eventually("another host") {
        let now = try await stage.host()
        return now > 0 && now != before
      }
      try await stage.shows("Text.Content", .string("still here"))
      try await stage.write("Text.Content", .string("and back"))
      #expect(try await stage.held("entry") == "and back")
      try await stage.driver.enable(false)
      try await eventually("no field") { try await stage.client.fields().isEmpty }
      try await stage.driver.enable(true)
      try await stage.shows("Text.Content", .string("and back"))
      try await stage.write("Text.Content", .string("once more"))
      #expect(try await stage.held("entry") == "once more")
    }
  }

  @Test func aHostilePageLiesOnlyToItself() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("hostile.html")
      for name in ["entry", "after"] {
        try await stage.focusNamed(name)
        #expect(try await stage.write("Text.Content", .string("\(name) 😀")) == .string("\(name) 😀"))
        #expect(try await stage.held(name) == "\(name) 😀")
      }
      // A form whose properties are its entries.
      try await stage.focusNamed("form")
      try await stage.script("flood(1500)")
      #expect(try await stage.client.call(.ping).isEmpty)
      try await stage.open("entries.html")
      try await stage.focusNamed("entry")
      #expect(try await stage.client.fields().count <= 10)
    }
  }
}

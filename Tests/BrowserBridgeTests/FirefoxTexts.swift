import BusSupport
import DBusTypes
import TestSupport
import Testing

/// What `textsAreReadWrittenAndUndone` tries, one after another in one browser, since a start takes seconds.
extension FirefoxTests {
  func typing(_ stage: FirefoxStage) async throws {
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
  func whatChangesNothing(_ stage: FirefoxStage) async throws {
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

  func refusals(_ stage: FirefoxStage) async throws {
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
    try await stage.script("find('number').value = ''")
    #expect(try await errorName { try await stage.write("Text.Content", .string("none")) } == "Failed")
    try await stage.focusNamed("kept")
    #expect(try await errorName { try await stage.write("Range.Value", .double(4)) } == "Failed")
    try await stage.focusNamed("slow")
    #expect(try await errorName { try await stage.write("Text.Content", .string("a\nb")) } == "Failed")
    try await stage.holds("slow", "a\nb")
    try await stage.focusNamed("inner")
    let inner = try await stage.focusedField()
    try await stage.script("document.querySelector('#set').disabled = true")
    #expect(
      try await errorName { _ = try await stage.client.write("org.focusd.Text.Content", .string("x"), at: inner) }
        == "PropertyReadOnly")
    #expect(try await stage.held("inner") == "mine")
    // An element that is gone.
    try await stage.focusNamed("limited")
    let field = try await stage.focusedField()
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
    let email = try await stage.focusedField()
    try await stage.focusNamed("entry")
    #expect(
      try await errorName { _ = try await stage.client.invoke("org.focusd.Text.Insert", [.string("x")], at: email) }
        == "Failed")
    // One that lost focus is written all the same, and takes none.
    try await stage.focusNamed("upper")
    let upper = try await stage.focusedField()
    try await stage.focusNamed("entry")
    _ = try await stage.client.write("org.focusd.Text.Content", .string("aside"), at: upper)
    #expect(try await stage.held("upper") == "ASIDE")
    try await stage.client.focus(String(upper.dropFirst(Focus1.field("").count)))
    try await stage.shows("Element.Name", .string("upper"))
  }

  func editable(_ stage: FirefoxStage) async throws {
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
    // One after the other, though the first waits for the page.
    try await stage.focusNamed("plain")
    try await stage.write("Text.Content", .string("a long text"))
    let writes = [("Text.Content", "first"), ("Text.SelectedText", "second")].map { key, text in
      stage.client.begin(.write("org.focusd." + key, .string(text)))
    }
    for write in writes { try await write.values() }
    #expect(try await stage.held("plain") == "firstsecond")
    // What takes too long to type is taken back, though a machine may be too slow to say so in time.
    let many = DBusValue.string(String(repeating: "zz\n", count: 20_000))
    #expect(try await errorName { try await stage.client.write("org.focusd.Text.Content", many) } != nil)
    #expect(try await stage.held("plain") == "firstsecond")
    // The line breaks that only the page's source has are none.
    try await stage.focusNamed("source")
    try await stage.shows("Text.Content", .string("one  line\ntwo\nlines"))
    // The selection is the page's, and somewhere else by now.
    let field = try await stage.focusedField()
    try await stage.focusNamed("entry")
    for (key, value) in [("Caret", DBusValue.int32(1)), ("Selection", .structure([.int32(0), .int32(2)]))] {
      #expect(
        try await errorName { try await stage.client.write("org.focusd.Text." + key, value, at: field) } == "Failed")
    }
  }
}

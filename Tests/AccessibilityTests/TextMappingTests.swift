import AccessibilityBridge
import Testing

/// Positions, lengths and cuts as each toolkit counts them, and what became of a write.
@Suite struct TextMappingTests {
  private static let gtk = TextUnits(toolkit: "GTK")
  private static let qt = TextUnits(toolkit: "Qt")
  private static let firefox = TextUnits(toolkit: "Gecko")

  private static func reading(
    _ text: String, _ units: TextUnits, caret: Int32 = 0, _ selection: Range<Int32>? = nil
  ) -> TextReading {
    TextReading(TextExtent(length: units.count(text), caret: caret, selection: selection), in: units, text: text)
  }

  @Test(arguments: [
    (gtk, "aß😀", 3, 7), (qt, "aß😀", 4, 4), (firefox, "aß😀", 4, 7), (TextUnits(toolkit: "VCL"), "😀", 2, 4),
    (TextUnits(toolkit: "Chromium"), "😀", 1, 4), (TextUnits(toolkit: ""), "😀", 1, 4), (qt, "", 0, 0),
  ])
  func textsAreCounted(_ units: TextUnits, _ text: String, _ length: Int32, _ inserted: Int32) {
    #expect(units.count(text) == length && units.insertionLength(text) == inserted)
  }

  @Test(arguments: [
    (gtk, 2, 2, 2), (qt, 0, 0, 0), (qt, 1, 1, 1), (qt, 3, 2, 3), (qt, 4, 3, 4), (qt, 6, 4, 6), (qt, 99, 4, 6),
    // Within a character.
    (qt, 2, 1, 1), (qt, 5, 3, 4),
  ])
  func positionsAreConverted(_ units: TextUnits, _ position: Int32, _ characters: Int32, _ back: Int32) {
    let text = "a😀b🚀"
    #expect(units.characters(before: position, in: text) == characters)
    #expect(units.position(after: characters, in: text) == back)
  }

  @Test(arguments: [
    (firefox, "a😀\u{FEFF}b", "a😀b"), (firefox, "\u{FEFF}a", "\u{FEFF}a"),
    (firefox, "😀\u{FEFF}\u{FEFF}", "😀\u{FEFF}"), (qt, "😀\u{FEFF}", "😀\u{FEFF}"),
    // Qt's lines, and paragraphs of Qt Quick.
    (qt, "a\u{2028}😀\u{2029}\nb", "a\n😀\n\nb"), (gtk, "a\u{2028}b", "a\u{2028}b"),
  ])
  func whatStandsForTextIsRead(_ units: TextUnits, _ received: String, _ text: String) {
    #expect(units.meaning(of: received).utf8.elementsEqual(text.utf8))
  }

  @Test(arguments: [
    (reading("abc", gtk, caret: 9), 3, 3..<3, ""), (reading("abc", gtk, caret: -1), 0, 0..<0, ""),
    (reading("aéß日x", gtk, caret: 2, 1..<3), 2, 1..<3, "éß"), (reading("a😀ßb", qt, caret: 3, 3..<4), 2, 2..<3, "ß"),
    // What no text can have selected.
    (reading("abc", gtk, caret: 1, 2..<9), 1, 1..<1, ""), (reading("", gtk, -1..<0), 0, 0..<0, ""),
  ])
  func positionsAreWithinTheText(_ text: TextReading, _ caret: Int32, _ selection: Range<Int32>, _ selected: String) {
    #expect(text.shown?.caret == caret && text.shown?.selection == selection && text.selected == selected)
  }

  @Test func charactersOfATextThatIsNotKnownAreOnlyCountedIfTheProgramDoes() {
    let extent = TextExtent(length: 1 << 25, caret: 5)
    #expect(TextReading(extent, in: Self.gtk, text: nil).shown == extent)
    #expect(TextReading(extent, in: Self.qt, text: nil).shown == nil)
    #expect(TextExtent(length: .max, caret: .max).length == 1 << 29)
  }

  @Test(arguments: [
    ("abcd", 1..<2, "X", "aXcd", TextChange.Outcome.done), ("abcd", 1..<2, "X", "abcd", .unchanged),
    ("abcd", 1..<2, "X", "acd", .cut), ("abcd", 1..<2, "X", "ACD", .altered), ("abcd", 1..<2, "b", "abcd", .done),
    ("abcd", 1..<2, "", "acd", .done), ("abcd", 2..<2, "X", "abcd", .unchanged), ("5", 0..<1, "abc", "", .cut),
    ("é", 1..<1, "x", "e\u{301}x", .altered), ("ab", 1..<1, "1\r\n2", "a1\n2b", .done),
    ("ab", 1..<1, "1\u{2029}2", "a1\n2b", .done), ("a😀b", 3..<4, "c", "a😀c", .done),
    // Somebody has typed meanwhile, but not what was to be written.
    ("abcd", 1..<2, "X", "aXcde", .done), ("abcd", 1..<2, "X", "aXX\u{2029}cd", .done),
    ("ab", 1..<1, "X", "abc", .altered),
    ("ab", 1..<1, "aXb", "aabb", .altered), ("abcd", 1..<2, "X", "acde", .altered),
  ])
  func whatBecameOfAWriteIsRead(
    _ before: String, _ range: Range<Int32>, _ inserted: String, _ now: String, _ outcome: TextChange.Outcome
  ) {
    let change = TextChange(Self.reading(before, Self.qt), range, inserted: inserted)
    #expect(change.outcome(Self.reading(now, Self.qt)) == outcome)
  }

  @Test(arguments: [
    (70_002, "abc", TextChange.Outcome.done), (70_000, "000", .unchanged), (69_999, "000", .cut),
    (70_002, "ab0", .altered), (69_000, "abc", .altered),
  ])
  func ofALongTextThePartIsRead(_ length: Int32, _ part: String, _ outcome: TextChange.Outcome) {
    func reading(_ length: Int32) -> TextReading {
      TextReading(TextExtent(length: length, caret: 0), in: Self.qt, text: nil)
    }
    let change = TextChange(reading(70_000), 5..<6, inserted: "abc")
    #expect(change.outcome(reading(length), part: part) == outcome)
  }
}

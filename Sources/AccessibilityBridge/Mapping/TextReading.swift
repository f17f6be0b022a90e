/// Where a text's positions are, and how long it is.
package struct TextExtent: Equatable, Sendable {
  package let length: Int32
  package let caret: Int32
  /// Whether the program told a caret: in LibreOffice it may be in another paragraph.
  package let hasCaret: Bool
  /// Start and end; both the caret if nothing is selected.
  package let selection: Range<Int32>

  /// Takes what a program tells, which may not fit.
  package init(length: Int32, caret: Int32, selection: Range<Int32>? = nil) {
    // A sum of two of them is no overflow.
    let length = min(max(length, 0), 1 << 29)
    hasCaret = caret >= 0
    let caret = min(max(caret, 0), length)
    (self.length, self.caret) = (length, caret)
    let isSelected = selection.map { !$0.isEmpty && $0.lowerBound >= 0 && $0.upperBound <= length } ?? false
    self.selection = isSelected ? selection ?? caret..<caret : caret..<caret
  }
}

/// A text as it was read.
package struct TextReading: Equatable, Sendable {
  /// The most bytes of a text that is published.
  package static let limit = 64 << 10

  package let units: TextUnits
  /// As the program counts.
  package let counted: TextExtent
  /// In characters; nil: the program counts otherwise, and the text is not known.
  package let shown: TextExtent?
  /// Nil: it is longer than the limit, or not known.
  package let content: String?
  /// Whether more is displayed than is stored: an input method composes something.
  package var isComposing = false
  /// What is selected; nil likewise.
  package let selected: String?

  /// Takes what was read: the whole text, or at least what is `selected` of it.
  package init(_ counted: TextExtent, in units: TextUnits, text: String?, selected: String? = nil) {
    (self.units, self.counted) = (units, counted)
    let shown = text.map { text in
      let ends = [counted.length, counted.caret, counted.selection.lowerBound, counted.selection.upperBound].map {
        units.characters(before: $0, in: text)
      }
      return TextExtent(length: ends[0], caret: ends[1], selection: ends[2]..<ends[3])
    }
    self.shown = shown ?? (units.areCharacters ? counted : nil)
    content = text.flatMap(Self.published)
    let part = text.flatMap { text in
      shown.map {
        String(
          String.UnicodeScalarView(
            text.unicodeScalars.dropFirst(Int($0.selection.lowerBound)).prefix($0.selection.count)))
      }
    }
    self.selected = counted.selection.isEmpty ? "" : (part ?? selected).flatMap(Self.published)
  }

  private static func published(_ text: String) -> String? { text.utf8.count <= limit ? text : nil }
}

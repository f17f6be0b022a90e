/// What a text must hold after a part of it was replaced, and what became of that.
package struct TextChange: Equatable, Sendable {
  /// What is there afterwards.
  package enum Outcome: Equatable, Sendable {
    case done
    /// The program took nothing.
    case unchanged
    /// The program removed a part, and did not insert anything.
    case cut
    /// The program made something else of it.
    case altered
  }

  package let before: TextReading
  /// The part that is replaced, as the program counts.
  package let range: Range<Int32>
  package let inserted: String
  /// What the part held before; empty if that is not needed.
  package let replaced: String

  package init(_ before: TextReading, _ range: Range<Int32>, inserted: String, replaced: String = "") {
    (self.before, self.range, self.inserted, self.replaced) = (before, range, inserted, replaced)
  }

  /// The smallest change that turns the text into `text`; nil if it would replace everything, or the text is not known.
  ///
  /// The rest is not written: one undo restores the old text, and what somebody types elsewhere meanwhile is kept.
  package init?(_ before: TextReading, becoming text: String) {
    // An end of a line that programs write as one must not be taken apart.
    guard let content = before.content, !text.unicodeScalars.contains("\r") else { return nil }
    let (old, new) = (Array(content.unicodeScalars), Array(text.unicodeScalars))
    let head = zip(old, new).prefix { $0 == $1 }.count
    let tail = zip(old.dropFirst(head).reversed(), new.dropFirst(head).reversed()).prefix { $0 == $1 }.count
    guard head + tail > 0, old != new else { return nil }
    let ends = [head, old.count - tail].map { before.units.position(after: Int32(clamping: $0), in: content) }
    self.init(
      before, ends[0]..<ends[1], inserted: String(String.UnicodeScalarView(new[head..<new.count - tail])),
      replaced: String(String.UnicodeScalarView(old[head..<old.count - tail])))
  }

  /// Where the program has what was inserted.
  package var insertedRange: Range<Int32> {
    range.lowerBound..<range.lowerBound + before.units.count(inserted)
  }

  /// How long the whole is then.
  package var length: Int32 { before.counted.length - Int32(range.count) + before.units.count(inserted) }

  /// Where a caret that was at `caret` belongs after the change, in a text of which more may have been typed: behind what was
  /// inserted if it was in what is replaced, and else before what it was before.
  ///
  /// Nil: it was before what is replaced, and is where the program has it.
  package func place(of caret: Int32, in now: TextExtent) -> Int32? {
    guard caret >= range.lowerBound else { return nil }
    return max(now.length - (before.counted.length - max(caret, range.upperBound)), range.lowerBound)
  }

  /// Whether a program has left the caret short of `caret`, or at the end of the text, as Qt's entries do.
  ///
  /// Elsewhere somebody has put it.
  package static func isLeftByProgram(_ now: TextExtent, shortOf caret: Int32) -> Bool {
    now.hasCaret && (now.caret < caret || (now.caret > caret && now.caret == now.length))
  }

  /// Whether `outcome` takes `part`.
  package func needsPart(_ now: TextReading) -> Bool { before.content == nil || now.content == nil }

  /// What became of it; `part` is what the text has at `insertedRange`, if one of both texts is not known as a whole.
  package func outcome(_ now: TextReading, part: String? = nil) -> Outcome {
    let length = before.counted.length
    guard let old = before.content, let new = now.content else {
      if now.counted.length == self.length, part == inserted { return .done }
      if now.counted.length == length { return .unchanged }
      return now.counted.length == length - Int32(range.count) && isReplacement ? .cut : .altered
    }
    func holds(_ middle: String) -> Bool {
      whole(old, with: middle).withFoldedLines.elementsEqual(new.unicodeScalars.withFoldedLines)
    }
    if holds(inserted) { return .done }
    if old.unicodeScalars.elementsEqual(new.unicodeScalars) { return .unchanged }
    // Somebody has typed meanwhile.
    if Array(new.unicodeScalars.withFoldedLines).isExtension(of: Array(whole(old, with: inserted).withFoldedLines)) {
      return .done
    }
    return isReplacement && holds("") ? .cut : .altered
  }

  /// The whole text with the change; nil if it was not known before.
  package var whole: String? { before.content.map { String(whole($0, with: inserted)) } }

  private func whole(_ old: String, with middle: String) -> String.UnicodeScalarView {
    let (start, end) = (
      before.units.characters(before: range.lowerBound, in: old),
      before.units.characters(before: range.upperBound, in: old)
    )
    let scalars = old.unicodeScalars
    return scalars.prefix(Int(start)) + middle.unicodeScalars + scalars.dropFirst(Int(end))
  }

  private var isReplacement: Bool { !range.isEmpty && !inserted.isEmpty }
}

extension [Unicode.Scalar] {
  /// Whether it is `text` with one part more.
  func isExtension(of text: [Unicode.Scalar]) -> Bool {
    guard count >= text.count else { return false }
    let head = zip(self, text).prefix { $0 == $1 }.count
    let tail = zip(reversed(), text.reversed()).prefix { $0 == $1 }.count
    return head + tail >= text.count
  }
}

extension Unicode.Scalar {
  /// Whether it separates lines or paragraphs: Qt's documents have these where their plain text has a line feed.
  var isSeparator: Bool { self == "\u{2028}" || self == "\u{2029}" }
}

extension Sequence<Unicode.Scalar> {
  /// With each end of a line written as one, whichever the program keeps.
  fileprivate var withFoldedLines: String.UnicodeScalarView {
    var folded = String.UnicodeScalarView()
    var wasReturn = false
    for scalar in self {
      let isSecond = wasReturn && scalar == "\n"
      wasReturn = scalar == "\r"
      guard !isSecond else { continue }
      folded.append(wasReturn || scalar.isSeparator ? "\n" : scalar)
    }
    return folded
  }
}

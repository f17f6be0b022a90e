internal import BridgeSupport

/// How a toolkit counts text on the accessibility bus; what focusd shows is counted in Unicode scalars.
package struct TextUnits: Equatable, Sendable {
  /// What a number counts.
  package enum Unit: Sendable {
    case scalar, utf16, utf8
  }

  /// What lengths, carets, selections and cuts count.
  package let position: Unit
  /// What the length counts that `InsertText` takes: Qt inserts that many units, whatever the text has.
  package let insertion: Unit
  /// Whether a filler follows each scalar beyond U+FFFF, so that scalars are as many as UTF-16 units.
  private let isPadded: Bool
  /// Whether lines may end with Unicode's separators of lines and paragraphs.
  private let hasSeparators: Bool

  /// The units of each toolkit, by the name that it tells in lower case; the others are like GTK.
  private static let toolkits = [
    "qt": TextUnits(.utf16, insertion: .utf16, hasSeparators: true),
    "gecko": TextUnits(.utf16, insertion: .utf8, isPadded: true),
    "vcl": TextUnits(.utf16, insertion: .utf8),
    "j2se-access-bridge": TextUnits(.utf16, insertion: .utf8),
  ]
  private static let filler: Unicode.Scalar = "\u{FEFF}"

  private init(_ position: Unit, insertion: Unit, isPadded: Bool = false, hasSeparators: Bool = false) {
    (self.position, self.insertion, self.isPadded, self.hasSeparators) = (position, insertion, isPadded, hasSeparators)
  }

  package init(toolkit name: String) { self = Self.toolkits[name.lowercased()] ?? TextUnits(.scalar, insertion: .utf8) }

  /// Whether positions are characters, so that the text is not needed to tell one from the other.
  package var areCharacters: Bool { position == .scalar }

  /// The length of `text` where positions are counted.
  package func count(_ text: String) -> Int32 { position.count(text) }

  /// The length that `InsertText` takes for `text`.
  package func insertionLength(_ text: String) -> Int32 { insertion.count(text) }

  /// The text that the program means with `received`.
  package func meaning(of received: String) -> String {
    if hasSeparators, received.unicodeScalars.contains(where: \.isSeparator) {
      return String(String.UnicodeScalarView(received.unicodeScalars.map { $0.isSeparator ? "\n" : $0 }))
    }
    guard isPadded else { return received }
    var text = String.UnicodeScalarView()
    var mayBeFiller = false
    for scalar in received.unicodeScalars {
      if !mayBeFiller || scalar != Self.filler { text.append(scalar) }
      mayBeFiller = !mayBeFiller && scalar.value > 0xFFFF
    }
    return String(text)
  }

  /// How many characters of `text` are before `position`; one that is cut by it does not count.
  package func characters(before position: Int32, in text: String) -> Int32 {
    guard !areCharacters else { return position }
    var (units, characters): (Int32, Int32) = (0, 0)
    for scalar in text.unicodeScalars {
      units += self.position.width(scalar)
      guard units <= position else { break }
      characters += 1
    }
    return characters
  }

  /// The position after the first `characters` of `text`.
  package func position(after characters: Int32, in text: String) -> Int32 {
    guard !areCharacters else { return characters }
    return text.unicodeScalars.prefix(Int(max(characters, 0))).reduce(0) { $0 + position.width($1) }
  }
}

extension TextUnits.Unit {
  fileprivate func width(_ scalar: Unicode.Scalar) -> Int32 {
    switch self {
    case .scalar: 1
    case .utf16: scalar.value > 0xFFFF ? 2 : 1
    case .utf8: Int32(UTF8.width(scalar))
    }
  }

  fileprivate func count(_ text: String) -> Int32 {
    switch self {
    case .scalar: Int32(clamping: text.unicodeScalars.count)
    case .utf16: Int32(clamping: text.utf16.count)
    case .utf8: Int32(clamping: text.utf8.count)
    }
  }
}

/// The one way in which numbers are typed: `8`, `-8`, `0.5`, `.5`, `1e-3`; no `+`, no hexadecimal, no spaces.
package enum NumberText {
  /// The finite number that `text` spells, or nil.
  package static func number(_ text: some StringProtocol) -> Double? {
    guard isDecimal(text.utf8), let number = Double(text), number.isFinite else { return nil }
    return number
  }

  /// The whole number that `text` spells, without a point or an exponent, or nil, also if it is out of the range of `I`.
  package static func integer<I: FixedWidthInteger>(_ text: some StringProtocol) -> I? {
    guard text.utf8.first != UInt8(ascii: "+") else { return nil }
    return I(text)
  }

  /// Whether `bytes` are a sign, digits with or without a fraction, and an exponent, of which each but digits may be missing.
  private static func isDecimal(_ bytes: some Collection<UInt8>) -> Bool {
    var rest = bytes[...]
    func takeDigits() -> Bool {
      let start = rest.startIndex
      rest = rest.drop(while: isDigit)
      return rest.startIndex != start
    }
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    let hasWhole = takeDigits()
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      guard takeDigits() else { return false }
    } else if !hasWhole {
      return false
    }
    if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
      rest.removeFirst()
      if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest.removeFirst() }
      guard takeDigits() else { return false }
    }
    return rest.isEmpty
  }
}

extension String {
  /// The text for a quotation in an error message: shortened if it is long, with control characters escaped.
  package var excerpt: String {
    var excerpt = ""
    for scalar in unicodeScalars.prefix(utf8.count <= 300 ? 300 : 60) {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: excerpt += scalar.escaped(asASCII: true)
      default: excerpt.unicodeScalars.append(scalar)
      }
    }
    return utf8.count <= 300 ? excerpt : excerpt + "…"
  }
}

/// A text that breaks the rules of D-Bus for a name, path, signature or value.
public struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What the text should be, as a noun phrase: `interface name`, `object path`.
  public let expected: String
  /// The given text, shortened if it is long, with control characters escaped.
  public let text: String
  /// The rule that the text breaks.
  public let rule: String

  /// Creates an error about `text`, which is not an `expected` because of `rule`.
  public init(expected: String, text: String, rule: String) {
    self.expected = expected
    self.text = text.excerpt
    self.rule = rule
  }

  /// The whole error in one sentence.
  public var description: String {
    let beginsWithVowel = expected.utf8.first.map("aeiou".utf8.contains) == true
    let article = beginsWithVowel ? "an" : "a"
    return "'\(text)' is not \(article) \(expected): \(rule)"
  }
}

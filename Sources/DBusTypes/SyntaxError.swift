extension String {
  /// The text as an error's one sentence can quote it: its beginning where it is long, its control characters escaped.
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

/// A text that is not what D-Bus requires of a name, path, signature or value.
public struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What the text should have been, as a noun phrase: `interface name`, `object path`.
  public let expected: String
  /// The text as it was given, shortened where it is long, with control characters escaped.
  public let text: String
  /// What would have been right.
  public let rule: String

  /// Creates an error about `text`, which is not the `expected` thing because of `rule`.
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

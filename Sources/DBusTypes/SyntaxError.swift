extension String {
  /// The text for a quotation in an error message: shortened if it is long, with control characters escaped.
  package var excerpt: String {
    utf8.count <= 300 ? controlsEscaped : String(unicodeScalars.prefix(60)).controlsEscaped + "…"
  }

  /// The text with control characters escaped, so that it is one line and changes nothing in a terminal.
  package var controlsEscaped: String {
    var escaped = ""
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: escaped += scalar.escaped(asASCII: true)
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
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

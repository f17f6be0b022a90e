/// What decides that a text is a secret, before any of it is published.
///
/// The role decides first: then nothing of the text is asked. What is secret once stays so for the object's life, which the
/// reader sees to.
package enum SecretRule {
  /// What an object displays of its text, beside what it stores.
  package enum Display: Equatable, Sendable {
    /// It was not asked: only GTK tells the difference, of a text of one line.
    case notAsked
    /// It did not tell, which GTK always does.
    case failed
    case text(String)
  }

  /// Whether an object's text is never asked for: a password entry, or what a browser says is one.
  package static func isSecret(_ role: ElementRole, attributes: [String: String]) -> Bool {
    role == .passwordText || attributes["text-input-type"]?.lowercased() == "password"
  }

  /// Whether what is displayed of `length` characters is enough to know, without what is stored.
  package static func isSecret(_ display: Display, length: Int32) -> Bool {
    guard length > 0 else { return false }
    switch display {
    case .notAsked: return false
    case .failed: return true
    case .text(let text):
      let characters = text.unicodeScalars
      return !characters.isEmpty && characters.allSatisfy(bullets.contains)
    }
  }

  /// Whether `content`, of which the object says that it has `length` characters, is a secret or stands for one.
  package static func isSecret(_ content: String, length: Int32, display: Display, isMultiLine: Bool) -> Bool {
    guard length > 0 else { return false }
    if content.isEmpty || isSecret(display, length: length) { return true }
    let characters = content.unicodeScalars
    let isMasked = characters.allSatisfy { bullets.contains($0) || $0 == "*" && !isMultiLine }
    if isMasked, characters.dropFirst(2).first != nil { return true }
    guard case .text(let displayed) = display else { return false }
    return hides(Array(displayed.unicodeScalars), Array(characters))
  }

  /// Whether `displayed` shows one character in place of others, perhaps but for the one that was typed last.
  private static func hides(_ displayed: [Unicode.Scalar], _ stored: [Unicode.Scalar]) -> Bool {
    guard let first = displayed.first else { return true }
    // What is being composed is displayed, and not stored; a mask has a character for each.
    if displayed.count > stored.count, displayed.isExtension(of: stored) { return false }
    if displayed != stored, displayed.allSatisfy({ $0 == first }) { return true }
    let other = zip(displayed, stored).filter { $0 != $1 }.map(\.0)
    guard let mask = other.first, other.allSatisfy({ $0 == mask }) else { return false }
    return other.count > 1 || bullets.contains(mask) || mask == "*"
  }

  /// What toolkits and web pages show instead of characters.
  private static let bullets: Set<Unicode.Scalar> = [
    "\u{2022}", "\u{25CF}", "\u{2219}", "\u{26AB}", "\u{25E6}", "\u{25AA}", "\u{25A0}", "\u{25CB}", "\u{2B24}",
    "\u{1F784}", "\u{2217}", "\u{00B7}", "\u{273D}", "\u{2731}", "\u{26AA}",
  ]
}

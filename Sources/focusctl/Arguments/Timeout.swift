import DBusTypes

/// A time limit as typed.
enum Timeout {
  /// Reads seconds: `2`, `0.5`, `2s`, or `500ms`.
  /// - Throws: `CommandError` if it is not a valid time.
  static func read(_ text: String) throws(CommandError) -> Duration {
    let isMilliseconds = text.hasSuffix("ms")
    let number = text.hasSuffix("ms") ? text.dropLast(2) : text.hasSuffix("s") ? text.dropLast() : text[...]
    guard let value = NumberText.number(number), value > 0, value <= 1e6 else {
      throw .usage("'\(text.excerpt)' is not a timeout: expected seconds above 0, such as 2, 0.5 or 500ms")
    }
    return .milliseconds(max(1, Int(isMilliseconds ? value : value * 1000)))
  }

  /// A time limit for use in a sentence.
  static func text(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let milliseconds = attoseconds / 1_000_000_000_000_000
    return milliseconds == 0 ? "\(seconds) s" : "\(seconds * 1000 + milliseconds) ms"
  }
}

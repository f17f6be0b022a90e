import DBusTypes

/// The least and the most that the result of an expression may be.
struct Bounds: Hashable, Sendable {
  private var least: Double?
  private var most: Double?

  init() {}

  /// Reads the options `--min` and `--max`.
  /// - Throws: `CommandError` if one is not a number, they contradict each other, or `expression` is not arithmetic.
  init(_ options: Options, of expression: Expression) throws(CommandError) {
    least = try Bounds.number(options.least, "--min")
    most = try Bounds.number(options.most, "--max")
    guard least != nil || most != nil else { return }
    guard case .arithmetic = expression else { throw .usage("'--min' and '--max' need +N, -N, *N or /N") }
    if let least, let most, least > most { throw .usage("'--min' is greater than '--max'") }
  }

  private static func number(_ text: String?, _ option: String) throws(CommandError) -> Double? {
    guard let text else { return nil }
    guard let number = NumberText.number(text) else {
      throw .usage("'\(text.excerpt)' is not a number for '\(option)', such as 0 or 1.5")
    }
    return number
  }

  func clamp(_ number: Double) -> Double {
    let atLeast = least.map { max($0, number) } ?? number
    return most.map { min($0, atLeast) } ?? atLeast
  }

  /// The nearest whole number within the bounds.
  func clamp(_ number: Int128) -> Int128 {
    var result = number
    if let least = least.flatMap({ Int128(exactly: $0.rounded(.up)) }) { result = max(result, least) }
    if let most = most.flatMap({ Int128(exactly: $0.rounded(.down)) }) { result = min(result, most) }
    return result
  }
}

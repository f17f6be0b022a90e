import DBusTypes

/// The least and the most that the result of an expression may be.
struct Bounds: Hashable, Sendable {
  private var least: Double?
  private var most: Double?
  /// The least and the most whole number within them: not each number of 64 bits is one of `Double`.
  private var leastWhole: Int128?
  private var mostWhole: Int128?

  init() {}

  /// Reads the options `--min` and `--max`.
  /// - Throws: `CommandError` if one is not a number, they contradict each other, or `expression` is not arithmetic.
  init(_ options: Options, of expression: Expression) throws(CommandError) {
    least = try Bounds.number(options.least, "--min")
    most = try Bounds.number(options.most, "--max")
    leastWhole = Bounds.whole(options.least, least, .up)
    mostWhole = Bounds.whole(options.most, most, .down)
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

  private static func whole(_ text: String?, _ number: Double?, _ rule: FloatingPointRoundingRule) -> Int128? {
    text.flatMap { NumberText.integer($0) } ?? number.flatMap { Int128(exactly: $0.rounded(rule)) }
  }

  func clamp(_ number: Double) -> Double {
    let atLeast = least.map { max($0, number) } ?? number
    return most.map { min($0, atLeast) } ?? atLeast
  }

  /// The nearest whole number within the bounds.
  func clamp(_ number: Int128) -> Int128 {
    var result = number
    if let leastWhole { result = max(result, leastWhole) }
    if let mostWhole { result = min(result, mostWhole) }
    return result
  }
}

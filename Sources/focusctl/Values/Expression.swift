import DBusTypes

/// A change of a value that depends on the value.
enum Expression: Hashable, Sendable {
  /// An operation on numbers.
  enum Operator: Character, Sendable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
  }

  case arithmetic(Operator, String)
  case toggle
  case append(String)
  /// The value after the current one, around; the first if the current one is not among them.
  case next([String])

  static let forms = "+N, -N, *N, /N, toggle, append TEXT or next A B C…"

  /// Reads an expression from its words.
  /// - Throws: `CommandError` if they are not an expression.
  init(_ words: [String]) throws(CommandError) {
    let text = words.joined(separator: " ")
    if words == ["toggle"] {
      self = .toggle
    } else if words.count > 1, words[0] == "next" {
      self = .next(Array(words.dropFirst()))
    } else if words.count == 2, words[0] == "append" {
      self = .append(words[1])
    } else if words.count == 1, text.hasPrefix("append ") {
      self = .append(String(text.dropFirst("append ".count)))
    } else if words.count == 1, let sign = text.first.flatMap(Operator.init(rawValue:)),
      NumberText.number(text.dropFirst()) != nil
    {
      self = .arithmetic(sign, String(text.dropFirst()))
    } else if words.first == "append", words.count > 2 {
      throw .usage("'append' takes one TEXT: put quotes around '\(words.dropFirst().joined(separator: " ").excerpt)'")
    } else {
      throw .usage("'\(text.excerpt)' is not an expression: expected \(Expression.forms), such as +5 or *0.5")
    }
  }

  /// The new value in place of `value`, of the same type.
  /// - Throws: `CommandError`: a usage error if the expression does not fit the value, status 4 if the result does not fit
  ///   its type.
  func applied(to value: DBusValue, within bounds: Bounds = Bounds()) throws(CommandError) -> DBusValue {
    switch (self, value) {
    case (.next(let texts), _): return try Expression.next(texts, after: value)
    case (_, .variant(let content)): return .variant(try applied(to: content, within: bounds))
    case (.toggle, .boolean(let truth)): return .boolean(!truth)
    case (.arithmetic(let sign, let operand), .double(let number)):
      return .double(try Expression.compute(number, sign, operand, bounds))
    case (.arithmetic(let sign, let operand), _) where value.integer != nil:
      return try Expression.compute(value, sign, operand, bounds)
    case (.append(let text), .string(let start)):
      return .string(start + text)
    case (.append(let text), .array(let array)):
      do {
        let element = try ValueText.read(text, as: array.elementType)
        return .array(DBusArray(known: array.elementType, Array(array) + [element]))
      } catch {
        throw .usage(error.description)
      }
    case (.arithmetic, _), (.toggle, _), (.append, _):
      throw .usage("\(description) needs \(needed), but the value is of type '\(value.type)'")
    }
  }

  private var description: String {
    switch self {
    case .arithmetic(let sign, let operand): "'\(sign.rawValue)\(operand)'"
    case .toggle: "'toggle'"
    case .append: "'append'"
    case .next: "'next'"
    }
  }

  private var needed: String {
    switch self {
    case .arithmetic: "a number"
    case .toggle: "a boolean"
    case .append: "a string or an array"
    case .next: "a value"
    }
  }

  private static func next(_ texts: [String], after value: DBusValue) throws(CommandError) -> DBusValue {
    var values: [DBusValue] = []
    for text in texts {
      do { values.append(try ValueText.read(text, as: value.type)) } catch { throw .usage("\(error)") }
    }
    let index = values.firstIndex(of: value).map { ($0 + 1) % values.count } ?? 0
    return values[index]
  }

  private static func compute(
    _ value: DBusValue, _ sign: Operator, _ operand: String, _ bounds: Bounds
  ) throws(CommandError) -> DBusValue {
    let number = value.integer ?? 0
    guard let operand: Int128 = NumberText.integer(operand) else {
      throw .usage("'\(sign.rawValue)\(operand)' needs a whole number for a value of type '\(value.type)'")
    }
    let result: (partialValue: Int128, overflow: Bool)
    switch sign {
    case .add: result = number.addingReportingOverflow(operand)
    case .subtract: result = number.subtractingReportingOverflow(operand)
    case .multiply: result = number.multipliedReportingOverflow(by: operand)
    case .divide:
      guard operand != 0 else { throw .usage("\(number) cannot be divided by 0") }
      result = number.dividedReportingOverflow(by: operand)
    }
    guard !result.overflow, let changed = DBusValue(bounds.clamp(result.partialValue), of: value.type) else {
      let range = value.type.integerRange ?? 0...0
      throw .refused(
        "\(number) \(sign.rawValue) \(operand) is out of the range of type '\(value.type)', \(range.lowerBound) to "
          + "\(range.upperBound)")
    }
    return changed
  }

  private static func compute(
    _ number: Double, _ sign: Operator, _ operand: String, _ bounds: Bounds
  ) throws(CommandError) -> Double {
    let operand = NumberText.number(operand) ?? .nan
    var result: Double
    switch sign {
    case .add: result = number + operand
    case .subtract: result = number - operand
    case .multiply: result = number * operand
    case .divide:
      guard operand != 0 else { throw .usage("\(number) cannot be divided by 0") }
      result = number / operand
    }
    result = bounds.clamp(result)
    guard result.isFinite || !number.isFinite else {
      throw .refused("\(number) \(sign.rawValue) \(operand) is out of the range of type 'd'")
    }
    return result
  }
}

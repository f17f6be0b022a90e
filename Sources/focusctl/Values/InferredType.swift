import DBusTypes

/// Infers the type of a value from its text.
enum InferredType {
  /// The value of `text`: true and false, numbers as JSON writes them, JSON arrays and objects; any other is a string.
  /// - Throws: `SyntaxError` for an array or object that is not valid JSON.
  static func value(of text: String) throws(SyntaxError) -> DBusValue {
    switch text {
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    default: break
    }
    if let number = number(text) { return number }
    let first = text.first { !$0.isWhitespace }
    guard first == "[" || first == "{" else { return try DBusValue(text: text, of: .string) }
    do {
      return try JSONReader.read(text, as: nil)
    } catch {
      throw SyntaxError(expected: error.expected, text: text, rule: error.rule + "; for a string, give the type 's'")
    }
  }

  /// The JSON number `text`: `d` if it has a fraction or an exponent, else the first of `i`, `x` and `t` that can hold it.
  static func number(_ text: String) -> DBusValue? {
    guard let first = text.utf8.first, first == UInt8(ascii: "-") || isDigit(first),
      case .number(let number)? = (try? JSONParser.parse(text))?.content, number == text
    else { return nil }
    guard text.utf8.contains(where: { ".eE".utf8.contains($0) }) else {
      return Int32(text).map { .int32($0) } ?? Int64(text).map { .int64($0) } ?? UInt64(text).map { .uint64($0) }
    }
    return Double(text).flatMap { $0.isFinite ? .double($0) : nil }
  }

  /// `aT` if all elements have one type or are numbers that one type can hold; otherwise, or if empty, `av`.
  static func array(_ elements: [DBusValue]) -> DBusValue {
    guard let first = elements.first?.type else { return .variants([]) }
    if elements.allSatisfy({ $0.type == first }) { return .array(DBusArray(known: first, elements)) }
    for type in [DBusType.int64, .uint64, .double] {
      let numbers = elements.compactMap { widened($0, to: type) }
      if numbers.count == elements.count { return .array(DBusArray(known: type, numbers)) }
    }
    return .variants(elements)
  }

  private static func widened(_ value: DBusValue, to type: DBusType) -> DBusValue? {
    switch value {
    case .int32, .int64, .uint64:
      guard let integer = value.integer else { return nil }
      return type == .double ? Double(exactly: integer).map { .double($0) } : DBusValue(integer, of: type)
    case .double: return type == .double ? value : nil
    default: return nil
    }
  }
}

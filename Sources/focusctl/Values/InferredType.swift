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
    var rest = text.utf8[...]
    func digits() -> Int {
      let count = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
      rest = rest.dropFirst(count)
      return count
    }
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    let leadingZero = rest.first == UInt8(ascii: "0")
    let whole = digits()
    guard whole > 0, whole == 1 || !leadingZero else { return nil }
    if rest.isEmpty {
      if let value = Int32(text) { return .int32(value) }
      if let value = Int64(text) { return .int64(value) }
      return UInt64(text).map { .uint64($0) }
    }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      guard digits() > 0 else { return nil }
    }
    if let e = rest.first, e | 0x20 == UInt8(ascii: "e") {
      rest.removeFirst()
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
      guard digits() > 0 else { return nil }
    }
    guard rest.isEmpty, let value = Double(text), value.isFinite else { return nil }
    return .double(value)
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

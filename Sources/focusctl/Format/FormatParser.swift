import DBusTypes

/// Reads what stands between the braces of a format.
struct FormatParser {
  /// What is not read yet.
  private(set) var rest: Substring
  private let start: Substring
  private let names: Template.Names
  private var depth = 0
  /// Each operator is one level of what is read, and later one level of the stack.
  private static let operatorLimit = 256
  private var operatorCount = 0

  init(_ text: Substring, _ names: Template.Names) {
    rest = text
    start = text
    self.names = names
  }

  /// The whole part, for messages.
  var part: String { String(start.prefix { $0 != "}" }).excerpt }

  /// Reads an expression; it ends before `}`, `:-`, `,` or `)`.
  /// - Throws: `CommandError` if it is not one.
  mutating func expression() throws(CommandError) -> FormatExpression {
    var result = try product()
    while let sign = try nextOperator("+-") { result = .arithmetic(sign, result, try product()) }
    return result
  }

  private mutating func product() throws(CommandError) -> FormatExpression {
    var result = try operand()
    while let sign = try nextOperator("*/") { result = .arithmetic(sign, result, try operand()) }
    return result
  }

  private mutating func nextOperator(_ signs: String) throws(CommandError) -> Expression.Operator? {
    skipSpaces()
    guard let sign = rest.first, signs.contains(sign) else { return nil }
    operatorCount += 1
    guard operatorCount <= FormatParser.operatorLimit else {
      throw malformed("has more than \(FormatParser.operatorLimit) operators")
    }
    rest.removeFirst()
    return Expression.Operator(rawValue: sign)
  }

  private mutating func skipSpaces() { rest = rest.drop { $0 == " " } }

  private mutating func operand() throws(CommandError) -> FormatExpression {
    skipSpaces()
    depth += 1
    defer { depth -= 1 }
    guard depth < 64 else { throw malformed("is nested too deeply") }
    switch rest.first {
    case "\"", "'": return .literal(.string(try quoted()))
    case "(":
      rest.removeFirst()
      let result = try expression()
      try expect(")")
      return result
    case "-":
      rest.removeFirst()
      return .arithmetic(.subtract, .literal(.int64(0)), try operand())
    case let digit? where digit.isASCII && digit.isNumber: return .literal(try number())
    default: return try name()
    }
  }

  private mutating func quoted() throws(CommandError) -> String {
    let quote = rest.removeFirst()
    let text = rest.prefix { $0 != quote }
    guard text.endIndex < rest.endIndex else { throw malformed("has a string that is not closed") }
    rest = rest.dropFirst(text.count + 1)
    return String(text)
  }

  private mutating func number() throws(CommandError) -> DBusValue {
    let text = String(rest.prefix { $0.isASCII && $0.isNumber || $0 == "." })
    rest = rest.dropFirst(text.count)
    if let number = Int64(text) { return .int64(number) }
    guard let number = Double(text) else { throw malformed("has '\(text)', which is not a number") }
    return .double(number)
  }

  private mutating func name() throws(CommandError) -> FormatExpression {
    let name = takeName()
    guard rest.first == "(" else { return .part(try part(name)) }
    guard let function = FormatFunction(rawValue: name) else {
      let all = FormatFunction.allCases.map(\.rawValue)
      let near = Suggestion.nearest(to: name, among: all).map { "did you mean '\($0)'?" }
      throw .usage(
        "unknown function '\(name.excerpt)' of a format; \(near ?? "expected one of \(all.joined(separator: " "))")")
    }
    rest.removeFirst()
    var arguments = [try expression()]
    skipSpaces()
    while rest.first == "," {
      rest.removeFirst()
      arguments.append(try expression())
      skipSpaces()
    }
    try expect(")")
    guard arguments.count == function.argumentCount else {
      throw .usage(
        "the function '\(name)' of a format takes \(function.argumentCount) argument"
          + "\(function.argumentCount == 1 ? "" : "s"), but \(arguments.count) \(arguments.count == 1 ? "was" : "were") given"
      )
    }
    return .call(function, arguments)
  }

  /// Takes the name of a part or a function; signs are part of a pointer, but of nothing else.
  private mutating func takeName() -> String {
    var name = ""
    var isPointer = false
    while let character = rest.first, !" ,(){}\"'".contains(character), !rest.hasPrefix(":-") {
      if !isPointer, "+-*".contains(character) { break }
      if character == "/" { isPointer = true }
      name.append(rest.removeFirst())
    }
    return name
  }

  private func part(_ name: String) throws(CommandError) -> FormatPart {
    if names.parts.contains(name) { return .name(name) }
    let isKey = name.first?.isUppercase == true || name.contains(".") || name.contains("/")
    if names.allowsKeys, isKey { return .key(try KeyArgument(name)) }
    let near = Suggestion.nearest(to: name, among: names.parts).map { "; did you mean '{\($0)}'?" }
    let all = names.parts.map { "{\($0)}" }.joined(separator: " ") + (names.allowsKeys ? " or a key" : "")
    throw .usage("unknown part '{\(name.excerpt)}' of a format\(near ?? ": expected one of \(all)")")
  }

  private mutating func expect(_ character: Character) throws(CommandError) {
    skipSpaces()
    guard rest.first == character else { throw malformed("lacks '\(character)'") }
    rest.removeFirst()
  }

  private func malformed(_ problem: String) -> CommandError {
    .usage("'{\(part)}' is not a part of a format: it \(problem)")
  }
}

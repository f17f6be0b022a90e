import DBusTypes

/// A line with named parts: `{key} is {value}`, `{value:-nothing}`, `{uc(Metadata/xesam:title)}`.
///
/// `{{` and `}}` stand for braces, `\n`, `\t` and `\\` for a line break, a tab and a backslash.
struct Template: Hashable, Sendable {
  /// What the names of parts may be.
  struct Names {
    let parts: [String]
    /// Whether a part may also be a key, with or without a pointer.
    var allowsKeys = false
  }

  private enum Piece: Hashable, Sendable {
    case text(String)
    /// With what stands for it if it has no value, if the format says that.
    case expression(FormatExpression, absent: String?)
  }

  private var pieces: [Piece] = []

  /// Reads `text`, whose parts are among `names`.
  /// - Throws: `CommandError` if it is not a valid format.
  init(_ text: String, _ names: Names) throws(CommandError) {
    var literal = ""
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "{" where rest.first == "{", "}" where rest.first == "}": literal.append(rest.removeFirst())
      case "}": throw .usage("'\(text.excerpt)' is not a format: write '}}' for a literal brace")
      case "\\":
        switch rest.popFirst() {
        case "n": literal += "\n"
        case "t": literal += "\t"
        case "\\": literal += "\\"
        case let other:
          throw .usage("'\\\(other.map(String.init) ?? "")' is not an escape of a format; write '\\\\' for a backslash")
        }
      case "{":
        guard rest.contains("}") else {
          throw .usage(
            "'\(text.excerpt)' is not a format: '{\(String(rest).excerpt)' is not closed; write '{{' for a literal brace"
          )
        }
        pieces.append(.text(literal))
        literal = ""
        pieces.append(try Template.piece(&rest, names))
      default: literal.append(character)
      }
    }
    pieces.append(.text(literal))
  }

  /// Reads a part with its closing brace.
  private static func piece(_ rest: inout Substring, _ names: Names) throws(CommandError) -> Piece {
    var parser = FormatParser(rest, names)
    let expression = try parser.expression()
    rest = parser.rest
    var absent: String?
    if rest.hasPrefix(":-") {
      let text = rest.dropFirst(2).prefix { $0 != "}" }
      absent = String(text)
      rest = rest.dropFirst(2 + text.count)
    }
    guard rest.first == "}" else {
      throw .usage("'{\(parser.part)}' is not a part of a format: expected '}' before '\(rest)'")
    }
    rest.removeFirst()
    return .expression(expression, absent: absent)
  }

  /// The keys among the parts, each once, in order.
  var keys: [KeyArgument] {
    var keys: [KeyArgument] = []
    for case .expression(let expression, _) in pieces {
      for key in expression.keys where !keys.contains(key) { keys.append(key) }
    }
    return keys
  }

  /// Whether the part `name` occurs.
  func has(_ name: String) -> Bool {
    pieces.contains { piece in
      guard case .expression(let expression, _) = piece else { return false }
      return expression.has(name)
    }
  }

  /// Whether each part has a value, or a text that stands for it.
  func isComplete(_ value: (FormatPart) -> FormatValue?) -> Bool {
    pieces.allSatisfy { piece in
      guard case .expression(let expression, nil) = piece else { return true }
      return expression.value(value) != nil
    }
  }

  /// The line with each part replaced by its value as `shown` writes it, or by the format's text for a missing one.
  func text(_ shown: (DBusValue) -> String, _ value: (FormatPart) -> FormatValue?) -> String {
    pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .expression(let expression, let absent):
        switch expression.value(value) {
        case nil: absent ?? "nil"
        case .text(let text): text
        case .value(let value): shown(value)
        }
      }
    }.joined()
  }
}

/// What a part of a format names.
enum FormatPart: Hashable, Sendable {
  case name(String)
  case key(KeyArgument)
}

/// What a part of a format is replaced by.
enum FormatValue {
  /// A value, or text that somebody else wrote.
  case value(DBusValue)
  /// Text that is in its final form.
  case text(String)

  static func string(_ text: String) -> FormatValue { .value(.string(text)) }

  /// The value for functions; text in its final form is a string.
  var content: DBusValue {
    switch self {
    case .value(let value): value.lookedThrough
    case .text(let text): .string(text)
    }
  }
}

extension Invocation {
  /// The format, if one was given.
  func template(_ names: Template.Names) throws(CommandError) -> Template? {
    guard let format = options.format else { return nil }
    guard !options.json else { throw .usage("'--json' and '--format' cannot be combined") }
    return try Template(format, names)
  }
}

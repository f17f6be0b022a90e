/// A line with named parts: `{key} is {value}`, `{value:-nothing}`.
///
/// `{{` and `}}` stand for braces, `\n`, `\t` and `\\` for a line break, a tab and a backslash.
struct Template: Hashable, Sendable {
  private enum Piece: Hashable, Sendable {
    case text(String)
    case part(String, absent: String)
  }

  private var pieces: [Piece] = []

  /// Reads `text`, whose parts are among `parts`.
  /// - Throws: `CommandError` if it is not a valid format.
  init(_ text: String, parts: [String]) throws(CommandError) {
    var literal = ""
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "{" where rest.first == "{", "}" where rest.first == "}": literal.append(rest.removeFirst())
      case "}": throw .usage("'\(text)' is not a format: write '}}' for a literal brace")
      case "\\":
        switch rest.popFirst() {
        case "n": literal += "\n"
        case "t": literal += "\t"
        case "\\": literal += "\\"
        case let other:
          throw .usage("'\\\(other.map(String.init) ?? "")' is not an escape of a format; write '\\\\' for a backslash")
        }
      case "{":
        guard let end = rest.firstIndex(of: "}") else {
          throw .usage("'\(text)' is not a format: '{\(rest)' is not closed; write '{{' for a literal brace")
        }
        pieces.append(.text(literal))
        literal = ""
        pieces.append(try Template.part(rest[..<end], parts))
        rest = rest[rest.index(after: end)...]
      default: literal.append(character)
      }
    }
    pieces.append(.text(literal))
  }

  private static func part(_ text: Substring, _ parts: [String]) throws(CommandError) -> Piece {
    var name = String(text)
    var absent = "nil"
    if let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix(":-") {
      name = String(text[..<colon])
      absent = String(text[colon...].dropFirst(2))
    }
    guard !parts.contains(name) else { return .part(name, absent: absent) }
    let near = Suggestion.nearest(to: name, among: parts).map { "; did you mean '{\($0)}'?" }
    throw .usage(
      "unknown part '{\(name)}' of a format\(near ?? ": expected one of \(parts.map { "{\($0)}" }.joined(separator: " "))")"
    )
  }

  /// The line with each part replaced by its value, or by the format's text for a missing value.
  func text(_ value: (String) -> String?) -> String {
    pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .part(let name, let absent): value(name) ?? absent
      }
    }.joined()
  }
}

extension Invocation {
  /// The format, if one was given; its parts are among `parts`.
  func template(parts: [String]) throws(CommandError) -> Template? {
    guard let format = options.format else { return nil }
    guard !options.json else { throw .usage("'--json' and '--format' cannot be combined") }
    return try Template(format, parts: parts)
  }
}

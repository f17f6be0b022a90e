import DBusTypes

/// The format of changes.
struct WatchFormat {
  /// The kind of line.
  enum Style {
    case text
    case json
    case waybar
    case template(Template)
  }

  let style: Style
  /// Whether only one key is watched, so that lines need not name it.
  let bare: Bool

  init(_ options: Options, keys: Int) throws(CommandError) {
    let given = [
      options.json ? "--json" : nil, options.waybar ? "--waybar" : nil, options.format.map { _ in "--format" },
    ]
    .compactMap { $0 }
    guard given.count <= 1 else { throw .usage("'\(given[0])' and '\(given[1])' cannot be combined") }
    if let format = options.format {
      style = .template(try Template(format, WatchFormat.names))
    } else {
      style = options.json ? .json : options.waybar ? .waybar : .text
    }
    bare = keys == 1
  }

  /// The parts of a `--format` for changes.
  static let names = Template.Names(parts: ["key", "value", "type", "field", "json"], allowsKeys: true)

  /// The keys within the format.
  var keys: [KeyArgument] {
    guard case .template(let template) = style else { return [] }
    return template.keys
  }

  /// Whether lines name the field of a value.
  var needsFields: Bool {
    guard case .template(let template) = style else { return false }
    return template.has("field")
  }

  /// The line for `change`, with its line break; `others` are the values of the keys within the format.
  func line(_ change: WatchState.Change, _ others: (KeyArgument) -> DBusValue? = { _ in nil }) -> String {
    let value = change.value
    switch style {
    case .text:
      let text = value.map(ValueText.line) ?? "nil"
      return bare ? "\(text)\n" : "\(Output.escaped(change.key)) \(text)\n"
    case .json:
      let document = value.map(JSONWriter.document) ?? "null"
      return (bare ? document : JSONWriter.object([("key", JSONWriter.string(change.key)), ("value", document)])) + "\n"
    case .waybar: return WatchFormat.waybar(change) + "\n"
    case .template(let template):
      return template.text(ValueText.line) { part in
        switch part {
        case .key(let key): others(key).map { .value($0) }
        case .name("key"): .string(change.key)
        case .name("value"): value.map { .value($0) }
        case .name("type"): value.map { .text($0.type.description) }
        case .name("field"): change.field.map { .text($0) }
        case .name: value.map { .text(JSONWriter.document($0)) }
        }
      } + "\n"
    }
  }

  /// The document for one line of a custom module of waybar.
  private static func waybar(_ change: WatchState.Change) -> String {
    let text = change.value.map(ValueText.line)
    let tooltip = change.value.map { "\(change.key): \(ValueText.text($0)) (\($0.type))" } ?? "\(change.key): nil"
    let look =
      switch change.value {
      case nil: "nil"
      case .boolean(let truth): String(truth)
      default: "set"
      }
    return JSONWriter.object([
      ("text", JSONWriter.string(markup(text ?? ""))), ("alt", JSONWriter.string(text ?? "nil")),
      ("tooltip", JSONWriter.string(markup(tooltip))), ("class", JSONWriter.string(look)),
    ])
  }

  /// `text`, escaped because Pango reads a module's text as markup.
  static func markup(_ text: String) -> String {
    guard text.utf8.contains(where: { "&<>".utf8.contains($0) }) else { return text }
    // Not by characters: a sign with a combining mark is another character, but still a sign to Pango.
    return text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}

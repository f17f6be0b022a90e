import DBusTypes
import Glibc

/// The commands that show fields.
enum Listing {
  static func list(_ call: Invocation) throws(CommandError) {
    let fields = try FieldInfo.all(try call.connect())
    guard !call.options.json else {
      try Output.write(fields.map { $0.json + "\n" }.joined())
      return
    }
    // Programs get a line for each field and nothing else.
    let heads = isatty(STDOUT_FILENO) != 0 ? [["ID", "LABEL", "PARENT", "SCOPE", "FOCUS", "OWNER"]] : []
    try Output.write(Output.table(heads + fields.map(cells)))
  }

  static func cells(_ field: FieldInfo) -> [String] {
    func orDash(_ text: String) -> String { text.isEmpty ? "-" : text }
    return [
      field.id, orDash(Output.escaped(field.label)), field.parent == .root ? "-" : FieldID.id(field.parent),
      field.scope, field.isFocused ? "*" : "-", orDash(field.owner),
    ]
  }

  static func tree(_ call: Invocation) throws(CommandError) {
    let path = focusPath(of: try FieldInfo.all(try call.connect()))
    guard !path.isEmpty else { throw CommandError(.nothing) }
    try Output.write(call.options.json ? path.map { $0.json + "\n" }.joined() : tree(of: path))
  }

  /// The focused field's ancestors from the scene down, then the field; nothing where no field has focus.
  static func focusPath(of fields: [FieldInfo]) -> [FieldInfo] {
    let byPath = Dictionary(fields.map { ($0.path, $0) }) { first, _ in first }
    var path: [FieldInfo] = []
    var next = fields.first(where: \.isFocused)
    while let field = next, path.count <= fields.count {
      path.append(field)
      next = byPath[field.parent]
    }
    return path.reversed()
  }

  /// `path` as indented lines.
  static func tree(of path: [FieldInfo]) -> String {
    var text = ""
    for (depth, field) in path.enumerated() {
      let indent = String(repeating: "  ", count: depth)
      text += indent + field.id
      if field.label != field.id { text += " \"\(Output.escaped(field.label))\"" }
      if field.isSensitive { text += " (sensitive)" }
      if field.isFocused { text += " (focused)" }
      text += "\n"
      for (key, value) in field.values {
        text += "\(indent)  \(key): \(ValueText.line(value)) (\(value.type))\n"
      }
    }
    return text
  }
}

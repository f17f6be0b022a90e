import DBus
import DBusTypes
import DaemonClient
import EventLoop
import FocusContract

/// The commands that show fields.
enum Listing {
  static func list(_ call: Invocation) throws(CommandError) {
    let format = try call.template(FieldInfo.names)
    let daemon = try call.connect()
    let fields = try FieldInfo.all(daemon)
    if let format {
      let isWhole = format.has("json")
      let fields = isWhole ? try FieldInfo.withAccess(fields, daemon) : fields
      try Output.write(fields.map { format.text(ValueText.line, $0.part) + "\n" }.joined())
      return
    }
    guard !call.options.json else {
      try Output.write(try FieldInfo.withAccess(fields, daemon).map { $0.json + "\n" }.joined())
      return
    }
    try Output.write(table(of: fields, on: .output))
  }

  private static let heads = ["ID", "LABEL", "PARENT", "SCOPE", "FOCUS", "OWNER", "ACTIVE"]
  /// The columns in the order in which they are dropped on a narrow terminal.
  private static let dispensable = [5, 6, 3, 2, 4]
  private static let longest = 200

  /// A line for each field: all fields for programs, a limited number on a terminal.
  static func table(of fields: [FieldInfo], on terminal: Terminal) -> String {
    guard terminal.isTerminal else { return Output.table(fields.map(cells)) }
    var rows = [heads] + fields.prefix(longest).map(cells)
    if !fields.contains(where: { $0.scope == "session" }) { rows = rows.map { $0.dropLast() } }
    for column in dispensable where width(of: rows) > terminal.columns {
      rows = rows.map { row in row.enumerated().map { $0.offset == column ? "" : $0.element } }
    }
    rows = rows.map { $0.filter { !$0.isEmpty } }
    if width(of: rows) > terminal.columns {
      let labels = max(8, min(terminal.columns / 3, rows.map { TextWidth.columns(of: $0[1]) }.max() ?? 0))
      let ids = max(8, terminal.columns - labels - 2)
      rows = rows.map { [TextWidth.fitted($0[0], ids), TextWidth.fitted($0[1], labels)] }
    }
    var lines = Output.table(rows)
    if fields.count > longest {
      let rest = "… \(fields.count - longest) more: '\(Program.name) list | less'"
      lines += Style.faint.applied(to: TextWidth.fitted(rest, terminal.columns), on: terminal) + "\n"
    }
    return lines
  }

  private static func width(of rows: [[String]]) -> Int {
    Output.widths(rows).reduce(-2) { $0 + ($1 > 0 ? $1 + 2 : 0) }
  }

  static func cells(_ field: FieldInfo) -> [String] {
    func orDash(_ text: String) -> String { text.isEmpty ? "-" : text }
    return [
      field.id, orDash(Output.escaped(field.label)), field.parent == .root ? "-" : FieldID.id(field.parent),
      field.scope, field.isFocused ? "*" : "-", orDash(field.owner),
      field.isActive ? "*" : "-",
    ]
  }

  static func tree(_ call: Invocation) throws(CommandError) {
    let daemon = try call.connect()
    let fields = try FieldInfo.all(daemon)
    let path = focusPath(of: fields)
    let session = try FieldInfo.session(of: fields, daemon)
    if call.options.json {
      let onPath = Set(path.map(\.path))
      let others = session.filter { !onPath.contains($0.path) }
      try Output.write(try FieldInfo.withAccess(path + others, daemon).map { $0.json + "\n" }.joined())
    } else {
      try Output.write(FieldTree.text(of: fields, session: session, on: .output))
    }
    guard !path.isEmpty else {
      throw CommandError(
        .nothing,
        fields.isEmpty
          ? "there are no fields yet: '\(Program.name) register --help' shows how to create one" + hint
          : "nothing has focus: '\(Program.name) focus ID' gives it to a field")
    }
  }

  /// What the desktop needs before there are fields of its windows; empty if that is nothing.
  private static var hint: String {
    let desktops = Environment.value("XDG_CURRENT_DESKTOP")?.split(separator: ":") ?? []
    guard desktops.contains("GNOME") else { return "" }
    return "; GNOME's windows need an extension: 'gnome-extensions enable focusd@org.focusd', then log in again, "
      + "see focusd-windows(8)"
  }

  static func focused(_ call: Invocation) throws(CommandError) {
    let daemon = try call.connect()
    let field: ObjectPath?
    do { field = try daemon.call(.focusedField()) } catch { throw CommandError(error) }
    guard let field else { throw CommandError(.nothing) }
    try Output.write(FieldID.id(field) + "\n")
  }

  /// The focused field's ancestors from the scene down, then the field; empty if no field has focus.
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
}

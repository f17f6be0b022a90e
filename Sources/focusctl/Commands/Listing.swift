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
    try Pager.show(table(of: fields, on: .output), call.options)
  }

  private static let heads = ["ID", "LABEL", "PARENT", "SCOPE", "FOCUS", "OWNER", "ACTIVE"]
  /// The columns in the order in which they are dropped on a narrow terminal.
  private static let dispensable = [5, 6, 3, 2, 4]

  /// A line for each field.
  static func table(of fields: [FieldInfo], on terminal: Terminal) -> String {
    guard terminal.isTerminal else { return Output.table(fields.map(cells)) }
    var rows = [heads] + fields.map(cells)
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
    return Output.table(rows)
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
      let text = FieldTree.text(of: fields, session: session, showsAll: call.options.everything, on: .output)
      try Pager.show(fields.isEmpty && Output.isTerminal ? try Bridges(on: daemon).overview : text, call.options)
    }
    guard !path.isEmpty else {
      throw CommandError(
        .nothing,
        fields.isEmpty ? try noFields(daemon) : "nothing has focus: '\(Program.name) focus ID' gives it to a field")
    }
  }

  /// Why there is nothing to show; a terminal has the overview of the bridges.
  private static func noFields(_ daemon: DaemonConnection) throws(CommandError) -> String {
    let bridges = try Bridges(on: daemon)
    return "there are no fields yet" + (Output.isTerminal ? "" : "; " + bridges.sentence)
      + (bridges.hasExtension ? "" : hint)
  }

  /// What the desktop needs before there are fields of its windows; empty if that is nothing.
  private static var hint: String {
    let desktops = Environment.value("XDG_CURRENT_DESKTOP")?.split(separator: ":") ?? []
    guard desktops.contains("GNOME") else { return "" }
    return "; GNOME's windows need an extension: log in again, then 'gnome-extensions enable focusd@org.focusd', on "
      + "GNOME 43 and 44 'focusd-43@org.focusd', see focusd-windows(8)"
  }

  static func focused(_ call: Invocation) throws(CommandError) {
    guard let field = try call.connect().ask(.focusedField()) else { throw CommandError(.nothing) }
    try Output.write(FieldID.id(field) + "\n")
  }

  /// The focused field's ancestors from the scene down, then the field; empty if no field has focus.
  static func focusPath(of fields: [FieldInfo]) -> [FieldInfo] {
    let byPath = Dictionary(fields.map { ($0.path, $0) }) { first, _ in first }
    return FocusPath.chain(from: fields.first(where: \.isFocused), among: byPath).reversed()
  }
}

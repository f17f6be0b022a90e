import DBusTypes

/// The scenes with their fields, indented, then the session's fields, a line each; only the focus path is shown in full,
/// unless all is.
///
/// Else its length depends on the focus path and the number of session fields, not on the number of fields.
struct FieldTree {
  private let fields: Int
  private let children: [ObjectPath: [FieldInfo]]
  private let onPath: Set<ObjectPath>
  private let terminal: Terminal
  private let showsAll: Bool
  /// The number of fields off the focus path that are shown, in total and within each field.
  private var room = 30
  private static let roomWithin = 8

  private var text = ""

  /// The tree of `fields` and their `session` fields in order, as lines for `terminal`.
  ///
  /// If nothing has focus, programs are shown the session's fields only.
  static func text(
    of fields: [FieldInfo], session: [FieldInfo] = [], showsAll: Bool = false, on terminal: Terminal
  ) -> String {
    var tree = FieldTree(fields, terminal, showsAll)
    if terminal.isTerminal || !tree.onPath.isEmpty { tree.add(within: .root, depth: 0) }
    tree.add(session: session)
    return tree.text
  }

  private init(_ fields: [FieldInfo], _ terminal: Terminal, _ showsAll: Bool) {
    self.terminal = terminal
    self.showsAll = showsAll
    self.fields = fields.count
    let known = Set(fields.map(\.path))
    children = Dictionary(grouping: fields) { known.contains($0.parent) ? $0.parent : .root }
    onPath = Set(Listing.focusPath(of: fields).map(\.path))
  }

  private mutating func add(within parent: ObjectPath, depth: Int) {
    let all = (children[parent] ?? []).filter { !isOnlyOfSession($0, within: parent) }
    var left = showsAll ? .max : min(FieldTree.roomWithin, room)
    var hidden = 0
    for field in all {
      if onPath.contains(field.path) {
        add(field, depth)
      } else if left > 0 {
        left -= 1
        room -= 1
        add(field, depth)
      } else {
        hidden += size(of: field)
      }
    }
    addCount(hidden, depth)
  }

  private mutating func addCount(_ hidden: Int, _ depth: Int) {
    guard hidden > 0 else { return }
    let count = "… \(hidden) more \(hidden == 1 ? "field" : "fields")"
    addLine(depth, Style.faint.applied(to: TextWidth.fitted(count, width(depth)), on: terminal))
  }

  /// Whether `field` is shown below the tree only: a session field that is alone in its scene.
  private func isOnlyOfSession(_ field: FieldInfo, within parent: ObjectPath) -> Bool {
    field.scope == "session" && parent == .root && children[field.path] == nil && !onPath.contains(field.path)
  }

  private mutating func add(session: [FieldInfo]) {
    guard !session.isEmpty else { return }
    addLine(0, Style.faint.applied(to: "session fields:", on: terminal))
    for field in session {
      addHead(field, 1)
      if showsAll, !onPath.contains(field.path) { addBindings(field, 2) }
    }
  }

  private mutating func add(_ field: FieldInfo, _ depth: Int) {
    addHead(field, depth)
    if onPath.contains(field.path) { addBindings(field, depth + 1) }
    // The daemon allows no deeper nesting, so anything beyond it is a cycle.
    if depth < 64 { add(within: field.path, depth: depth + 1) }
  }

  private mutating func addHead(_ field: FieldInfo, _ depth: Int) {
    let marks = [
      field.isSensitive ? " (sensitive)" : "", field.isActive ? " (active)" : "", field.isFocused ? " (focused)" : "",
    ].joined()
    let label = field.label == field.id ? "" : " \"\(Output.escaped(field.label))\""
    let room = max(8, width(depth) - marks.utf8.count)
    let style: Style = field.isFocused ? .strong : .plain
    addLine(depth, style.applied(to: TextWidth.fitted(field.id + label, room) + marks, on: terminal))
  }

  private mutating func addBindings(_ field: FieldInfo, _ depth: Int) {
    for (key, value) in field.values {
      addLine(depth, ValueLine.text(key, ValueText.line(value), type: value.type, width(depth), on: terminal))
    }
    for key in field.writeOnly { addKey(key, " (write-only)", .plain, depth) }
    for (command, isEnabled) in field.commands {
      addKey(command, isEnabled ? "()" : "() (disabled)", isEnabled ? .plain : .faint, depth)
    }
  }

  private mutating func addKey(_ key: String, _ ending: String, _ style: Style, _ depth: Int) {
    let line = TextWidth.fittedKey(key, width(depth) - ending.utf8.count) + ending
    addLine(depth, style.applied(to: line, on: terminal))
  }

  private func size(of field: FieldInfo) -> Int {
    var count = 0
    var next = [field]
    while let field = next.popLast(), count < fields {
      count += 1
      next += children[field.path] ?? []
    }
    return count
  }

  private func indent(_ depth: Int) -> Int { min(depth * 2, terminal.columns / 3) }

  private func width(_ depth: Int) -> Int { terminal.isTerminal ? terminal.columns - indent(depth) : .max }

  private mutating func addLine(_ depth: Int, _ line: String) {
    text += String(repeating: " ", count: indent(depth)) + line + "\n"
  }
}

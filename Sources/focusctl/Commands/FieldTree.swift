import DBusTypes

/// The scenes with their fields, indented; only the focus path is shown in full.
///
/// Its length depends on the focus path, not on the number of fields.
struct FieldTree {
  private let fields: Int
  private let children: [ObjectPath: [FieldInfo]]
  private let onPath: Set<ObjectPath>
  private let terminal: Terminal
  /// The number of fields off the focus path that are shown, in total and within each field.
  private var room = 30
  private static let roomWithin = 8

  private var text = ""

  /// The tree of `fields`, as lines for `terminal`.
  static func text(of fields: [FieldInfo], on terminal: Terminal) -> String {
    var tree = FieldTree(fields, terminal)
    tree.add(within: .root, depth: 0)
    return tree.text
  }

  private init(_ fields: [FieldInfo], _ terminal: Terminal) {
    self.terminal = terminal
    self.fields = fields.count
    let known = Set(fields.map(\.path))
    children = Dictionary(grouping: fields) { known.contains($0.parent) ? $0.parent : .root }
    onPath = Set(Listing.focusPath(of: fields).map(\.path))
  }

  private mutating func add(within parent: ObjectPath, depth: Int) {
    let all = children[parent] ?? []
    var left = min(FieldTree.roomWithin, room)
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
    guard hidden > 0 else { return }
    let count = "… \(hidden) more \(hidden == 1 ? "field" : "fields")"
    addLine(depth, Style.faint.applied(to: TextWidth.fitted(count, width(depth)), on: terminal))
  }

  private mutating func add(_ field: FieldInfo, _ depth: Int) {
    let marks = (field.isSensitive ? " (sensitive)" : "") + (field.isFocused ? " (focused)" : "")
    let label = field.label == field.id ? "" : " \"\(Output.escaped(field.label))\""
    let room = max(8, width(depth) - marks.utf8.count)
    let style: Style = field.isFocused ? .strong : .plain
    addLine(depth, style.applied(to: TextWidth.fitted(field.id + label, room) + marks, on: terminal))
    if onPath.contains(field.path) {
      for (key, value) in field.values {
        addLine(
          depth + 1,
          ValueLine.text(key, ValueText.line(value), type: value.type, width(depth + 1), on: terminal))
      }
      for (command, isEnabled) in field.commands {
        let ending = isEnabled ? "()" : "() (disabled)"
        let line = TextWidth.fittedKey(command, width(depth + 1) - ending.utf8.count) + ending
        addLine(depth + 1, (isEnabled ? Style.plain : .faint).applied(to: line, on: terminal))
      }
    }
    // The daemon allows no deeper nesting, so anything beyond it is a cycle.
    if depth < 64 { add(within: field.path, depth: depth + 1) }
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

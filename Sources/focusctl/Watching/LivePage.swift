import DBusTypes

/// The content of a live view: a line for each key with its current value, as many as fit on the terminal.
struct LivePage {
  /// The requested keys, in order; empty if all are watched.
  let requests: [String]
  private var values: [String: DBusValue] = [:]
  private var top = 0

  init(_ requests: [String]) { self.requests = requests }

  mutating func take(_ changes: [WatchState.Change]) {
    for change in changes { values[change.key] = change.value }
  }

  private var keys: [String] { requests.isEmpty ? values.keys.naturallySorted() : requests }

  /// Scrolls the page for a key press on a terminal of `rows` lines.
  mutating func move(_ press: Keyboard.Press, rows: Int) {
    let page = max(1, room(rows))
    switch press {
    case .up: top -= 1
    case .down: top += 1
    case .pageUp: top -= page
    case .pageDown: top += page
    case .home: top = 0
    case .end: top = keys.count
    case .quit: break
    }
    top = max(0, min(top, keys.count - page))
  }

  /// The number of keys shown at a time; the last lines are for the cursor and, if there are more keys, for a count.
  private func room(_ rows: Int) -> Int { max(1, keys.count <= rows - 1 ? rows - 1 : rows - 2) }

  /// The lines to show now.
  func lines(on terminal: Terminal) -> [String] {
    let keys = keys
    guard !keys.isEmpty else { return [Style.faint.applied(to: "nothing has focus", on: terminal)] }
    let room = room(terminal.rows)
    let first = max(0, min(top, keys.count - room))
    let seen = keys[first..<min(keys.count, first + room)]
    var lines = seen.map { key in
      let name = Output.escaped(key)
      guard let value = values[key] else {
        let line = ValueLine.text(name, "nil", type: nil, terminal.columns, on: .none)
        return Style.faint.applied(to: line, on: terminal)
      }
      return ValueLine.text(name, ValueText.line(value), type: value.type, terminal.columns, on: terminal)
    }
    if seen.count < keys.count {
      let place = "\(first + 1)-\(first + seen.count) of \(keys.count); arrows scroll, q quits"
      lines.append(Style.faint.applied(to: TextWidth.fitted(place, terminal.columns), on: terminal))
    }
    return lines
  }
}

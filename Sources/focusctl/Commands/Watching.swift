import DBusTypes
import DaemonClient
import EventLoop
import FocusContract
import Glibc

/// The commands that run until something happens.
enum Watching {
  static func watch(_ call: Invocation) throws(CommandError) {
    var requests = try keys(call.operands)
    let followsFocus = call.options.focus
    if followsFocus {
      guard requests.isEmpty, call.options.field == nil, !call.options.previous else {
        throw .usage("'watch --focus' takes no KEY, '--field' or '--previous'")
      }
      requests = try keys(["focus"])
    }
    let format = try WatchFormat(call.options, keys: requests.count)
    // Without a KEY, the line of a format that has keys changes when one of them does.
    let isOneLine = requests.isEmpty && !format.keys.isEmpty
    if isOneLine { requests = format.keys }
    let daemon = try call.connect()
    let path = try Bindings(daemon, call.options).path
    let subject: Watcher.Subject = followsFocus ? .focus : format.needsFields ? .valuesAndFields : .values
    if case .text = format.style, LiveView.isPossible { return try watchLive(subject, daemon, path, requests) }
    let lines = WatchedLines(format, isOneLine: isOneLine, requests: requests)
    weak var own: Watcher?
    let watcher = Watcher(daemon, path, lines.watched, for: subject) { (changes) throws(CommandError) in
      let text = lines.text(of: changes)
      guard lines.isDelayed, let own else { return try Output.write(text) }
      // What moves with focus is told for each interface by itself, and is one line.
      own.loop.schedule(after: .zero) { [weak own] in
        do throws(CommandError) { try Output.write(lines.due()) } catch { own?.stop(error) }
      }
      try Output.write(text)
    }
    own = watcher
    watcher.suggests = isatty(STDERR_FILENO) != 0
    watcher.endWithReader()
    do { try watcher.run() } catch {
      if error.status != .done { try Output.write(lines.due()) }
      throw error
    }
  }

  private static func watchLive(
    _ subject: Watcher.Subject, _ daemon: DaemonConnection, _ path: ObjectPath, _ requests: [KeyArgument]
  ) throws(CommandError) {
    var view: LiveView?
    let watcher = Watcher(daemon, path, requests, for: subject) { (changes) throws(CommandError) in
      try view?.show(changes)
    }
    let opened = LiveView(requests.map(\.text), on: watcher.loop) { [weak watcher] in watcher?.stop($0) }
    view = opened
    try opened.open()
    defer { opened.close() }
    watcher.endWithReader()
    try opened.show([])
    try watcher.run()
  }

  static func wait(_ call: Invocation) throws(CommandError) {
    let requests = try keys(call.operands)
    // Here the option limits how long the key may be nil.
    let daemon = try call.connect(isTimed: false)
    let watcher = Watcher(daemon, Focus1.focused, requests) { (changes) throws(CommandError) in
      if changes.contains(where: { $0.value != nil }) { throw CommandError(.done) }
    }
    watcher.suggests = isatty(STDERR_FILENO) != 0
    if let limit = try call.timeout() {
      watcher.end(
        after: limit, CommandError(.nothing, "'\(call.operands[0])' is still nil after \(Timeout.text(limit))"))
    }
    try watcher.run()
  }

  private static func keys(_ operands: [String]) throws(CommandError) -> [KeyArgument] {
    var keys: [KeyArgument] = []
    for operand in operands { keys.append(try KeyArgument(operand)) }
    return keys
  }
}

/// The lines for changes, with the values of the keys within their format.
private final class WatchedLines {
  private let format: WatchFormat
  private let isOneLine: Bool
  private let requests: [KeyArgument]
  /// What is known of each watched key.
  private var known: [String: WatchState.Change] = [:]
  private var last: String?
  /// The keys that have changed since the last line; nil if none is due.
  private var changed: Set<String>?

  init(_ format: WatchFormat, isOneLine: Bool, requests: [KeyArgument]) {
    self.format = format
    self.isOneLine = isOneLine
    self.requests = requests
  }

  /// The keys to watch: those requested, and those within the format.
  var watched: [KeyArgument] {
    requests.isEmpty ? [] : requests + format.keys.filter { !requests.contains($0) }
  }

  /// Whether the line is written later, with what changes together.
  var isDelayed: Bool { isOneLine && format.keys.count > 1 }

  /// Notes `changes`, and returns the lines to write now.
  func text(of changes: [WatchState.Change]) -> String {
    // A key that changes again has a line for each value.
    let former = changes.contains { changed?.contains($0.key) == true } ? due() : ""
    for change in changes { known[change.key] = change.value == nil ? nil : change }
    guard isOneLine else {
      let names = Set(requests.map(\.text))
      return changes.filter { names.isEmpty || names.contains($0.key) }.map { format.line($0, value(of:)) }.joined()
    }
    changed = (changed ?? []).union(changes.map(\.key))
    return isDelayed ? former : due()
  }

  /// The line that is due; empty if none is, or the same as the last.
  func due() -> String {
    guard changed != nil else { return "" }
    changed = nil
    return newLine()
  }

  private func value(of key: KeyArgument) -> DBusValue? { known[key.text]?.value }

  private func newLine() -> String {
    // The parts with names are those of the first key in the format that has a value.
    let first = requests.lazy.compactMap { self.known[$0.text] }.first { $0.value != nil }
    let line = format.line(first ?? WatchState.Change(key: requests[0].text, value: nil), value(of:))
    guard line != last else { return "" }
    last = line
    return line
  }
}

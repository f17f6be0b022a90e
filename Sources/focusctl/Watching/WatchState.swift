import DBusTypes

/// The watched keys, and the values last shown.
struct WatchState {
  /// The new value of one key, or nil.
  struct Change: Equatable {
    /// The key as requested, or the whole key if all are watched.
    let key: String
    let value: DBusValue?
  }

  /// The requested keys; empty for all.
  let requests: [KeyArgument]
  private var known: [String: DBusValue] = [:]
  /// The value shown for each request; nil before anything was shown.
  private var shown: [DBusValue?]?

  init(_ requests: [KeyArgument]) { self.requests = requests }

  /// Whether anything was shown.
  var hasBegun: Bool { shown != nil }

  /// Replaces all values with `values`.
  /// - Returns: the differences from what was shown; the first time, all requested keys.
  mutating func replace(with values: [String: DBusValue]) -> [Change] {
    let vanished = known.keys.filter { values[$0] == nil }
    return update(
      (values.map { ($0.key, $0.value as DBusValue?) } + vanished.map { ($0, nil) }).sorted { $0.key < $1.key })
  }

  /// Takes in keys that have other values, nil for none.
  /// - Returns: what differs from what was shown; nothing before `replace`.
  mutating func apply(_ changes: [(key: String, value: DBusValue?)]) -> [Change] {
    guard hasBegun else { return [] }
    return update(changes)
  }

  private mutating func update(_ updates: [(key: String, value: DBusValue?)]) -> [Change] {
    var changes: [Change] = []
    for (key, value) in updates where known[key] != value {
      known[key] = value
      if requests.isEmpty { changes.append(Change(key: key, value: value)) }
    }
    let now = requests.map { value(of: $0) }
    for (index, request) in requests.enumerated() where shown == nil || shown?[index] != now[index] {
      changes.append(Change(key: request.text, value: now[index]))
    }
    shown = now
    return changes
  }

  private func value(of request: KeyArgument) -> DBusValue? {
    if request.mayBeWhole, let value = known[request.name] { return request.element(of: value) }
    let found = request.matches(among: known.keys)
    guard let only = found.first, found.count == 1 else { return nil }
    return known[only].flatMap { request.element(of: $0) }
  }

  /// Checks that no request stands for several keys.
  /// - Throws: `CommandError` if one does.
  func requireUnambiguous() throws(CommandError) {
    for request in requests { _ = try request.resolved(among: known.keys) }
  }
}

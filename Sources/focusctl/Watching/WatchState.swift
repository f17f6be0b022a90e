import DBusTypes

/// The watched keys, and the values last shown.
struct WatchState {
  /// The new value of one key, or nil.
  struct Change: Equatable {
    /// The key as requested, or the whole key if all are watched.
    let key: String
    let value: DBusValue?
    /// The id of the field that it is from, if that is known and wanted.
    var field: String?
  }

  private struct Shown: Equatable {
    let value: DBusValue?
    let field: String?
  }

  /// The requested keys; empty for all.
  let requests: [KeyArgument]
  private var known: [String: DBusValue] = [:]
  private var fields: [String: String] = [:]
  /// What was shown for each request; nil before anything was shown.
  private var shown: [Shown]?

  init(_ requests: [KeyArgument]) { self.requests = requests }

  /// Whether anything was shown.
  var hasBegun: Bool { shown != nil }

  /// Whether `key` is one that a request can stand for.
  func watches(_ key: String) -> Bool {
    requests.isEmpty || requests.contains { !$0.matches(among: [key]).isEmpty }
  }

  /// The keys that have a value.
  var keys: [String] { Array(known.keys) }

  /// Replaces all values with `values`, which are from `fields` if those are wanted.
  /// - Returns: the differences from what was shown; the first time, all requested keys.
  mutating func replace(with values: [String: DBusValue], of fields: [String: String] = [:]) -> [Change] {
    let vanished = known.keys.filter { values[$0] == nil }
    return update(
      (values.map { ($0.key, $0.value as DBusValue?) } + vanished.map { ($0, nil) })
        .sorted { NaturalOrder.precedes($0.key, $1.key) }, fields)
  }

  /// Takes in keys that have other values, nil for none.
  /// - Returns: what differs from what was shown; nothing before `replace`.
  mutating func apply(_ changes: [(key: String, value: DBusValue?)], of fields: [String: String] = [:]) -> [Change] {
    guard hasBegun else { return [] }
    return update(changes, fields)
  }

  private mutating func update(
    _ updates: [(key: String, value: DBusValue?)], _ fields: [String: String]
  ) -> [Change] {
    var changes: [Change] = []
    for (key, value) in updates {
      let field = value == nil ? nil : fields[key]
      guard known[key] != value || self.fields[key] != field else { continue }
      known[key] = value
      self.fields[key] = field
      if requests.isEmpty { changes.append(Change(key: key, value: value, field: field)) }
    }
    let now = requests.map { request in
      let key = whole(request)
      return Shown(
        value: key.flatMap { known[$0] }.flatMap { request.element(of: $0) }, field: key.flatMap { self.fields[$0] })
    }
    for (index, request) in requests.enumerated() where shown == nil || shown?[index] != now[index] {
      changes.append(Change(key: request.text, value: now[index].value, field: now[index].field))
    }
    shown = now
    return changes
  }

  /// The key with a value that `request` stands for.
  private func whole(_ request: KeyArgument) -> String? {
    if request.mayBeWhole, known[request.name] != nil { return request.name }
    let found = request.matches(among: known.keys)
    return found.count == 1 ? found[0] : nil
  }

  /// Checks that no request stands for several keys.
  /// - Throws: `CommandError` if one does.
  func requireUnambiguous() throws(CommandError) {
    for request in requests { _ = try request.resolved(among: known.keys) }
  }
}

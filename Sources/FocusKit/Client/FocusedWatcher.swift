internal import DBus
internal import DBusTypes
internal import FocusBus
internal import FocusContract

/// Keeps the cache as the daemon has it: one reading, and then signals.
///
/// What a signal says before the reply to the reading is at least as new as the reply, since the daemon sends every change
/// before the replies of the same turn.
final class FocusedWatcher {
  static let rules = [MatchRule.daemon, .properties(of: Focus1.focused), .properties(of: Focus1.root)]

  private let link: Link
  private let cache: FocusedCache
  /// Which daemon the next replies must belong to.
  private var session = 0
  /// What signals told since the reading under way began; nil while none is.
  private var told: Set<String>?
  private var commandsTold = false
  private var focusTold = false

  /// How often focus may have moved: what a key resolved to before says nothing of what it resolves to now.
  private(set) var moves = 0
  /// The field that has focus, or nil.
  private(set) var focusedField: ObjectPath?
  /// Called when the field that has focus is known, or is another.
  var onFocusMoved: (() -> Void)?

  init(_ link: Link, _ cache: FocusedCache) {
    self.link = link
    self.cache = cache
  }

  /// Reads everything anew.
  func begin() {
    session += 1
    moves += 1
    told = []
    commandsTold = false
    focusTold = false
    ask(.readAll()) { $0.take($1) }
    ask(.commands()) { if !$0.commandsTold { $0.cache.setCommands($1) } }
    ask(.focusedField()) { if !$0.focusTold { $0.setFocusedField($1) } }
  }

  /// Forgets everything.
  func end() {
    session += 1
    moves += 1
    told = nil
    focusedField = nil
    cache.clear()
  }

  private func ask<Reply>(_ call: Call<Reply>, _ handler: @escaping (FocusedWatcher, Reply) -> Void) {
    let session = session
    link.call(call) { [weak self] result in
      guard let self, session == self.session, case .success(let reply) = result else { return }
      handler(self, reply)
    }
  }

  private func take(_ readings: [String: Reading]) {
    let told = told ?? []
    self.told = nil
    for key in cache.known.keys where readings[key] == nil && !told.contains(key) { cache.set(key, nil) }
    for (key, reading) in readings where !told.contains(key) { cache.set(key, Known(reading, moves: moves)) }
  }

  /// Takes in what a signal of the daemon says of the properties of one of its objects.
  func received(_ path: ObjectPath, _ interface: String, _ changes: [(name: String, value: DBusValue?)]) {
    switch (path, interface) {
    case (Focus1.root, Focus1.manager.text):
      for (name, value) in changes {
        switch (name, value) {
        case ("FocusPath", _): focusMoved()
        case ("FocusedField", .objectPath(let path)?):
          focusTold = true
          setFocusedField(path == .root ? nil : path)
        default: break
        }
      }
    case (Focus1.focused, Focus1.bindings.text):
      guard let commands = changes.first(where: { $0.name == "Commands" })?.value?.commandStates else { return }
      commandsTold = true
      cache.setCommands(commands)
    case (Focus1.focused, _):
      for (name, value) in changes { tell("\(interface).\(name)", value) }
    default: break
    }
  }

  private func tell(_ key: String, _ value: DBusValue?) {
    told?.insert(key)
    cache.set(key, value.map { Known($0, after: cache.known(key), moves: moves) })
  }

  private func focusMoved() {
    moves += 1
    cache.moved(moves)
  }

  private func setFocusedField(_ path: ObjectPath?) {
    focusedField = path
    onFocusMoved?()
  }
}

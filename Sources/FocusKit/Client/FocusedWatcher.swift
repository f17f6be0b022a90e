internal import DBus
internal import DBusTypes
internal import FocusBus
internal import FocusContract

/// Keeps the cache as the daemon has it: signals bring values, and a reading behind them their fields and revisions.
///
/// What a signal says before the reply to a reading is at least as new as the reply, since the daemon sends every change
/// before the replies of the same turn; after such a reading comes another.
final class FocusedWatcher {
  static let rules = [MatchRule.daemon, .properties(of: Focus1.focused), .properties(of: Focus1.root)]

  private let link: Link
  private let cache: FocusedCache
  /// Which daemon, and which reading of it, the next reply must belong to.
  private var session = 0
  private var isReading = false
  private var mustReadAgain = false
  /// What signals told since the reading under way began.
  private var told: Set<String> = []
  private var commandsTold = false
  private var focusTold = false

  /// The field that has focus, or nil.
  private(set) var focusedField: ObjectPath?
  /// Called when the field that has focus is known, or is another.
  var onFocusMoved: (() -> Void)?
  /// Called when no reading is under way any more.
  var onSettled: (() -> Void)?

  init(_ link: Link, _ cache: FocusedCache) {
    self.link = link
    self.cache = cache
  }

  /// Whether no reading is under way or wanted.
  var isSettled: Bool { !isReading && !mustReadAgain }

  /// Reads everything anew.
  func begin() {
    session += 1
    isReading = false
    commandsTold = false
    focusTold = false
    read()
    ask(.commands()) { if !$0.commandsTold { $0.cache.setCommands($1) } }
    ask(.focusedField()) { if !$0.focusTold { $0.setFocusedField($1) } }
  }

  /// Forgets everything.
  func end() {
    session += 1
    isReading = false
    mustReadAgain = false
    focusedField = nil
    cache.clear()
    onSettled?()
  }

  private func ask<Reply>(_ call: Call<Reply>, _ handler: @escaping (FocusedWatcher, Reply) -> Void) {
    let session = session
    link.call(call) { [weak self] result in
      guard let self, session == self.session, case .success(let reply) = result else { return }
      handler(self, reply)
    }
  }

  /// Reads all values, once more after the reading that is under way.
  private func read() {
    guard !isReading else {
      mustReadAgain = true
      return
    }
    isReading = true
    mustReadAgain = false
    told = []
    let session = session
    link.call(.readAll()) { [weak self] result in
      guard let self, session == self.session else { return }
      isReading = false
      if case .success(let readings) = result { take(readings) }
      if mustReadAgain { read() } else { onSettled?() }
    }
  }

  private func take(_ readings: [String: Reading]) {
    let gone = cache.known.keys.filter { readings[$0] == nil }
    for (key, reading) in readings where !told.contains(key) {
      cache.set(key, Known(value: reading.value, origin: reading.origin))
    }
    for key in gone where !told.contains(key) { cache.set(key, nil) }
  }

  /// Takes in what a signal of the daemon says of the properties of one of its objects.
  func received(_ path: ObjectPath, _ interface: String, _ changes: [(name: String, value: DBusValue?)]) {
    switch (path, interface) {
    case (Focus1.root, Focus1.manager.text):
      guard let field = changes.first(where: { $0.name == "FocusedField" })?.value else { return }
      focusTold = true
      if case .objectPath(let path) = field { setFocusedField(path == .root ? nil : path) }
      read()
    case (Focus1.focused, Focus1.bindings.text):
      guard let commands = changes.first(where: { $0.name == "Commands" })?.value?.commandStates else { return }
      commandsTold = true
      cache.setCommands(commands)
    case (Focus1.focused, _):
      for (name, value) in changes {
        told.insert("\(interface).\(name)")
        cache.set("\(interface).\(name)", value.map { Known(value: $0) })
      }
      read()
    default: break
    }
  }

  private func setFocusedField(_ path: ObjectPath?) {
    focusedField = path
    onFocusMoved?()
  }
}

package import DBus
package import DBusTypes
internal import EventLoop
package import FocusContract

/// What the daemon shows of one object, kept as the daemon has it: one reading, and then signals.
///
/// It subscribes before it reads. What a signal says before the reply to the reading is at least as new as the reply, since
/// the daemon sends every change before the replies of the same turn: it replaces what the reply says. A reply that waits for
/// the owner of one key holds up no other: these are read one by one then.
package final class Mirror {
  /// A value that was received; a reading says of which state of which field it is, a signal does not.
  package struct Received: Sendable {
    package let value: DBusValue
    package let origin: Origin?
  }

  /// What came of reading one key; nil if it has no value.
  package typealias Reading = (key: String, result: Result<KeyReading?, DBusError>)

  /// An event for the mirror's follower.
  package enum Event {
    /// All values by key; a missing key's value is nil.
    case values([String: Received])
    /// The values could not be read.
    case failed(DBusError)
    /// Keys that have another value, or none.
    case changed([(key: String, value: DBusValue?)])
    /// The commands, and whether each is enabled.
    case commands([String: Bool])
    /// The focus path is another: what a key resolved to before says nothing of what it resolves to now.
    case focusMoved
    /// Which field has focus, nil for none.
    case focusedField(ObjectPath?)
    /// The daemon is gone.
    case ended
  }

  /// How long the reading of all may take before keys are read one by one, and how many keys are.
  private static let patience = Duration.milliseconds(100)
  private static let mostKeys = 1024

  private let link: Link
  private let path: ObjectPath
  private let followsValues: Bool
  private let followsFocus: Bool
  private let handler: (Event) -> Void
  /// Which reading the next replies must belong to: an older one may still come.
  private var reading = 0
  /// What signals changed since the reading under way began; nil without a reading.
  private var changedMeanwhile: [String: DBusValue?]?
  /// Whether focus has moved since each key is read, until what the daemon knows is handed over; nil otherwise.
  private var movedMeanwhile: Bool?
  /// Counts the questions for the commands, and the signals that tell them: only the answer to the newest counts.
  private var commandsAsked = 0
  private var hasFocus = false

  /// Follows the values of the object at `path` if `followsValues`, the commands and the focused field if `followsFocus`.
  package init(
    _ path: ObjectPath, on link: Link, followsValues: Bool = true, followsFocus: Bool = false,
    _ handler: @escaping (Event) -> Void
  ) {
    self.link = link
    self.path = path
    (self.followsValues, self.followsFocus) = (followsValues, followsFocus)
    self.handler = handler
  }

  /// The signals that the bus must send for it.
  package static func rules(for path: ObjectPath, followsFocus: Bool = false) -> [MatchRule] {
    [.properties(of: path)] + (followsFocus ? [.properties(of: Focus1.root)] : [])
      + (path == Focus1.focused ? [] : [.fields])
  }

  /// Reads everything again.
  package func begin() {
    reading += 1
    hasFocus = false
    if followsValues { readValues() }
    guard followsFocus else { return }
    askCommands()
    ask(.focusedField()) { if !$0.hasFocus, case .success(let field) = $1 { $0.handler(.focusedField(field)) } }
  }

  private func readValues() {
    (changedMeanwhile, movedMeanwhile) = ([:], nil)
    ask(.readAll(at: path)) { $0.take($1) }
    link.loop.schedule(after: Self.patience) { [weak self, number = reading] in
      guard let self, number == reading, changedMeanwhile != nil else { return }
      ask(.keys(at: path)) { $0.readEach($1) }
    }
  }

  /// Forgets everything: the daemon is gone.
  package func end() {
    reading += 1
    changedMeanwhile = nil
    handler(.ended)
  }

  private func ask<Reply>(
    _ call: DaemonCall<Reply>, _ handler: @escaping (Mirror, Result<Reply, DBusError>) -> Void
  ) {
    let number = reading
    link.call(call, patiently: true) { [weak self] result in
      // The connection ends its calls also when it outlives the mirror.
      guard let self, number == reading else { return }
      handler(self, result)
    }
  }

  private func askCommands() {
    commandsAsked += 1
    ask(.commands(at: path)) { [number = commandsAsked] mirror, result in
      if number == mirror.commandsAsked, case .success(let commands) = result { mirror.handler(.commands(commands)) }
    }
  }

  private func readEach(_ keys: Result<[String], DBusError>) {
    guard changedMeanwhile != nil, case .success(let keys) = keys, keys.count <= Self.mostKeys else { return }
    movedMeanwhile = false
    read(keys) { [weak self] in self?.take($0) }
  }

  /// Reads each of `keys`, and hands over together what the daemon knows, then the rest as it comes.
  ///
  /// The daemon answers what it knows in the order in which it was asked, and the rest later. Nothing is handed over once
  /// everything is read again, or the daemon is gone.
  package func read(_ keys: [String], _ handler: @escaping ([Reading]) -> Void) {
    var known: [Reading]? = []
    for key in keys {
      ask(.read(key, at: path)) { _, result in
        if known == nil { handler([(key, result)]) } else { known?.append((key, result)) }
      }
    }
    ask(.keys(at: path)) { _, _ in
      let readings = known ?? []
      known = nil
      handler(readings)
    }
  }

  private func take(_ readings: [Reading]) {
    guard let changed = changedMeanwhile else { return }
    let found = readings.compactMap { (key, result) in
      if case .success(let reading?) = result { (key, reading) } else { nil }
    }
    guard let hasMoved = movedMeanwhile else {
      let news = found.filter { changed[$0.0] == nil }.map { (key: $0, value: $1.value as DBusValue?) }
      return news.isEmpty ? () : handler(.changed(news))
    }
    movedMeanwhile = nil
    // After a move, what comes from another field may be of a session-scoped one.
    var values: [String: Received] = [:]
    for (key, reading) in found {
      values[key] = Received(value: reading.value, origin: hasMoved ? nil : reading.origin)
    }
    for (key, value) in changed { values[key] = value.map { Received(value: $0, origin: nil) } }
    handler(.values(values))
  }

  private func take(_ result: Result<[String: KeyReading], DBusError>) {
    let changed = changedMeanwhile ?? [:]
    (changedMeanwhile, movedMeanwhile) = (nil, nil)
    do throws(DBusError) {
      var values = try result.get().mapValues { Received(value: $0.value, origin: $0.origin) }
      for (key, value) in changed { values[key] = value.map { Received(value: $0, origin: nil) } }
      handler(.values(values))
    } catch {
      handler(.failed(error))
    }
  }

  /// Handles a signal of the daemon.
  package func received(_ signal: DaemonSignal) {
    switch signal {
    case .properties(path, Focus1.bindings.text, let changes):
      guard followsFocus, let change = changes.first(where: { $0.name == "Commands" }) else { return }
      // A long list is only told to be another.
      guard let commands = change.value?.commandStates else { return askCommands() }
      commandsAsked += 1
      handler(.commands(commands))
    case .properties(path, let interface, let changes):
      guard !Key.isReserved(interface), !changes.isEmpty else { return }
      let changes = changes.map { (key: "\(interface).\($0.name)", value: $0.value) }
      for (key, value) in changes { changedMeanwhile?.updateValue(value, forKey: key) }
      handler(.changed(changes))
    case .properties(Focus1.root, Focus1.manager.text, let changes) where followsFocus:
      focusChanged(changes, to: signal.focusedField)
    case .field(path, _): begin()
    case .properties, .field, .daemon: break
    }
  }

  private func focusChanged(_ changes: [(name: String, value: DBusValue?)], to field: ObjectPath?) {
    // Whoever learns which field has focus knows of the move.
    if changes.contains(where: { $0.name == "FocusPath" || $0.name == "SessionFields" }) {
      if movedMeanwhile != nil { movedMeanwhile = true }
      handler(.focusMoved)
    }
    guard let field else { return }
    hasFocus = true
    handler(.focusedField(field == .root ? nil : field))
  }
}

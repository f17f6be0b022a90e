internal import DBusTypes
internal import DaemonClient
internal import EventLoop
internal import FocusContract
internal import Synchronization

/// The focused values that the daemon published, by key; only the worker changes it.
final class FocusedCache: Sendable {
  private struct State {
    var slots: [String: Slot] = [:]
    var snapshots: [String: Snapshot] = [:]
    /// How often focus may have moved: what a key resolved to before says nothing of what it resolves to now.
    var moves = 0
    var commands: [String: Bool] = [:]
  }

  let status = ClientStatus()
  /// The calls of the client: what is assigned after one is another write than what was assigned before it.
  let calls = CallCount()
  private let state = Locked(State())
  private let mailbox: Worker.Letters

  init(_ mailbox: Worker.Letters) { self.mailbox = mailbox }

  func slot(_ key: String) -> Slot {
    state.withLock { state in
      if let slot = state.slots[key] { return slot }
      let slot = Slot(key, mailbox, calls, state.snapshots[key], state.commands[key])
      state.slots[key] = slot
      return slot
    }
  }

  /// Updates the cache from the daemon's message.
  func take(_ event: Mirror.Event) {
    switch event {
    case .values(let values):
      set(
        snapshots.keys.filter { values[$0] == nil }.map { ($0, nil) }
          + values.map { ($0, snapshot($0, $1.value, $1.origin)) })
    case .changed(let changes): set(changes.map { key, value in (key, value.map { snapshot(key, $0, nil) }) })
    case .commands(let commands): setCommands(commands)
    case .focusMoved:
      focusIsUnknown()
      let moves = moves
      set(snapshots.map { ($0, $1.moved(moves)) })
    case .ended:
      set(snapshots.keys.map { ($0, nil) })
      setCommands([:])
    case .focusedField, .failed: break
    }
  }

  /// Takes over what a key is now, of a field that no signal named.
  func learn(_ key: String, _ reading: KeyReading) {
    set([(key, snapshot(key, reading.value, reading.origin))])
  }

  private func snapshot(_ key: String, _ value: DBusValue, _ origin: Origin?) -> Snapshot {
    guard let origin else { return Snapshot(value, after: snapshots[key], moves: moves) }
    return Snapshot(value, origin, moves: moves)
  }

  /// Whoever is told of one of the keys reads what the others are now, too.
  private func set(_ news: [(key: String, snapshot: Snapshot?)]) {
    let slots = state.withLock { state in
      for (key, snapshot) in news { state.snapshots[key] = snapshot }
      return news.map { state.slots[$0.key] }
    }
    let changed = zip(slots, news).compactMap { slot, news in slot.flatMap { $0.confirm(news.snapshot) ? $0 : nil } }
    for slot in changed { slot.tell() }
  }

  private func setCommands(_ commands: [String: Bool]) {
    let slots = state.withLock { state in
      state.commands = commands
      return state.slots
    }
    for (key, slot) in slots { slot.setCommandEnabled(commands[key]) }
  }

  /// The snapshots by key.
  var snapshots: [String: Snapshot] { state.withLock { $0.snapshots } }

  /// How often focus may have moved.
  var moves: Int { state.withLock { $0.moves } }

  /// What was read before is of a focus that may have moved.
  func focusIsUnknown() { state.withLock { $0.moves += 1 } }
}

/// How many calls a client has made.
final class CallCount: Sendable {
  private let count = Atomic<UInt64>(0)

  var value: UInt64 { count.load(ordering: .acquiring) }

  func add() { count.add(1, ordering: .acquiringAndReleasing) }
}

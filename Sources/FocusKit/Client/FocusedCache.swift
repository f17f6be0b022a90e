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
      for key in snapshots.keys where values[key] == nil { set(key, nil) }
      for (key, told) in values { set(key, snapshot(key, told.value, told.origin)) }
    case .changed(let changes):
      for (key, value) in changes { set(key, value.map { snapshot(key, $0, nil) }) }
    case .commands(let commands): setCommands(commands)
    case .focusMoved:
      focusIsUnknown()
      let moves = moves
      for (key, snapshot) in snapshots { set(key, snapshot.moved(moves)) }
    case .ended:
      for key in snapshots.keys { set(key, nil) }
      setCommands([:])
    case .focusedField, .failed: break
    }
  }

  /// Takes over what a key is now, of a field that no signal named.
  func learn(_ key: String, _ reading: KeyReading) { set(key, snapshot(key, reading.value, reading.origin)) }

  private func snapshot(_ key: String, _ value: DBusValue, _ origin: Origin?) -> Snapshot {
    guard let origin else { return Snapshot(value, after: snapshots[key], moves: moves) }
    return Snapshot(value, origin, moves: moves)
  }

  private func set(_ key: String, _ snapshot: Snapshot?) {
    let slot = state.withLock { state in
      state.snapshots[key] = snapshot
      return state.slots[key]
    }
    slot?.confirm(snapshot)
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

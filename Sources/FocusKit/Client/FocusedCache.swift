internal import DBus
internal import DBusTypes
internal import EventLoop

/// All that is known of what is focused, by key; only the worker changes it.
final class FocusedCache: Sendable {
  private struct State {
    var slots: [String: Slot] = [:]
    var slotsByType: [ObjectIdentifier: Slot] = [:]
    var known: [String: Known] = [:]
    var commands: [String: Bool] = [:]
  }

  private let state = Locked(State())
  private let mailbox: Worker.Letters

  init(_ mailbox: Worker.Letters) { self.mailbox = mailbox }

  func slot(_ key: String) -> Slot {
    state.withLock { state in
      if let slot = state.slots[key] { return slot }
      let slot = Slot(key, mailbox, state.known[key], state.commands[key])
      state.slots[key] = slot
      return slot
    }
  }

  func slot<Key: FocusedValueKey>(_ key: Key.Type) -> Slot {
    let id = ObjectIdentifier(key)
    if let slot = state.withLock({ $0.slotsByType[id] }) { return slot }
    let slot = slot(Key.name)
    state.withLock { $0.slotsByType[id] = slot }
    return slot
  }

  /// Takes in what the daemon told of `key`.
  func set(_ key: String, _ known: Known?) {
    let slot = state.withLock { state in
      state.known[key] = known
      return state.slots[key]
    }
    slot?.confirm(known)
  }

  /// The values that are known, by key.
  var known: [String: Known] { state.withLock { $0.known } }

  /// What is known of `key`.
  func known(_ key: String) -> Known? { state.withLock { $0.known[key] } }

  /// Takes in which commands there are, and whether each is enabled.
  func setCommands(_ commands: [String: Bool]) {
    let slots = state.withLock { state in
      state.commands = commands
      return state.slots
    }
    for (key, slot) in slots { slot.setCommandEnabled(commands[key]) }
  }

  /// Forgets whose the values are: focus has moved.
  func moved(_ moves: Int) { for (key, known) in known { set(key, known.moved(moves)) } }

  /// Forgets everything: there is no daemon.
  func clear() {
    for key in known.keys { set(key, nil) }
    setCommands([:])
  }
}

internal import DBus
internal import DBusTypes
internal import FocusContract

/// Emits the changes of one object, so that none is lost to the next.
///
/// Values that change together are emitted together, in one signal for each interface.
/// The daemon emits the changes of one of its turns as one. So what must be seen by itself is emitted when the turn of what
/// came before is over, which the reply to a ping says. If changes come faster than that, only the last of each property
/// is emitted.
final class ChangeEmitter {
  private struct Change {
    /// Counts the changes as they came; one that replaces another that waits takes its place and number.
    let number: UInt64
    let key: Key
    /// Nil: the property has no value any more.
    var value: DBusValue?
    /// Changes of one group are emitted together.
    let group: UInt64
    /// Whether it must be seen after what came before, so that it needs a turn of its own.
    let takesTurn: Bool
  }

  /// How many changes may wait; from then on only the newest of each property does, until all have been emitted.
  private static let longestQueue = 256

  private let link: Link
  private let path: ObjectPath
  /// Whether each group of changes must be seen, so that it needs a turn of its own.
  private let takesTurns: Bool
  /// Whether the changes are for the daemon alone.
  private let isSensitive: Bool
  /// The values that were emitted last, and so what others may be answered.
  private(set) var emitted: [Key: DBusValue] = [:]
  private var latest: [Key: DBusValue?] = [:]
  private var waiting: [Change] = []
  private var next = 0
  private var lastNumber: UInt64 = 0
  private var lastGroup: UInt64 = 0
  private var isCoalescing = false
  private var mayShareTurn = false
  private var isAsking = false
  private var isEnded = false
  /// Those who wait until the change of a number, and all before it, have been emitted.
  private var waiters: [(number: UInt64, handler: () -> Void)] = []

  init(_ path: ObjectPath, _ link: Link, takesTurns: Bool, isSensitive: Bool) {
    self.path = path
    self.link = link
    self.takesTurns = takesTurns
    self.isSensitive = isSensitive
  }

  /// Whether a value of the property was noted: a change may wait before any was emitted.
  func knows(_ key: Key) -> Bool { latest[key] != nil }

  /// Notes the value that a property has from the start.
  func begin(_ key: Key, _ value: DBusValue?) {
    emitted[key] = value
    latest.updateValue(value, forKey: key)
  }

  /// Forgets the values of keys that are gone: what they have when they are back is no change.
  func forget(_ isGone: (Key) -> Bool) {
    emitted = emitted.filter { !isGone($0.key) }
    latest = latest.filter { !isGone($0.key) }
  }

  /// Emits values that differ from the previous ones, nil for none; all of them as one change.
  ///
  /// If they are `separate`, others see what came before without them.
  func emit(_ values: [(key: Key, value: DBusValue?)], separate: Bool = false) {
    lastGroup += 1
    for (key, value) in values { add(key, value, takesTurn: takesTurns || separate) }
    proceed()
  }

  private func add(_ key: Key, _ value: DBusValue?, takesTurn: Bool) {
    guard !isEnded, latest[key] != .some(value) else { return }
    latest.updateValue(value, forKey: key)
    if waiting.count - next >= Self.longestQueue, !isCoalescing { coalesce() }
    if isCoalescing, let index = waiting[next...].firstIndex(where: { $0.key == key }) {
      waiting[index].value = value
    } else {
      if next >= Self.longestQueue {
        waiting.removeFirst(next)
        next = 0
      }
      lastNumber += 1
      waiting.append(Change(number: lastNumber, key: key, value: value, group: lastGroup, takesTurn: takesTurn))
    }
  }

  /// Leaves the newest change of each property, in the place of the oldest.
  private func coalesce() {
    isCoalescing = true
    var places: [Key: Int] = [:]
    var kept: [Change] = []
    for change in waiting[next...] {
      if let place = places[change.key] {
        kept[place].value = change.value
      } else {
        places[change.key] = kept.count
        kept.append(change)
      }
    }
    waiting = kept
    next = 0
  }

  /// Calls `handler` when all changes until now have been emitted, or newer ones in their place.
  func afterAll(_ handler: @escaping () -> Void) {
    waiters.append((lastNumber, handler))
    proceed()
  }

  /// Nobody follows the object any more: whoever waits has nothing to wait for.
  func end() {
    isEnded = true
    (waiting, next) = ([], 0)
    proceed()
  }

  private func proceed() {
    while next < waiting.count, !waiting[next].takesTurn || !mayShareTurn || link.daemon == nil {
      emitGroup()
    }
    if next < waiting.count {
      ask()
    } else {
      waiting = []
      next = 0
      isCoalescing = false
    }
    let last = next < waiting.count ? waiting[next].number - 1 : lastNumber
    let due = waiters.prefix { $0.number <= last }
    waiters.removeFirst(due.count)
    for waiter in due { waiter.handler() }
  }

  /// Emits the changes of the next group, those of each interface in one signal.
  private func emitGroup() {
    let group = waiting[next].group
    mayShareTurn = true
    var interfaces: [InterfaceName] = []
    var parts: [InterfaceName: (changed: [(name: String, value: DBusValue)], invalidated: [String])] = [:]
    while next < waiting.count, waiting[next].group == group {
      let change = waiting[next]
      next += 1
      emitted[change.key] = change.value
      let interface = change.key.interface
      if parts[interface] == nil { interfaces.append(interface) }
      let name = change.key.member.text
      if let value = change.value {
        parts[interface, default: ([], [])].changed.append((name, value))
      } else {
        parts[interface, default: ([], [])].invalidated.append(name)
      }
    }
    let receiver = isSensitive ? link.owner : nil
    // Without a daemon nobody may know it.
    if isSensitive, receiver == nil { return }
    for interface in interfaces {
      guard let (changed, invalidated) = parts[interface] else { continue }
      let signal = try? OutgoingMessage.propertiesChanged(
        to: receiver, path: path, interface: interface, changed: changed, invalidated: invalidated)
      if let signal { link.send(signal) }
    }
  }

  private func ask() {
    guard !isAsking else { return }
    isAsking = true
    link.call(.ping()) { [weak self] _ in
      self?.isAsking = false
      self?.mayShareTurn = false
      self?.proceed()
    }
  }
}

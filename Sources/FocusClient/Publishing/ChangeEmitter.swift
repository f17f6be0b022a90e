internal import DBus
internal import DBusTypes
internal import FocusContract

/// Emits the changes of one object, so that none is lost to the next.
///
/// The daemon emits the changes of one of its turns as one. So a change is emitted when the turn of the one before is over,
/// which the reply to a ping says. If changes come faster than that, only the last of each property is emitted.
final class ChangeEmitter {
  private struct Change {
    /// Counts the changes as they came; one that replaces another that waits takes its place and number.
    let number: UInt64
    let key: Key
    /// Nil: the property has no value any more.
    var value: DBusValue?
    /// Changes of one group may share a turn of the daemon.
    let group: UInt64
  }

  /// How many changes may wait; from then on only the newest of each property does, until all have been emitted.
  private static let longestQueue = 256

  private let link: Link
  private let path: ObjectPath
  /// The values that were emitted last, and so what others may be answered.
  private(set) var emitted: [Key: DBusValue] = [:]
  private var latest: [Key: DBusValue?] = [:]
  private var waiting: [Change] = []
  private var next = 0
  private var lastNumber: UInt64 = 0
  private var lastGroup: UInt64 = 0
  /// The group of the change that was emitted last.
  private var emittedGroup: UInt64 = 0
  private var isCoalescing = false
  private var mayShareTurn = false
  private var isAsking = false
  /// Those who wait until the change of a number, and all before it, have been emitted.
  private var waiters: [(number: UInt64, handler: () -> Void)] = []

  init(_ path: ObjectPath, _ link: Link) {
    self.path = path
    self.link = link
  }

  /// Whether a value of the property was noted: a change may wait before any was emitted.
  func knows(_ key: Key) -> Bool { latest[key] != nil }

  /// Notes the value that a property has from the start.
  func begin(_ key: Key, _ value: DBusValue?) {
    emitted[key] = value
    latest.updateValue(value, forKey: key)
  }

  /// Emits values that differ from the previous ones, nil for none; all of them as one change.
  func emit(_ values: [(key: Key, value: DBusValue?)]) {
    lastGroup += 1
    for (key, value) in values { add(key, value) }
    proceed()
  }

  private func add(_ key: Key, _ value: DBusValue?) {
    guard latest[key] != .some(value) else { return }
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
      waiting.append(Change(number: lastNumber, key: key, value: value, group: lastGroup))
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

  private func proceed() {
    while next < waiting.count, !mayShareTurn || link.daemon == nil || waiting[next].group == emittedGroup {
      let change = waiting[next]
      next += 1
      emitted[change.key] = change.value
      emittedGroup = change.group
      mayShareTurn = true
      let name = change.key.member.text
      let signal = try? OutgoingMessage.propertiesChanged(
        path: path, interface: change.key.interface, changed: change.value.map { [(name: name, value: $0)] } ?? [],
        invalidated: change.value == nil ? [name] : [])
      if let signal { link.send(signal) }
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

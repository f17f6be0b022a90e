internal import DBus
internal import DBusTypes
internal import FocusContract

/// Emits the changes of one object, so that none is lost to the next.
///
/// The daemon emits the changes of one of its turns as one. So a change is emitted when the turn of the one before is over,
/// which the reply to a ping says. If changes come faster than that, only the last of each property is emitted.
final class ChangeEmitter {
  /// How many changes may wait; from then on only the newest of each property does, until all have been emitted.
  private static let longestQueue = 256

  private let link: Link
  private let path: ObjectPath
  /// The values that were emitted last, and so what others may be answered.
  private(set) var emitted: [Key: DBusValue] = [:]
  private var latest: [Key: DBusValue] = [:]
  private var waiting: [(key: Key, value: DBusValue)] = []
  private var next = 0
  private var isCoalescing = false
  private var mayShareTurn = false
  private var isAsking = false
  private var whenAllEmitted: [() -> Void] = []

  init(_ path: ObjectPath, _ link: Link) {
    self.path = path
    self.link = link
  }

  /// Notes the value that a property has from the start.
  func begin(_ key: Key, _ value: DBusValue) {
    emitted[key] = value
    latest[key] = value
  }

  /// Emits a value if it differs from the previous one.
  func emit(_ key: Key, _ value: DBusValue) {
    guard latest[key] != value else { return }
    latest[key] = value
    if waiting.count - next >= Self.longestQueue { isCoalescing = true }
    if isCoalescing {
      waiting = waiting[next...].filter { $0.key != key }
      next = 0
    }
    waiting.append((key, value))
    proceed()
  }

  /// Calls `handler` when all changes until now have been emitted.
  func afterAll(_ handler: @escaping () -> Void) {
    whenAllEmitted.append(handler)
    proceed()
  }

  private func proceed() {
    while next < waiting.count {
      if mayShareTurn, link.daemon != nil { return ask() }
      let (key, value) = waiting[next]
      next += 1
      emitted[key] = value
      mayShareTurn = true
      guard
        let signal = try? OutgoingMessage.propertiesChanged(
          path: path, interface: key.interface, changed: [(name: key.member.text, value: value)])
      else { continue }
      link.send(signal)
    }
    waiting = []
    next = 0
    isCoalescing = false
    let handlers = whenAllEmitted
    whenAllEmitted = []
    for handler in handlers { handler() }
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

internal import DBus
internal import DBusTypes
internal import FocusBus
internal import FocusContract

/// Tells the daemon of the changes of one object, so that none is lost to the next.
///
/// What one turn of the daemon brings is one change to whoever watches. So a change is told when the turn of the one before
/// is over, which the reply to a ping says.
final class ChangeTeller {
  private let link: Link
  private let path: ObjectPath
  /// What was told last, and so what others may be answered.
  private(set) var told: [Key: DBusValue] = [:]
  private var latest: [Key: DBusValue] = [:]
  private var waiting: [(key: Key, value: DBusValue)] = []
  private var next = 0
  private var mayShareTurn = false
  private var isAsking = false
  private var whenAllTold: [() -> Void] = []

  init(_ path: ObjectPath, _ link: Link) {
    self.path = path
    self.link = link
  }

  /// Notes the value that a property has from the start.
  func begin(_ key: Key, _ value: DBusValue) {
    told[key] = value
    latest[key] = value
  }

  /// Tells of a value, where it is another than the one before.
  func tell(_ key: Key, _ value: DBusValue) {
    guard latest[key] != value else { return }
    latest[key] = value
    waiting.append((key, value))
    proceed()
  }

  /// Calls `handler` when all that there is to tell now has been told.
  func afterAll(_ handler: @escaping () -> Void) {
    whenAllTold.append(handler)
    proceed()
  }

  private func proceed() {
    while next < waiting.count {
      if mayShareTurn, link.daemon != nil { return ask() }
      let (key, value) = waiting[next]
      next += 1
      told[key] = value
      mayShareTurn = true
      guard
        let signal = try? OutgoingMessage.propertiesChanged(
          path: path, interface: key.interface, changed: [(name: key.member.text, value: value)])
      else { continue }
      link.send(signal)
    }
    waiting = []
    next = 0
    let handlers = whenAllTold
    whenAllTold = []
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

package import DBusTypes

/// Which window a connection speaks for, if its title does not tell: the one in front when the program says that it is active.
package struct WindowWitness {
  /// How long the program's word may come before the window manager's.
  package static let distance = Duration.milliseconds(150)
  /// How long nothing else may be said until a word counts.
  package static let calm = Duration.milliseconds(300)

  private struct Word {
    let connection: BusName
    let time: SuspendingClock.Instant
    /// The window that it is for, the one in front when it comes, if it is the first that comes then.
    let window: WindowID?
  }

  /// The newest word.
  private var word: Word?
  private var front: WindowID?
  /// Whether the window in front has had one since it is there.
  private var isTaken = true

  package init() {}

  /// The connection that speaks for the window in front, if nothing else has been said for a while.
  package var connection: BusName? { word?.connection }

  /// A program says that the window which `connection` speaks for is active.
  package mutating func told(_ connection: BusName, at now: SuspendingClock.Instant) {
    let isRepeated = word?.connection == connection && word?.window != nil
    word = Word(connection: connection, time: now, window: !isTaken || isRepeated ? front : nil)
    isTaken = true
  }

  /// Another window is in front, or none: of a program that is late, or does not answer any more, the word is for the one before.
  package mutating func frontChanged(to window: WindowID?, at now: SuspendingClock.Instant) {
    front = window
    isTaken = true
    // With none in between, a program may have no reason to say it again.
    guard let window, word?.window != window else { return }
    isTaken = false
    if let last = word, last.window != nil || now - last.time > Self.distance { word = nil }
  }
}

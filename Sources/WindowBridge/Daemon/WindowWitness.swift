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
    /// Whether it is for the window that is in front when it comes: the first that comes then.
    let isForFront: Bool
  }

  /// The newest word.
  private var word: Word?
  /// Whether the window in front has had one since it is there.
  private var isTaken = true

  package init() {}

  /// The connection that speaks for the window in front, if nothing else has been said for a while.
  package var connection: BusName? { word?.connection }

  /// A program says that the window which `connection` speaks for is active.
  package mutating func told(_ connection: BusName, at now: SuspendingClock.Instant) {
    let isRepeated = word?.connection == connection && word?.isForFront == true
    word = Word(connection: connection, time: now, isForFront: !isTaken || isRepeated)
    isTaken = true
  }

  /// Another window is in front, or none: of a program that is late, or does not answer any more, the word is for the one before.
  package mutating func frontChanged(isNone: Bool, at now: SuspendingClock.Instant) {
    if let last = word, last.isForFront || now - last.time > Self.distance { word = nil }
    isTaken = isNone
  }
}

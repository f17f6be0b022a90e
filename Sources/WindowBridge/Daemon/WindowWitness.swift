package import DBusTypes

/// Which window a connection speaks for, if its title does not tell: the one that the window manager brings to the front as
/// the program says that it is active, if for a while neither says anything else.
package struct WindowWitness {
  /// How long apart the window manager and the program may tell the same.
  package static let distance = Duration.milliseconds(150)
  /// How long nothing else may follow.
  package static let calm = Duration.milliseconds(300)

  /// The connection that may speak for the window in front.
  package private(set) var connection: BusName?
  private var time: SuspendingClock.Instant?

  package init() {}

  /// A program says that the window which `connection` speaks for is active.
  package mutating func told(_ connection: BusName, at now: SuspendingClock.Instant) {
    (self.connection, time) = (connection, now)
  }

  /// Another window is in front: of a program that is late, or does not answer any more, the word is for the one before.
  package mutating func frontChanged(at now: SuspendingClock.Instant) {
    guard let time, now - time > Self.distance else { return }
    (connection, self.time) = (nil, nil)
  }
}

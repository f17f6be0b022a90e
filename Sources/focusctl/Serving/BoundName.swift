import DBus
import DBusTypes
import DaemonClient
import EventLoop
import FocusContract

/// One bus name, and its field while the name has an owner.
final class BoundName {
  /// How a registration ended that did not make a field, or that a name has no field any more.
  enum End {
    /// It has neither an owner nor a field, and awaits none.
    case finished
    /// The daemon is not there.
    case noDaemon(DBusError)
    /// The object is not there yet, or not as it must be; it is tried again.
    case delayed(DBusError)
    /// The daemon, or the object, refuses for good.
    case refused(DBusError)
  }

  private enum Stage {
    case idle
    case busy
    /// It is tried again when the timer is due.
    case waiting(TimerID)
    /// The owner's field is there.
    case registered(owner: Int)
  }

  private static let firstDelay = Duration.milliseconds(100)
  /// How long a daemon that cannot save is left alone.
  private static let unsavedDelay = Duration.seconds(1)
  /// How often the delay doubles, up to 25.6 s.
  private static let doublings = 8
  /// After so many attempts, which take 3 s, it is said that there is no field yet.
  private static let silentAttempts = 6

  let name: String
  let id: String
  private let link: Link
  private let options: Registration.Named
  private let ended: (BoundName, End) -> Void
  /// Counts the owners, so that each has a field of its own.
  private var owner = 0
  private var isPresent = false
  /// Whether the field of a former owner may still be there.
  private var isLeft = false
  private var stage = Stage.idle
  /// The owner that had a field last, and the one that has none because of an error.
  private var lastRegistered = 0
  private var givenUp = 0
  private var attempt = 0

  init(
    _ name: String, id: String, _ link: Link, _ options: Registration.Named,
    ended: @escaping (BoundName, End) -> Void
  ) {
    (self.name, self.id, self.link, self.options, self.ended) = (name, id, link, options, ended)
  }

  private var path: ObjectPath { FieldID(known: id).path }

  /// Another connection owns the name, or none does.
  func ownerChanged(isPresent: Bool) {
    self.isPresent = isPresent
    isLeft = isLeft || (owner > 0 && lastRegistered == owner)
    owner += 1
    attempt = 0
    stopWaiting()
    proceed()
  }

  /// The name has an owner, who may be known already.
  func isThere() { if !isPresent { ownerChanged(isPresent: true) } }

  /// The daemon is gone; a new one may still have the field.
  func daemonLeft() {
    givenUp = 0
    if case .registered = stage { stage = .idle }
    stopWaiting()
  }

  private func stopWaiting() {
    guard case .waiting(let timer) = stage else { return }
    link.loop.cancel(timer)
    stage = .idle
  }

  func proceed() {
    switch stage {
    case .busy, .waiting: break
    case .registered(let registered): if registered != owner { unregister() }
    case .idle:
      guard isPresent || isLeft else { return ended(self, .finished) }
      guard link.daemon != nil else { return }
      if isLeft { unregister() } else if isPresent, givenUp != owner { register() }
    }
  }

  /// Takes the field of a former owner away; the daemon has done so if that left the bus, and not only the name.
  private func unregister() {
    (stage, isLeft) = (.busy, true)
    link.call(.field(path, "Unregister"), patiently: true) { [weak self] result in
      guard let self else { return }
      stage = .idle
      if case .failure(let error) = result {
        if error.name == Focus1.ioError { return wait(BoundName.unsavedDelay) }
        if Self.isUnanswered(error) { return }
      }
      isLeft = false
      proceed()
    }
  }

  private func register() {
    stage = .busy
    let current = owner
    link.call(.register(id, [], options), patiently: true) { [weak self] result in
      guard let self else { return }
      stage = .idle
      switch result {
      case .success: registered(current)
      case .failure(let error): registrationFailed(error, current)
      }
    }
  }

  private func registered(_ current: Int) {
    (stage, lastRegistered, attempt) = (.registered(owner: current), current, 0)
    proceed()
  }

  private func registrationFailed(_ error: DBusError, _ current: Int) {
    guard current == owner else { return proceed() }
    switch error.name {
    case Focus1.fieldExists: reclaim(error, current)
    // The bus tells of the next owner.
    case Focus1.ownerGone: givenUp = current
    case _ where Self.isUnanswered(error): ended(self, .noDaemon(error))
    case .accessDenied: giveUp(error, current)
    // Others may leave room.
    case .limitsExceeded: retrySlowly(error)
    // Only what the daemon says of the object may be different later.
    case .invalidArgs where !error.message.hasPrefix("the object "): giveUp(error, current)
    default: retry(error)
    }
  }

  /// Whether the daemon did not answer; it is asked again when it is there.
  private static func isUnanswered(_ error: DBusError) -> Bool { error.meansNoDaemon || error.name == .disconnected }

  private func giveUp(_ error: DBusError, _ current: Int) {
    givenUp = current
    ended(self, .refused(error))
  }

  /// A program may own its name before its object is there.
  private func retry(_ error: DBusError) {
    attempt += 1
    if attempt == BoundName.silentAttempts { ended(self, .delayed(error)) }
    wait(BoundName.firstDelay * (1 << min(attempt - 1, BoundName.doublings)))
  }

  /// What others hold may be free again, but not in a moment: that is said at once.
  private func retrySlowly(_ error: DBusError) {
    attempt = max(attempt, BoundName.silentAttempts - 1)
    retry(error)
  }

  private func wait(_ delay: Duration) {
    stage = .waiting(
      link.loop.schedule(after: delay) { [weak self] in
        self?.stage = .idle
        self?.proceed()
      })
  }

  /// A daemon that came back has the fields of who is still on the bus.
  private func reclaim(_ error: DBusError, _ current: Int) {
    stage = .busy
    link.call(.owner(of: path), patiently: true) { [weak self] result in
      guard let self else { return }
      stage = .idle
      switch result {
      case .success(link.daemon?.connection.uniqueName?.text):
        if lastRegistered == current { registered(current) } else { unregister() }
      case _ where current != owner: proceed()
      // Who has its id may leave it.
      case .success: retrySlowly(error)
      case .failure(let error) where Self.isUnanswered(error): ended(self, .noDaemon(error))
      // The field has gone meanwhile.
      case .failure(let error): retry(error)
      }
    }
  }
}

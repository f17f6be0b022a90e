internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusModel
internal import ProgramSupport

/// A recovery under way: the saved fields are in the model, and the objects behind bound ones are being looked at.
final class Recovery {
  /// Whether there were any fields saved.
  let hasFields: Bool
  /// Whether calls were answered before, without any fields.
  let isLate: Bool
  /// What it waits for: looks at objects, and connections whose processes are being asked for.
  var awaited: Set<AnyHashable> = []
  /// What has arrived since it began, in that order.
  var held: [Arrival] = []
  /// The file descriptors of these.
  var heldDescriptors = 0
  /// Ends it, even if answers are still awaited.
  var deadline: TimerID?

  init(hasFields: Bool, isLate: Bool) {
    (self.hasFields, self.isLate) = (hasFields, isLate)
  }
}

/// What an earlier process has saved is there again before the next call is answered.
extension FocusService {
  /// How often a state file that another process uses is tried again: a daemon that ends releases its name first.
  private static let retries = 40
  /// How long the bus may take to tell the names on it.
  private static let busTime = Duration.seconds(5)

  /// Recovers what was saved, and turns the loop until that is done: nothing else turns it yet.
  func recoverAtStart(among names: Set<BusName>) {
    beginRecovery(among: names, isStart: true)
    while persistence.recovery != nil, connection.isConnected, !loop.isStopped { loop.turn() }
    if let recovery = persistence.recovery { end(recovery) }
    if persistence.mustReopen(isWanted: false) { recoverLater() }
  }

  /// Has the saved fields back, but those whose owners are not among `names`, and begins to look at the objects behind
  /// bound ones afresh: until its owner answers, a field is there without its object.
  private func beginRecovery(among names: Set<BusName>, isStart: Bool) {
    let retries = isStart ? FocusService.retries : 0
    let opened = persistence.open(retries: retries, isLate: !isStart) { [self] status, time in
      if isStart { onSlowStart?(status, time) }
    }
    guard let (found, bus, recovery) = opened else { return }
    let windowBridge = model.windowBridge
    adopt(found)
    // Names of another bus mean nothing here, also if one is the bridge's.
    model.setWindowBridge(bus == persistence.bus ? windowBridge : nil)
    for owner in model.connections where bus != persistence.bus || !names.contains(owner) { model.ownerLeft(owner) }
    // Nothing stands behind them yet.
    _ = model.takeRemoved()
    model.setWindowBridge(windowBridge)
    let looks = model.fieldsAwaitingObjects.compactMap { look(for: $0) }
    let owners = model.connections
    recovery.awaited = Set(looks.map { AnyHashable(ObjectIdentifier($0)) } + owners.map { AnyHashable($0) })
    guard !recovery.awaited.isEmpty else { return end(recovery) }
    recovery.deadline = loop.schedule(after: ownersTime) { [weak self] in self?.end(recovery) }
    for owner in owners { askProcess(of: owner) }
    for look in looks { begin(look) }
  }

  /// Ends the recovery that has waited for `answer` alone.
  func recoveryMayEnd(after answer: AnyHashable) {
    guard let recovery = persistence.recovery, recovery.awaited.remove(answer) != nil else { return }
    if recovery.awaited.isEmpty { end(recovery) }
  }

  /// Saves what is left of the fields, publishes them if clients have connected meanwhile, and goes on with what has
  /// arrived.
  private func end(_ ended: Recovery) {
    guard persistence.end(ended, model) else { return }
    // No signal is needed: the fields have not been shown to anyone yet.
    _ = model.settle()
    if let deadline = ended.deadline { loop.cancel(deadline) }
    model.endTurn()
    turn = Turn()
    if ended.hasFields { log.info("restored the saved state: \(status)") }
    if ended.isLate {
      emit(model.everything)
      sendOutbox()
    }
    for arrival in ended.held {
      if case .call(let message, _) = arrival { settle(before: message) }
      handle(arrival)
      if turn.outbox.isFull { endTurn() }
    }
  }

  /// Tries again, in a second, to open a state file that could not be opened.
  func recoverLater() {
    loop.schedule(after: .seconds(1)) { [weak self] in self?.recoverAgain() }
  }

  /// Asks who is on the bus, then recovers; who leaves after the answer waits in line.
  private func recoverAgain() {
    guard persistence.mayReopen() else { return recoverLater() }
    connection.askNames(timeout: FocusService.busTime) { [weak self] result in
      guard let self else { return }
      // Other effects of this turn are not a part of it.
      endTurn()
      do throws(DBusError) {
        beginRecovery(among: try result.get(), isStart: false)
      } catch {
        log.error("cannot list the connections on the bus: \(error.name)")
      }
      if persistence.isClosed { recoverLater() }
    }
  }
}

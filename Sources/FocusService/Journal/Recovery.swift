internal import DBus
internal import DBusTypes
internal import FocusModel

/// What arrives, and waits in line while the saved fields are being recovered.
enum Arrival {
  /// A method call.
  case call(Message)
  /// Someone has left the bus.
  case departure(BusName)
  /// The object of a field that is being registered has been looked at.
  case registration(BoundRegistration, Result<BoundObject, DBusError>)
}

/// A recovery under way: the saved fields are in the model, and the objects behind bound ones are being looked at.
final class Recovery {
  /// Whether there were any fields saved.
  let hasFields: Bool
  /// How many objects are being looked at.
  var awaited = 0
  /// What has arrived since it began, in that order.
  var held: [Arrival] = []
  /// Ends it, whatever still is awaited.
  var deadline: TimerID?

  init(hasFields: Bool) { self.hasFields = hasFields }
}

/// What an earlier process has saved is there again before the next call is answered.
extension FocusService {
  /// How long a state file that another process has is waited for: a daemon that ends lets go of its name first.
  private static let patience = 40
  /// How long owners of bound fields may take before others are answered: one of them may itself wait for an answer.
  ///
  /// With what reading the file takes, that is a second.
  private static let ownersTime = Duration.milliseconds(700)
  /// How long the bus may take to tell the names on it.
  private static let busTime = Duration.seconds(5)

  /// Recovers what was saved, and turns the loop until that is done: nobody else turns it yet.
  func recoverAtStart(among names: Set<BusName>) {
    beginRecovery(among: names, isStart: true)
    while recovery != nil, connection.isConnected, !loop.isStopped { loop.turn() }
    if let recovery { end(recovery) }
  }

  /// Has the saved fields back, but those whose owners are not among `names`, and begins to look at the objects behind
  /// bound ones afresh.
  ///
  /// A field whose owner does not answer in time is there without its object until the owner does.
  private func beginRecovery(among names: Set<BusName>, isStart: Bool) {
    let opened = Journal.open(StateFile(), patience: isStart ? FocusService.patience : 0) { [self] status, time in
      if isStart { onSlowStart?(status, time) }
    }
    if opened.problems != problems { opened.problems.forEach(log.error) }
    problems = opened.problems
    cannotSave = opened.journal == nil
    journal = opened.journal
    replacement = opened.replacement
    guard journal != nil || replacement != nil else { return }
    reserved = opened.reserved
    let before = model
    model = opened.model
    model.reserve(asIn: before)
    let isEmpty = model.fields.isEmpty
    let owners = Set(model.fields.values.compactMap(\.owner))
    for owner in owners where opened.bus != busID || !names.contains(owner) { _ = model.ownerLeft(owner) }
    journal?.bus = busID
    let recovery = Recovery(hasFields: !isEmpty)
    self.recovery = recovery
    let bound = model.awaitedObjects
    recovery.awaited = bound.count
    guard !bound.isEmpty else { return end(recovery) }
    recovery.deadline = loop.schedule(after: FocusService.ownersTime) { [weak self] in self?.end(recovery) }
    for field in bound {
      bindAgain(field.id, field.object, field.owner) { [weak self] in
        recovery.awaited -= 1
        if recovery.awaited == 0 { self?.end(recovery) }
      }
    }
  }

  /// Saves what is left of the fields, tells those of it who know nothing of them yet, and goes on with what has arrived
  /// meanwhile.
  private func end(_ ended: Recovery) {
    guard recovery === ended else { return }
    recovery = nil
    if let deadline = ended.deadline { loop.cancel(deadline) }
    _ = model.settle()
    do {
      try journal?.save(model)
      // Without a journal, everything is saved with the first change that can be.
      model.saved()
      reserved = journal?.reserved ?? reserved
    } catch {
      log.error("changes cannot be saved and are refused: \(error)")
      cannotSave = true
    }
    model.endTurn()
    steps = []
    outbox = Outbox()
    if ended.hasFields { log.info("restored the saved state: \(status)") }
    if willRecover {
      willRecover = false
      if !cannotSave { log.info("changes can be saved again") }
      announce(model.everything)
      sendOutbox()
    }
    for arrival in ended.held {
      handle(arrival)
      if outbox.isFull { endTurn() }
    }
  }

  /// Tries again, in a second, to open a state file that could not be opened.
  func recoverLater() {
    guard journal == nil, replacement == nil, !willRecover else { return }
    willRecover = true
    loop.schedule(after: .seconds(1)) { [weak self] in self?.recoverAgain() }
  }

  /// Asks who is on the bus, then recovers; who leaves after the answer waits in line.
  private func recoverAgain() {
    connection.askNames(timeout: FocusService.busTime) { [weak self] result in
      guard let self else { return }
      // Whatever else this turn has brought about is not a part of it.
      endTurn()
      do throws(DBusError) {
        beginRecovery(among: try result.get(), isStart: false)
      } catch {
        log.error("cannot list the connections on the bus: \(error.name)")
      }
      guard journal == nil, replacement == nil else { return }
      willRecover = false
      recoverLater()
    }
  }

  private func bindAgain(
    _ id: FieldID, _ saved: SavedField.SavedObject, _ owner: BusName, _ done: @escaping () -> Void = {}
  ) {
    let object = OwnedObject(owner: owner, path: saved.path)
    let registration = model.fields[id]?.registration
    examine(object, chosen: saved.interfaces) { [weak self] result in
      self?.examined(id, registration, object, saved, result)
      done()
    }
  }

  /// Whether the field `id` is the one that was saved, and still without its object.
  private func awaits(_ id: FieldID, _ registration: UInt64?, _ owner: BusName) -> Bool {
    guard let field = model.fields[id] else { return false }
    return field.isAwaitingObject && field.registration == registration && field.owner == owner
  }

  private func examined(
    _ id: FieldID, _ registration: UInt64?, _ object: OwnedObject, _ saved: SavedField.SavedObject,
    _ result: Result<BoundObject, DBusError>
  ) {
    guard awaits(id, registration, object.owner) else {
      if case .success = result { stopWatching(object) }
      return
    }
    do {
      let found = try result.get()
      try model.bind(found, disabled: saved.disabled, to: id)
      objects.setField(id, of: object)
      // That the object is there again changes nothing of what is saved: it is no change to be refused.
      ifNotSaved(nil) { [self] _ in try? model.bind(found, disabled: saved.disabled, to: id) }
    } catch {
      if case .success = result { stopWatching(object) }
      let name = DBusError(any: error).name
      guard name != .timeout else {
        log.debug("the owner of the field '\(id)' does not reply yet")
        loop.schedule(after: .seconds(1)) { [weak self] in
          guard self?.awaits(id, registration, object.owner) == true else { return }
          self?.bindAgain(id, saved, object.owner)
        }
        return
      }
      // Only the error's name: what an owner says of it may hold a value.
      log.info("the field '\(id)' was not restored: \(name)")
      ifNotSaved(nil) { [self] _ in announce((try? model.unregister(id, by: object.owner)) ?? []) }
      announce((try? model.unregister(id, by: object.owner)) ?? [])
    }
  }
}

internal import DBus
internal import DBusTypes
internal import FocusModel

/// The start: what an earlier process has saved is there again before the first call is answered.
extension FocusService {
  /// How long a state file that another process has is waited for: a daemon that ends lets go of its name first.
  private static let patience = 40
  /// How long owners of bound fields may take before others are answered: one of them may itself wait for an answer.
  ///
  /// With what reading the file takes, that is a second.
  private static let ownersTime = Duration.milliseconds(700)

  /// Has the saved fields back, but those whose owners have left, and looks at the objects behind bound ones afresh.
  ///
  /// A field whose owner does not answer in time is there without its object until the owner does.
  func recover(on bus: (id: String, names: Set<BusName>)) {
    let opened = Journal.open(StateFile(), patience: hasRecovered ? 0 : FocusService.patience) { [self] status, time in
      if !hasRecovered { onSlowStart?(status, time) }
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
    for owner in owners where opened.bus != bus.id || !bus.names.contains(owner) { _ = model.ownerLeft(owner) }
    journal?.bus = bus.id
    isRecovering = true
    let deadline = SuspendingClock.now + FocusService.ownersTime
    var left = 0
    for field in model.awaitedObjects {
      left += 1
      bindAgain(field.id, field.object, field.owner) { left -= 1 }
    }
    while left > 0, connection.isConnected, !loop.isStopped, SuspendingClock.now < deadline {
      loop.turn(waitingAtMost: deadline - SuspendingClock.now)
    }
    isRecovering = false
    _ = model.settle()
    do {
      try journal?.save(model)
      // Without a journal, everything is saved with the first change that can be.
      model.saved()
      reserved = journal?.reserved ?? reserved
    } catch {
      log.error("changes cannot be saved, and are refused: \(error)")
      cannotSave = true
    }
    model.endTurn()
    steps = []
    outbox = Outbox()
    if !isEmpty { log.info("\(status), as saved") }
    let waiting = held
    held = []
    for next in waiting { next() }
  }

  /// Tries again, in a second, to open a state file that could not be opened.
  func recoverLater() {
    guard journal == nil, replacement == nil, !willRecover else { return }
    willRecover = true
    loop.schedule(after: .seconds(1)) { [weak self] in self?.recoverAgain() }
  }

  private func recoverAgain() {
    willRecover = false
    // Whatever else this turn has brought about is not a part of it.
    endTurn()
    do {
      recover(on: try connection.survey())
      guard journal != nil else { return }
      log.info("changes can be saved again")
      announce(model.everything)
    } catch {
      log.error("the state file could not be opened: \(error.name)")
    }
  }

  private func bindAgain(
    _ id: FieldID, _ saved: SavedField.SavedObject, _ owner: BusName, _ done: @escaping () -> Void = {}
  ) {
    let object = OwnedObject(owner: owner, path: saved.path)
    examine(object, chosen: saved.interfaces) { [weak self] result in
      self?.examined(id, object, saved, result)
      done()
    }
  }

  private func examined(
    _ id: FieldID, _ object: OwnedObject, _ saved: SavedField.SavedObject, _ result: Result<BoundObject, DBusError>
  ) {
    do {
      let found = try result.get()
      try model.bind(found, disabled: saved.disabled, to: id)
      object.values = [:]
      objects.setField(id, of: object)
      // That the object is there again changes nothing of what is saved: it is no change to be refused.
      ifNotSaved(nil) { [self] _ in try? model.bind(found, disabled: saved.disabled, to: id) }
    } catch {
      if case .success = result { stopWatching(object) }
      let name = DBusError(any: error).name
      guard model.fields[id]?.owner == object.owner else { return }
      guard name != .timeout else {
        log.debug("the owner of the field '\(id)' does not answer yet")
        loop.schedule(after: .seconds(1)) { [weak self] in
          guard self?.model.fields[id]?.owner == object.owner else { return }
          self?.bindAgain(id, saved, object.owner)
        }
        return
      }
      // Only the error's name: what an owner says of it may hold a value.
      log.info("the field '\(id)' is not back: \(name)")
      ifNotSaved(nil) { [self] _ in announce((try? model.unregister(id, by: object.owner)) ?? []) }
      announce((try? model.unregister(id, by: object.owner)) ?? [])
    }
  }
}

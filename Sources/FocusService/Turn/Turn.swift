internal import DBus
internal import DBusTypes
internal import FocusModel

/// What has to be done anew where a turn's changes cannot be saved.
enum TurnStep {
  /// A method call, whose reply then does not hold.
  case call(Message, PendingReply)
  /// Something else: the reply that was given to it, and what can be done without saving.
  case other(PendingReply?, withoutSaving: (DBusError) -> Void)

  var reply: PendingReply? {
    switch self {
    case .call(_, let reply): reply
    case .other(let reply, _): reply
    }
  }
}

/// A turn's end: changes are saved, then told, then replied to.
extension FocusService {
  /// Has `redo` called where what the turn has changed cannot be saved, after that has been taken back.
  func ifNotSaved(_ reply: PendingReply?, _ redo: @escaping (DBusError) -> Void) {
    steps.append(.other(reply, withoutSaving: redo))
  }

  /// Saves and sends what the turn has brought about.
  func endTurn() {
    guard !persistence.isRecovering else { return }
    announce(model.settle())
    if persistence.mustSave(model) { save() }
    model.endTurn()
    if !steps.isEmpty { steps.removeAll(keepingCapacity: true) }
    for released in leaving { stopWatching(released.object) }
    if !leaving.isEmpty { leaving = [] }
    sendOutbox()
  }

  /// Sends what is in the outbox.
  func sendOutbox() {
    guard !outbox.isEmpty else { return }
    if outbox.hasSignals { onChange?() }
    do {
      try outbox.send(on: connection)
    } catch {
      log.error("cannot send to the bus: \(error.message)")
    }
  }

  /// `reading`, for a reply that tells its revision.
  /// - Throws: `DBusError.ioError` for one that is not reserved, which a later process would use for another state: what
  ///   owners tell of their objects takes revisions too, also while nothing can be saved.
  func told(_ reading: Reading) throws(DBusError) -> Reading {
    try checkReserved(reading.revision)
    return reading
  }

  private func checkReserved(_ revision: UInt64) throws(DBusError) {
    guard revision <= persistence.reserved else {
      throw DBusError(.ioError, "revision \(revision) cannot be saved: read the property, which needs none")
    }
  }

  /// Checks that the next revision can be told.
  /// - Throws: `DBusError.ioError` as `told` does.
  func checkRevisions() throws(DBusError) {
    // With the turn's end more are reserved, if that is possible by now.
    if model.revision >= persistence.reserved {
      persistence.tryAgainSoon()
      endTurn()
    }
    try checkReserved(model.revision + 1)
  }

  private func save() {
    guard case .refused(let error, let reopens) = persistence.save(model) else { return }
    if reopens { recoverLater() }
    // Without changes there is nothing to refuse: the revisions that are reserved still last.
    if model.hasTurnChanges { takeBack(error) }
  }

  private func takeBack(_ error: DBusError) {
    let failed = steps
    steps = []
    outbox.takeBack(failed.compactMap(\.reply))
    model.rollBack()
    for released in leaving { objects.setField(released.id, of: released.object) }
    leaving = []
    for step in failed {
      switch step {
      case .call(let message, let reply): answer(message, reply, refusingChanges: error)
      case .other(_, let withoutSaving): withoutSaving(error)
      }
    }
    announce(model.settle())
  }
}

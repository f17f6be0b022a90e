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
    guard recovery == nil else { return }
    announce(model.settle())
    if model.hasTurnChanges || ((model.hasUnsavedChanges || mustReserve) && maySaveAgain) { save() }
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
    guard revision <= reserved else {
      throw DBusError(.ioError, "revision \(revision) cannot be saved: read the property, which needs no revision")
    }
  }

  /// Checks that the next revision can be told.
  /// - Throws: `DBusError.ioError` as `told` does.
  func checkRevisions() throws(DBusError) {
    // With the turn's end more are reserved, if that is possible by now.
    if model.revision >= reserved {
      lastFailure = .now - .seconds(1)
      endTurn()
    }
    try checkReserved(model.revision + 1)
  }

  private var mustReserve: Bool {
    guard let journal else { return replacement != nil && model.revision >= reserved }
    return journal.mustReserve(for: model)
  }

  /// Whether what is not of this turn should be saved now: what failed is tried again once a second.
  private var maySaveAgain: Bool { !cannotSave || SuspendingClock.now >= lastFailure + .seconds(1) }

  private func save() {
    do {
      let hasWritten = try write()
      model.saved()
      reserved = journal?.reserved ?? reserved
      if hasWritten, cannotSave {
        cannotSave = false
        log.info("changes can be saved again")
      }
    } catch {
      let reason = DBusError(any: error).message
      recoverLater()
      lastFailure = .now
      if !cannotSave {
        cannotSave = true
        log.error("changes cannot be saved and are refused: \(reason)")
      }
      // Without changes there is nothing to refuse: the revisions that are reserved still last.
      guard model.hasTurnChanges else { return }
      takeBack(DBusError(.ioError, "the change cannot be saved and was not made: \(reason)"))
    }
  }

  /// - Returns: whether there was anything to write.
  private func write() throws -> Bool {
    guard replacement == nil else { return try replaceJournal() }
    guard journal != nil else { throw DBusError(.ioError, problems.last ?? "there is no state file") }
    do {
      // Nothing else may hold the journal: to replace it, it is closed.
      return try journal?.save(model) ?? false
    } catch let error as DatabaseError where error.isDamage {
      try replaceDamaged()
    } catch is StateFileGone {
      replaceGone()
    }
    return try replaceJournal()
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

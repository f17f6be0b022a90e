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
    if model.hasUnsavedChanges { save() }
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
      log.error("the bus takes no messages: \(error.message)")
    }
  }

  private func save() {
    do {
      let hasWritten = try write()
      model.saved()
      if hasWritten, cannotSave {
        cannotSave = false
        log.info("changes can be saved again")
      }
    } catch {
      let reason = DBusError(any: error).message
      recoverLater()
      if !cannotSave {
        cannotSave = true
        log.error("changes cannot be saved, and are refused: \(reason)")
      }
      takeBack(DBusError(.ioError, "the change cannot be saved, and was not made: \(reason)"))
    }
  }

  /// - Returns: whether there was anything to write.
  private func write() throws -> Bool {
    guard !isReplacing else { return try replaceJournal() }
    guard let journal else { throw DBusError(.ioError, problems.last ?? "there is no state file") }
    do {
      return try journal.save(model)
    } catch let error as DatabaseError where error.isDamage {
      return try replaceJournal()
    }
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

internal import DBus
internal import DBusTypes
internal import FocusModel
internal import ProgramSupport

/// What a turn of the loop has brought about.
struct Turn {
  /// The messages to send at its end.
  var outbox = Outbox()
  /// What was handled, and may have changed something.
  var handled: [Arrival] = []

  /// Takes back what would be sent of what was handled.
  /// - Returns: what was handled.
  mutating func takeBack() -> [Arrival] {
    defer { handled = [] }
    outbox.takeBack(handled.compactMap(\.reply))
    return handled
  }
}

/// A turn's end: changes are saved, then published, then replied to.
extension FocusService {
  /// Saves and sends what the turn has brought about.
  func endTurn() {
    guard !persistence.isRecovering else { return }
    emit(model.settle())
    if persistence.mustSave(model), let (refusal, reopens) = persistence.save(model) {
      if reopens { recoverLater() }
      // Without changes there is nothing to refuse: the revisions that are reserved still last.
      if model.hasTurnChanges { takeBack(refusal) }
    }
    model.endTurn()
    if !turn.handled.isEmpty { turn.handled.removeAll(keepingCapacity: true) }
    for rule in objects.endTurn(ownerCalls) { connection.changeMatch(.remove, rule) }
    sendOutbox()
  }

  /// Sends what is in the outbox.
  func sendOutbox() {
    guard !turn.outbox.isEmpty else { return }
    if turn.outbox.hasSignals { onChange?() }
    do {
      try turn.outbox.send(on: connection)
    } catch {
      log.error("cannot send to the bus: \(error.message)")
    }
  }

  private func takeBack(_ error: DBusError) {
    let handled = turn.takeBack()
    model.rollBack()
    let lost = objects.takeBack(model)
    for arrival in handled { handle(arrival, refusing: error) }
    for (object, keys) in lost where !object.fields.isEmpty { for key in keys { becameStale(key, of: object) } }
    emit(model.settle())
  }

  /// Publishes `changes` at the end of the turn, before the replies of what caused them.
  func emit(_ changes: [Change]) {
    var emitter = Emitter()
    for change in changes {
      if case .fieldChanged(let id, .active) = change { checkActivity(besides: id) }
      if case .fieldAdded(let id) = change { findProcess(of: id) }
      do {
        try emitter.tell(of: change, model, &turn.outbox)
      } catch {
        log.error("a change could not be published: \(error.name)")
      }
    }
  }

  /// Sends `signal` at the end of the turn, after the signals of what has changed before.
  func post(signal: OutgoingMessage) {
    emit(model.settle())
    turn.outbox.add(signal: signal)
  }

  /// Sends `reply` at the end of the turn, after the signals of what has changed before.
  func post(reply: OutgoingMessage, of origin: PendingReply) {
    if origin.showsValues {
      emit(model.settle())
    } else if turn.outbox.showsValues {
      // Signals that follow a reply that shows values must still come before the replies of what caused them.
      turn.outbox.seal()
    }
    turn.outbox.add(reply: reply, of: origin)
  }
}

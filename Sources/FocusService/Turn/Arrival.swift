internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel
internal import ProgramSupport

/// An event that is handled in its turn, and handled again if the turn's changes cannot be saved.
enum Arrival {
  /// A method call.
  case call(Message, PendingReply)
  /// Someone has left the bus.
  case departure(BusName)
  /// A bridge's name has another owner, or none.
  case bridge(BusName, owner: BusName?)
  /// A look at an owner's object has ended.
  case look(Look)
  /// What a call needs has been asked for; it returns nil if more is.
  case answered(PendingReply, changes: Bool, (FocusService) throws -> MessageBody?)

  /// The reply that was given in the turn, or nil.
  var reply: PendingReply? {
    switch self {
    case .call(_, let reply), .answered(let reply, _, _): reply
    case .look(let look): if case .registration(let registration) = look.purpose { registration.reply } else { nil }
    case .departure, .bridge: nil
    }
  }
}

/// From a message, or an owner's answer, to what is done about it.
extension FocusService {
  /// Handles `message`, or has it wait while the saved fields are being recovered.
  func receive(_ message: Message) {
    settle(before: message)
    switch message.kind {
    case .methodCall: deliver(.call(message, PendingReply(to: message, self)))
    case .signal where message.sender == .bus: ownerMayHaveChanged(message)
    case .signal: ownerEmitted(message)
    case .methodReturn, .error, .other: break
    }
    if turn.outbox.isFull { endTurn() }
  }

  /// Publishes what others than the sender have written, so that two clients' changes of one value are two signals.
  func settle(before message: Message) {
    if model.hasWrites(byOthersThan: message.sender) { emit(model.settle()) }
  }

  /// Handles what has arrived, or has it wait in line while the saved fields are being recovered.
  func deliver(_ arrival: Arrival) {
    guard let recovery = persistence.recovery else { return handle(arrival) }
    if case .call(let message, let reply) = arrival {
      let count = message.descriptorCount
      guard count == 0 || recovery.heldDescriptors + count <= Limits.waitingDescriptors else {
        return reply.refuseAtOnce(
          DBusError(
            .limitsExceeded, "calls that wait may carry \(Limits.waitingDescriptors) file descriptors in all"))
      }
      recovery.heldDescriptors += count
    }
    recovery.held.append(arrival)
    // The recovery does not wait for an answer that cannot come.
    if case .departure(let owner) = arrival { ownerCalls.ownerLeft(owner) }
  }

  /// Handles what has arrived; if it was handled before and taken back, `refusal` says why changes cannot be saved, and what
  /// needs no saving is done all the same.
  func handle(_ arrival: Arrival, refusing refusal: DBusError? = nil) {
    // What follows from who owns a name is done again if the turn is taken back.
    var isDone = true
    switch arrival {
    case .call(let message, let reply):
      isDone = reply.answer { try perform(message, reply, refusingChanges: refusal) }
    case .look(let look): isDone = complete(look, refusing: refusal)
    case .answered(let reply, let changes, let body):
      isDone = reply.answer {
        if changes, let refusal { throw refusal }
        do { return try body(self) } catch ModelError.noSuchField(let id) {
          // It was there when the call came.
          throw DBusError(.unknownObject, "the field '\(id)' has been unregistered meanwhile")
        }
      }
    case .departure(let owner): return ownerLeft(owner)
    case .bridge(let name, let owner):
      bridges.setOwner(of: name, owner)
      if name == Focus1.windowBridge { model.setWindowBridge(owner) }
    }
    for id in model.takeRemoved() { objects.fieldRemoved(id) }
    if isDone, refusal == nil { turn.handled.append(arrival) }
  }

  /// Takes note that `owner` has left, in a turn of its own: nobody is told that it is saved, and a later process would see
  /// that `owner` is not there.
  private func ownerLeft(_ owner: BusName) {
    endRequests(to: owner)
    ownerCalls.ownerLeft(owner)
    endTurn()
    let hasFields = !model.fields(endingWith: owner).isEmpty
    model.ownerLeft(owner)
    for id in model.takeRemoved() { objects.fieldRemoved(id) }
    if hasFields { log.debug("\(owner) left the bus: \(status)") }
    forgetProcess(of: owner)
    endTurn(savesLater: true)
  }

  private func ownerMayHaveChanged(_ message: Message) {
    guard let change = message.nameOwnerChange else { return }
    let name = change.name
    if Bridges.isName(name) {
      deliver(.bridge(name, owner: change.now))
    } else if change.now == nil {
      for registration in registrations.values where registration.owner == name { registrantLeft(registration) }
      deliver(.departure(name))
    }
  }
}

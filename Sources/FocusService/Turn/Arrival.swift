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
  /// The bus has said which names are on it, among them those that a window is to adopt.
  indirect case adoption(Adoption, Result<Set<BusName>, DBusError>)
  /// The object of a field that is being registered has been introspected.
  indirect case registration(BoundRegistration, Result<BoundObject, DBusError>)
  /// The object of a saved field has been introspected.
  indirect case rebinding(Rebinding, Result<BoundObject, DBusError>)

  /// The reply that was given in the turn, or nil.
  var reply: PendingReply? {
    switch self {
    case .call(_, let reply): reply
    case .registration(let registration, _): registration.reply
    case .adoption(let adoption, _): adoption.reply
    case .departure, .bridge, .rebinding: nil
    }
  }
}

/// From a message, or an owner's answer, to what is done about it.
extension FocusService {
  /// Handles `message`, or has it wait while the saved fields are being recovered.
  func receive(_ message: Message) {
    if let series = turn.series, !series.mayGoOn(with: message) { endSeries() }
    switch message.kind {
    case .methodCall: arrived(.call(message, PendingReply(to: message, self)))
    case .signal where message.sender == .bus: ownerMayHaveChanged(message)
    case .signal: ownerEmitted(message)
    case .methodReturn, .error, .other: break
    }
    if turn.outbox.isFull { endTurn() }
  }

  /// Handles what has arrived, or has it wait in line while the saved fields are being recovered.
  func arrived(_ arrival: Arrival) {
    guard let recovery = persistence.recovery else { return handle(arrival) }
    recovery.held.append(arrival)
    // The recovery does not wait for an answer that cannot come.
    if case .departure(let owner) = arrival { ownerCalls.ownerLeft(owner) }
  }

  /// Handles what has arrived.
  /// - Parameters:
  ///   - arrival: what has arrived.
  ///   - refusal: why changes cannot be saved, if that was handled before and taken back: what needs no saving is done all
  ///     the same.
  func handle(_ arrival: Arrival, refusing refusal: DBusError? = nil) {
    let isDone =
      switch arrival {
      case .call(let message, let reply): answer(message, reply, refusingChanges: refusal)
      case .registration(let registration, let result): complete(registration, result, refusing: refusal)
      case .departure(let owner): ownerLeft(owner)
      case .bridge(let name, let owner): bridgeChanged(name, owner)
      case .adoption(let adoption, let names): complete(adoption, names, refusing: refusal)
      case .rebinding(let rebinding, let result): complete(rebinding, result)
      }
    if isDone, refusal == nil { turn.record(arrival) }
  }

  private func ownerMayHaveChanged(_ message: Message) {
    guard message.isSignal(.bus, MemberName(known: "NameOwnerChanged")),
      let arguments = try? message.arguments(), arguments.count == 3,
      case .string(let text) = arguments[0], case .string(let owner) = arguments[2]
    else { return }
    let name = BusName(known: text)
    if Bridges.isName(name) {
      arrived(.bridge(name, owner: owner.isEmpty ? nil : BusName(known: owner)))
    } else if owner.isEmpty {
      registrants.left(name)
      arrived(.departure(name))
    }
  }

  /// - Returns: true: what follows from it is done again if the turn is taken back.
  private func bridgeChanged(_ name: BusName, _ owner: BusName?) -> Bool {
    bridges.setOwner(of: name, owner)
    if name == Focus1.windowBridge { emit(model.setWindowBridge(owner)) }
    return true
  }

  /// - Returns: true: a field that was unregistered before in the turn is the owner's again if that is taken back.
  private func ownerLeft(_ owner: BusName) -> Bool {
    ownerCalls.ownerLeft(owner)
    failWrites(to: owner)
    let changes = model.ownerLeft(owner)
    if !changes.isEmpty { log.debug("\(owner) left the bus: \(status)") }
    emit(changes)
    forgetProcess(of: owner)
    return true
  }
}

internal import DBus
internal import DBusTypes
internal import EventLoop
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

/// The messages that a turn of the loop sends at its end: signals before the replies of the calls that caused them, and no
/// value in a reply that is older than one in a signal before it.
struct Outbox {
  /// How many bytes may wait for the end of a turn before what is done so far is sent.
  private static let comfortableSize = 8 << 20

  private struct Item {
    let message: OutgoingMessage
    /// The call that it replies to, or nil for a signal.
    let origin: PendingReply?
    /// Whether it is a signal of a change, which is not sent if that is not saved.
    let tellsOfChange: Bool
  }

  /// Messages whose order is final: they are sent first.
  private var sealed: [Item] = []
  private var signals: [Item] = []
  private var replies: [Item] = []
  private var size = 0
  private(set) var hasSignals = false
  /// Whether a reply that shows values would be overtaken by the next signal.
  private(set) var showsValues = false

  var isEmpty: Bool { sealed.isEmpty && signals.isEmpty && replies.isEmpty }
  /// Whether so much waits that the turn should end early.
  var isFull: Bool { size > Outbox.comfortableSize }

  /// Adds a signal before the replies that are in the box, unless one of them shows values.
  mutating func add(signal: OutgoingMessage, tellsOfChange: Bool = false) {
    if showsValues { seal() }
    signals.append(Item(message: signal, origin: nil, tellsOfChange: tellsOfChange))
    hasSignals = true
    size += signal.bodySize
  }

  /// Adds a signal that tells of a change, likewise.
  mutating func add(change signal: OutgoingMessage) { add(signal: signal, tellsOfChange: true) }

  mutating func add(reply: OutgoingMessage, of origin: PendingReply) {
    replies.append(Item(message: reply, origin: origin, tellsOfChange: false))
    if origin.showsValues { showsValues = true }
    size += reply.bodySize
  }

  /// Sends what follows after what is in the box.
  mutating func seal() {
    sealed += signals
    sealed += replies
    signals.removeAll(keepingCapacity: true)
    replies.removeAll(keepingCapacity: true)
    showsValues = false
  }

  /// Takes back the signals that tell of changes, and the replies of `unsaved`, since the changes were not made.
  ///
  /// What is told all the same is told next: before the replies that came after its signal.
  mutating func takeBack(_ unsaved: [PendingReply]) {
    let unsaved = Set(unsaved.map { ObjectIdentifier($0) })
    seal()
    let end = sealed.firstIndex(where: \.tellsOfChange) ?? sealed.endIndex
    let later = sealed[end...].filter { !$0.tellsOfChange }
    sealed.removeSubrange(end...)
    (signals, replies) = (later.filter { $0.origin == nil }, later.filter { $0.origin != nil })
    let isUnsaved = { (item: Item) in item.origin.map { unsaved.contains(ObjectIdentifier($0)) } ?? false }
    sealed.removeAll(where: isUnsaved)
    replies.removeAll(where: isUnsaved)
    hasSignals = !signals.isEmpty || sealed.contains { $0.origin == nil }
    size = [sealed, signals, replies].joined().reduce(0) { $0 + $1.message.bodySize }
  }

  /// Sends everything and empties itself, even if the bus accepts nothing.
  /// - Throws: `DBusError` if the connection is gone.
  mutating func send(on connection: Connection) throws(DBusError) {
    var messages: [OutgoingMessage] = []
    messages.reserveCapacity(sealed.count + signals.count + replies.count)
    for part in [sealed, signals, replies] { for item in part { messages.append(item.message) } }
    if !sealed.isEmpty { sealed.removeAll() }
    signals.removeAll(keepingCapacity: true)
    replies.removeAll(keepingCapacity: true)
    (size, hasSignals, showsValues) = (0, false, false)
    try connection.send(messages)
  }
}

/// A turn's end: changes are saved, then published, then replied to.
extension FocusService {
  /// Saves and sends what the turn has brought about; with `savesLater`, it is saved when the loop is idle.
  func endTurn(savesLater: Bool = false) {
    guard persistence.recovery == nil else { return }
    emit(model.settle())
    if savesLater {
      if model.hasTurnChanges { saveLater() }
    } else if persistence.mustSave(model), let (refusal, reopens) = persistence.save(model) {
      if reopens { recoverLater() }
      // Without changes there is nothing to refuse: the revisions that are reserved still last.
      if model.hasTurnChanges { takeBack(refusal) }
    }
    model.endTurn()
    if !turn.handled.isEmpty { turn.handled.removeAll(keepingCapacity: true) }
    for rule in objects.endTurn(ownerCalls) { connection.changeMatch(.remove, rule) }
    sendOutbox()
  }

  private func saveLater() {
    persistence.isPutOff = true
    loop.schedule(after: .zero) { [weak self] in self?.persistence.isPutOff = false }
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
    for object in lost { for key in toldKeys(of: object) { becameStale(key, of: object) } }
    emit(model.settle())
  }

  /// Publishes `changes` at the end of the turn, before the replies of what caused them.
  func emit(_ changes: [Change]) {
    var emitter = Emitter()
    for change in changes {
      switch change {
      case .fieldChanged(let id, .active): checkActivity(besides: id)
      case .fieldAdded(let id):
        findProcess(of: id)
        checkActivity(besides: id)
      default: break
      }
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

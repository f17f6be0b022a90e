public import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// The bus face of the focus model: one object for each field, one that mirrors what has focus, one that manages.
///
/// It belongs to the thread that runs the loop. What arrives in one turn of the loop is answered at the turn's end:
/// first the signals of what changed, then the replies. Only what an owner has to be asked for is answered later.
public final class FocusService {
  let connection: Connection
  let loop: EventLoop
  let log: Log
  let ownerCalls: OwnerCalls
  var model = FocusModel()
  var objects = OwnedObjects()
  var outbox = Outbox()
  private var announcer = Announcer()
  var steps: [TurnStep] = []
  /// The objects of fields that the turn has removed, which are let go of once that is saved.
  var leaving: [(id: FieldID, object: OwnedObject)] = []
  /// Nil where no state file could be opened: then there are no fields, and none can be registered.
  var journal: Journal?
  var problems: [String] = []
  var cannotSave = false
  /// When saving failed last.
  var lastFailure = SuspendingClock.now
  /// Which signals that are too large are logged.
  var droppedSignals = LogLimit()
  /// The highest revision that may be told, see `told`.
  var reserved: UInt64 = 0
  /// Set while a new state file must take the place of one that cannot be used any more.
  var replacement: Replacement?
  /// The recovery of saved fields while it is under way: what arrives meanwhile waits in line.
  var recovery: Recovery?
  var willRecover = false
  /// The bus that this connection is to, which never changes.
  private(set) var busID = ""

  /// Called while `start` takes longer than usual: what it does, and how much longer that may take.
  public var onSlowStart: ((_ status: String, _ time: Duration) -> Void)?

  /// Called at the end of each turn that changed something that everyone is shown.
  public var onChange: (() -> Void)?

  /// Serves on `connection`, whose messages `loop` is to deliver.
  public init(_ connection: Connection, on loop: EventLoop, log: Log) {
    self.connection = connection
    self.loop = loop
    self.log = log
    ownerCalls = OwnerCalls(connection)
    connection.onMessage = { [weak self] in self?.receive($0) }
    loop.onTurnEnd = { [weak self] in self?.endTurn() }
    connection.attach(to: loop)
  }

  /// Begins to serve: has everything back that an earlier process saved, then takes the bus name.
  /// - Throws: `DBusError` where the bus refuses; `failed` where another process holds the name, which the message names.
  public func start() throws(DBusError) {
    let name = Focus1.busName
    let leaving = MatchRule(
      sender: .bus, interface: .bus, member: MemberName(known: "NameOwnerChanged"), arguments: [2: ""])
    let bus = try connection.survey(adding: leaving)
    guard !bus.names.contains(name) else { throw heldBy(try connection.owner(of: name)) }
    busID = bus.id
    recoverAtStart(among: bus.names)
    guard try !connection.requestName(name) else { return }
    throw heldBy(try connection.owner(of: name))
  }

  private func heldBy(_ owner: BusName?) -> DBusError {
    let process = owner.flatMap { try? connection.processID(of: $0) }
    let holder = process.map { "process \($0)" } ?? owner?.text ?? "another connection"
    return DBusError(.failed, "the bus name \(Focus1.busName) is already owned by \(holder)")
  }

  /// How many fields there are and which has focus, for people.
  public var status: String {
    let fields = model.fields.count == 1 ? "1 field" : "\(model.fields.count) fields"
    return fields + (model.focusedField.map { ", focus on \($0)" } ?? ", nothing focused")
  }

  private func receive(_ message: Message) {
    switch message.kind {
    case .methodCall: arrived(.call(message))
    case .signal where message.sender == .bus: ownerMayHaveLeft(message)
    case .signal: ownerEmitted(message)
    case .methodReturn, .error, .other: break
    }
    if outbox.isFull { endTurn() }
  }

  private func ownerMayHaveLeft(_ message: Message) {
    guard message.isSignal(.bus, MemberName(known: "NameOwnerChanged")),
      let arguments = try? message.arguments(), arguments.count == 3,
      case .string(let name) = arguments[0], case .string("") = arguments[2]
    else { return }
    let owner = BusName(known: name)
    // Nothing waits for an answer that cannot come, whatever else is to wait in line.
    ownerCalls.ownerLeft(owner)
    arrived(.departure(owner))
  }

  /// Handles what has arrived, or has it wait in line while the saved fields are being recovered.
  func arrived(_ arrival: Arrival) {
    if let recovery { recovery.held.append(arrival) } else { handle(arrival) }
  }

  /// Handles what has arrived, in its turn.
  func handle(_ arrival: Arrival) {
    switch arrival {
    case .call(let message): answer(message)
    case .registration(let registration, let result): complete(registration, result)
    case .departure(let owner): ownerLeft(owner)
    }
  }

  private func ownerLeft(_ owner: BusName) {
    ownerCalls.ownerLeft(owner)
    failWrites(to: owner)
    ifNotSaved(nil) { [self] _ in announce(model.ownerLeft(owner)) }
    let changes = model.ownerLeft(owner)
    if !changes.isEmpty { log.debug("\(owner) left the bus: \(status)") }
    announce(changes)
  }

  /// Has everyone told of `changes` at the end of the turn, before any reply.
  func announce(_ changes: [Change]) {
    guard !changes.isEmpty else { return }
    defer { announcer.finish() }
    for change in changes {
      if case .fieldRemoved(let id, _) = change { releaseObject(of: id) }
      do {
        for signal in try announcer.signals(of: change, model) { outbox.add(signal: signal, tellsOfChange: true) }
      } catch {
        log.error("cannot signal a change: \(error.name)")
      }
    }
  }

  /// Sends `signal` at the end of the turn, after the signals of what has changed before.
  func post(signal: OutgoingMessage) {
    announce(model.settle())
    outbox.add(signal: signal, tellsOfChange: false)
  }

  func post(reply: OutgoingMessage, of origin: PendingReply) { outbox.add(reply: reply, of: origin) }
}

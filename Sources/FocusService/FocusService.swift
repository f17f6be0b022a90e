public import DBus
internal import DBusTypes
public import EventLoop
internal import FocusContract
internal import FocusModel
public import ProgramSupport

/// The bus face of the focus model: one object for each field, one that mirrors what has focus, one that manages.
///
/// It belongs to the thread that runs the loop. What arrives in one turn of the loop is answered at the turn's end:
/// first the signals of what changed, then the replies. Only what an owner has to be asked for is answered later.
public final class FocusService {
  let connection: Connection
  let loop: EventLoop
  let log: Log
  let ownerCalls: OwnerCalls
  /// The fields, and which of them has focus.
  private(set) var model = FocusModel()
  /// The objects behind fields.
  var objects = OwnedObjects()
  /// Who may speak for others.
  let bridges = Bridges()
  /// The registrations under way that wait for an object.
  var registrations: [ObjectIdentifier: Registration] = [:]
  /// The connections whose processes the bus has been asked for.
  var askedProcesses: Set<BusName> = []
  /// What the turn of the loop has brought about.
  var turn = Turn()
  /// How what outlives the daemon is saved.
  var persistence: Persistence
  /// Which signals that are too large are logged.
  var droppedSignals = LogLimit()
  /// Which values that do not fit are logged.
  var unfitValues = LogLimit(lines: 64)

  /// How long owners of bound fields may take to recover before others are answered, which is a second with what reading
  /// the file takes: one of them may itself wait for an answer.
  var ownersTime = Duration.milliseconds(700)

  /// Called while `start` takes longer than usual: what it does, and how much longer that may take.
  public var onSlowStart: ((_ status: String, _ time: Duration) -> Void)?

  /// Called at the end of each turn that changed something that everyone is shown.
  public var onChange: (() -> Void)?

  /// Serves on `connection`, whose messages `loop` delivers; the state is saved in the user's state directory.
  public convenience init(_ connection: Connection, on loop: EventLoop, log: Log) {
    self.init(connection, on: loop, log: log, stateFile: StateFile())
  }

  /// Serves on `connection`; `stateFile` is nil if there is no place for one.
  init(_ connection: Connection, on loop: EventLoop, log: Log, stateFile: StateFile?) {
    (self.connection, self.loop, self.log) = (connection, loop, log)
    ownerCalls = OwnerCalls(connection)
    persistence = Persistence(stateFile, log)
    connection.onMessage = { [weak self] in self?.receive($0) }
    loop.onTurnEnd = { [weak self] in self?.endTurn() }
    connection.attach(to: loop)
  }

  deinit { objects.end() }

  /// Begins to serve: restores the state that an earlier process saved, then requests the bus name.
  /// - Throws: `DBusError` if the bus refuses; `failed` if another process holds the name, which the message names.
  public func start() throws(DBusError) {
    let name = Focus1.busName
    let bus = try connection.survey(adding: .departures, Bridges.rule)
    let windowBridge = bus.names.contains(Focus1.windowBridge) ? try connection.owner(of: Focus1.windowBridge) : nil
    bridges.begin(among: bus.names, windowBridge: windowBridge)
    guard !bus.names.contains(name) else { throw heldBy(try connection.owner(of: name)) }
    model.setWindowBridge(windowBridge)
    persistence.bus = bus.id
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

  /// Goes on with `recovered`, the model of what was saved.
  func adopt(_ recovered: FocusModel) {
    recovered.takeOver(from: model)
    model = recovered
  }
}

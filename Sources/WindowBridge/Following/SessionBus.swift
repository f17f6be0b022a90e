internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import EventLoop

/// What the session's bus tells of the desktop: the user manager's environment, and whether GNOME's extension is there.
final class SessionBus {
  private static let patience = Duration.seconds(25)
  private static let delay = Duration.seconds(2)
  private static let extensions = MatchRule.nameOwnerChanges(of: GNOMEState.busName)

  private let address: String
  private let loop: EventLoop
  private var connection: Connection?
  private var isReading = false
  /// Whether something happened since the environment was asked for.
  private var isStale = false

  /// The user manager's variables; nil without a user manager.
  private(set) var variables: SessionVariables?
  /// Whether GNOME's extension is on the bus.
  private(set) var hasExtension = false
  /// Whether the variables matter: the manager sends no signal for them, so each program that leaves the bus costs a question,
  /// since it may have imported some.
  var isWaiting = false {
    didSet {
      guard isWaiting != oldValue else { return }
      connection?.changeMatch(isWaiting ? .add : .remove, .departures)
      if isWaiting { read() }
    }
  }

  /// Called when any of it is different.
  var onChange: (() -> Void)?
  /// Called if a program has left the bus while the variables matter.
  var onDeparture: (() -> Void)?
  /// Called instead when GNOME's extension has come to the bus.
  var onExtension: (() -> Void)?

  init(_ address: String, on loop: EventLoop) {
    self.address = address
    self.loop = loop
  }

  /// Connects, and again whenever the bus is lost.
  func connect() {
    Connection.open(address, on: loop, timeout: Self.patience) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let connection): connected(connection)
      case .failure: connectLater()
      }
    }
  }

  private func connectLater() { loop.schedule(after: Self.delay) { [weak self] in self?.connect() } }

  private func connected(_ connection: Connection) {
    self.connection = connection
    connection.onMessage = { [weak self] in self?.received($0) }
    connection.onDisconnect = { [weak self, weak loop] in loop?.schedule(after: .zero) { self?.lost() } }
    connection.changeMatch(.add, Self.extensions)
    if isWaiting { connection.changeMatch(.add, .departures) }
    connection.askOwner(of: GNOMEState.busName) { [weak self] result in
      guard let self, case .success = result else { return }
      set(hasExtension: true)
    }
    read()
  }

  private func lost() {
    connection?.detach()
    connection = nil
    (isReading, isStale) = (false, false)
    set(hasExtension: false)
    connectLater()
  }

  private func received(_ message: Message) {
    guard let change = message.nameOwnerChange else { return }
    let isGone = change.now == nil
    if change.name == GNOMEState.busName { set(hasExtension: !isGone) }
    guard isWaiting, isGone else { return }
    read()
    onDeparture?()
  }

  private func set(hasExtension new: Bool) {
    guard hasExtension != new else { return }
    hasExtension = new
    if new { onExtension?() } else { onChange?() }
  }

  /// Asks for the manager's environment.
  func read() {
    guard let connection, !isReading else {
      isStale = true
      return
    }
    (isReading, isStale) = (true, false)
    connection.askManagerVariables(SessionVariables.names, timeout: Self.patience) { [weak self] in self?.answered($0) }
  }

  private func answered(_ values: [String: String]?) {
    isReading = false
    let new = values.map { values in SessionVariables { values[$0] } }
    if isStale { read() }
    guard new != variables else { return }
    variables = new
    onChange?()
  }
}

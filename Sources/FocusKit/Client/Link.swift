internal import DBus
internal import DBusTypes
internal import FocusBus
internal import FocusContract

/// The way to the daemon, which all that is on the client's thread shares; it knows none of them.
///
/// So what a connection that ends has to say of unanswered calls finds this alive, or nobody.
final class Link {
  let loop = EventLoop()
  let letters: Worker.Letters
  private let reporter: ErrorReporter
  private(set) var daemon: Daemon?
  /// The connection that holds the daemon's name, as far as is known.
  var owner: BusName?

  init(_ letters: Worker.Letters, _ reporter: ErrorReporter) {
    self.letters = letters
    self.reporter = reporter
  }

  func report(_ error: FocusError) { reporter.report(error) }

  /// Connects to `bus`, asks it for the signals that `rules` match, and finds out who is the daemon.
  /// - Throws: `DBusError` where there is no such bus.
  func open(
    _ bus: Connection.Bus, _ rules: [MatchRule], onMessage: @escaping (Message) -> Void,
    onDisconnect: @escaping () -> Void
  ) throws(DBusError) {
    let daemon = try Daemon(on: bus)
    daemon.connection.onMessage = onMessage
    daemon.connection.onDisconnect = onDisconnect
    daemon.connection.attach(to: loop)
    for rule in rules { daemon.connection.changeMatch(.add, rule) }
    self.daemon = daemon
    owner = nil
    let question = try OutgoingMessage.methodCall(
      to: .bus, path: ObjectPath(known: "/org/freedesktop/DBus"), interface: .bus,
      member: MemberName(known: "GetNameOwner"), [.string(Focus1.busName.text)])
    // Signals before the answer are older than what is read after it.
    try daemon.connection.call(question) { [weak self] result in
      guard let self, case .string(let name)? = try? result.get().success().arguments().first else { return }
      owner = try? BusName(name)
    }
  }

  /// Ends the connection, and with it all calls that are unanswered.
  func close() {
    let closed = daemon
    daemon = nil
    owner = nil
    closed?.connection.detach()
    withExtendedLifetime(closed) {}
  }

  /// Calls the daemon and hands `reply` what it says, or what prevented that.
  func call<Reply>(_ call: Call<Reply>, _ reply: @escaping (Result<Reply, FocusError>) -> Void) {
    guard let daemon else {
      return reply(
        .failure(FocusError("not connected to a bus, so there is no focusd", name: ErrorName.disconnected.text)))
    }
    daemon.call(call) { reply($0.mapError { FocusError($0) }) }
  }

  func send(_ message: OutgoingMessage) { _ = try? daemon?.connection.send(message) }
}

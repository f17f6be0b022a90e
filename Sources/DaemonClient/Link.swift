package import DBus
package import DBusTypes
package import EventLoop
package import FocusContract

/// The one way to the daemon that all parts of a program share, on one loop; it knows none of them.
///
/// So what a connection that ends reports of unanswered calls finds this alive, or released.
package final class Link {
  /// What becomes of the daemon, and what it and others send.
  package enum Event {
    /// A daemon may be there: it is time to read and to register.
    case arrived
    /// The daemon, or the whole bus, is gone.
    case left
    /// The daemon sent a signal.
    case signal(DaemonSignal)
    /// Somebody else sent a signal, as the rules ask for; its sender must be checked.
    case other(Message)
    /// Somebody calls a method of this process.
    case call(Message)
    /// The bus refuses to send the daemon's signals.
    case refused(DBusError)
    /// The bus has closed a connection that `open` was given.
    case closed
  }

  private static let firstDelay = Duration.milliseconds(50)
  private static let longestDelay = Duration.seconds(2)
  /// How long a bus may take to answer: meanwhile nothing else is done on the loop, not even what the service manager asks for.
  package static let patience = Duration.seconds(2)

  package let loop: EventLoop
  private let rules: [MatchRule]
  private var delay = Link.firstDelay
  private var isStopped = false
  /// The connection while there is one.
  package private(set) var daemon: DaemonConnection?
  /// The connection that holds the daemon's name, as far as is known: only its signals count.
  package private(set) var owner: BusName?
  /// Called on the loop's thread with each event.
  package var onEvent: ((Event) -> Void)?

  /// Creates a link that asks each bus for the signals of `rules`, and for the daemon's coming and going.
  package init(on loop: EventLoop, rules: [MatchRule]) {
    self.loop = loop
    self.rules = [.daemon] + rules
  }

  /// Connects to `bus`, and again whenever that is lost, at first after 50 ms and later after up to 2 s.
  package func connect(to bus: Connection.Bus, patience: Duration = patience) {
    do throws(DBusError) {
      try open(try DaemonConnection(to: bus, patience: patience)) { [weak self] in
        self?.close()
        self?.onEvent?(.left)
        self?.connectLater(to: bus, patience)
      }
      delay = Link.firstDelay
    } catch {
      close()
      connectLater(to: bus, patience)
      delay = min(delay * 2, Link.longestDelay)
    }
  }

  private func connectLater(to bus: Connection.Bus, _ patience: Duration) {
    guard !isStopped else { return }
    loop.schedule(after: delay) { [weak self] in self?.connect(to: bus, patience: patience) }
  }

  /// Uses `daemon` until its bus closes it.
  /// - Throws: `DBusError` if nothing can be sent.
  package func open(_ daemon: DaemonConnection) throws(DBusError) {
    try open(daemon) { [weak self] in self?.onEvent?(.closed) }
  }

  private func open(_ daemon: DaemonConnection, onDisconnect: @escaping () -> Void) throws(DBusError) {
    let connection = daemon.connection
    connection.onMessage = { [weak self] in self?.received($0) }
    connection.onDisconnect = { [weak loop] in
      // Not from within its own dispatching.
      loop?.schedule(after: .zero, onDisconnect)
    }
    connection.attach(to: loop)
    self.daemon = daemon
    owner = nil
    for rule in rules {
      try connection.call(try connection.questionToAdd(rule), timeout: nil) { [weak self] result in
        if case .success(let reply) = result, let error = reply.error { self?.onEvent?(.refused(error)) }
      }
    }
    // Signals before the answer are older than what is read after it. Nothing else would tell who the daemon is.
    connection.askOwner(of: Focus1.busName, timeout: nil) { [weak self] result in
      if case .success(let name) = result { self?.owner = name }
    }
    onEvent?(.arrived)
  }

  /// Closes the connection for good, and with it all calls that are unanswered.
  package func stop() {
    isStopped = true
    close()
  }

  private func close() {
    let closed = daemon
    daemon = nil
    owner = nil
    closed?.connection.detach()
    withExtendedLifetime(closed) {}
  }

  private func received(_ message: Message) {
    guard message.kind != .methodCall else {
      onEvent?(.call(message))
      return
    }
    guard let signal = DaemonSignal(message, from: owner) else {
      if message.kind == .signal { onEvent?(.other(message)) }
      return
    }
    guard case .daemon(let before, let now) = signal else {
      onEvent?(.signal(signal))
      return
    }
    owner = now
    if before != nil { onEvent?(.left) }
    if now != nil { onEvent?(.arrived) }
  }

  /// Calls the daemon, and hands its reply, or what prevented one, to `handler`.
  ///
  /// What must be known of a daemon that is there is asked `patiently`: one that was held up does not say when it goes on.
  package func call<Reply>(
    _ call: DaemonCall<Reply>, patiently: Bool = false, _ handler: @escaping (Result<Reply, DBusError>) -> Void
  ) {
    guard let daemon else {
      return handler(.failure(DBusError(.disconnected, "not connected to a bus, so there is no focusd")))
    }
    daemon.call(call, patiently: patiently, handler)
  }

  /// Sends a signal, if there is a bus.
  package func send(_ message: OutgoingMessage) { _ = try? daemon?.connection.send(message) }

  /// Answers a call of an object of `program`, which has no objects: the window bridge asks the owner of each field.
  package func refuse(_ call: Message, of program: String) {
    if call.wantsReply { send(call.reply(DBusError(.unknownObject, "\(program) has no objects"))) }
  }
}

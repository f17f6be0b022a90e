internal import DBus
internal import DBusTypes

/// The names of the bus contract.
enum Focus1 {
  static let busName = BusName(known: "org.focusd.Focus1")
  static let root = ObjectPath(known: "/org/focusd/Focus1")
  static let focused = ObjectPath(known: "/org/focusd/Focus1/focused")
  static let manager = InterfaceName(known: "org.focusd.Focus1.Manager")
  static let field = InterfaceName(known: "org.focusd.Focus1.Field")
  static let bindings = InterfaceName(known: "org.focusd.Focus1.Bindings")
  static let responder = InterfaceName(known: "org.focusd.Focus1.Responder")
}

/// The connection and all that belongs to it, on the client's thread; everyone else posts letters.
final class Worker {
  typealias Letters = Mailbox<@Sendable (Worker) -> Void>
  typealias Reply = (Result<[DBusValue], FocusError>) -> Void

  private static let firstDelay = Duration.milliseconds(50)
  private static let longestDelay = Duration.seconds(2)

  let loop = EventLoop()
  let cache: FocusedCache
  private let mailbox: Letters
  private let reporter: ErrorReporter
  private let bus: Connection.Bus
  private var delay = Worker.firstDelay

  private(set) var connection: Connection?
  private(set) lazy var watcher = FocusedWatcher(self)
  private(set) lazy var writes = WriteQueue(self)
  private(set) lazy var fields = FieldRegistry(self)

  init(_ bus: Connection.Bus, _ cache: FocusedCache, _ mailbox: Letters, _ reporter: ErrorReporter) {
    self.bus = bus
    self.cache = cache
    self.mailbox = mailbox
    self.reporter = reporter
  }

  func run() {
    mailbox.deliver(on: loop) { [unowned self] in $0(self) }
    connect()
    loop.run()
    close()
  }

  func stop() { loop.stop() }

  func report(_ error: FocusError) { reporter.report(error) }

  /// Handles the letters that were posted before now, so that what follows comes after them.
  func handleLetters() { mailbox.deliver { $0(self) } }

  func post(_ letter: @escaping @Sendable (Worker) -> Void) { mailbox.post(letter) }

  /// What posts to this worker from anywhere.
  var letters: Letters { mailbox }

  private func connect() {
    do throws(DBusError) {
      let connection = try Connection(to: bus)
      connection.onMessage = { [unowned self] in received($0) }
      connection.onDisconnect = { [unowned self] in
        // Not from within its own dispatching.
        loop.schedule(after: .zero) { [unowned self] in disconnected() }
      }
      connection.attach(to: loop)
      self.connection = connection
      for rule in FocusedWatcher.rules { connection.changeMatch(.add, rule) }
      delay = Self.firstDelay
      daemonArrived()
    } catch {
      loop.schedule(after: delay) { [unowned self] in connect() }
      delay = min(delay * 2, Self.longestDelay)
    }
  }

  /// Ends the connection while all is there that the handlers of unanswered calls need.
  private func close() {
    let closed = connection
    connection = nil
    closed?.detach()
    withExtendedLifetime(closed) {}
  }

  private func disconnected() {
    close()
    daemonLeft()
    loop.schedule(after: delay) { [unowned self] in connect() }
  }

  private func daemonArrived() {
    watcher.begin()
    fields.registerAll()
  }

  private func daemonLeft() {
    watcher.end()
    fields.daemonLeft()
  }

  private func received(_ message: Message) {
    switch message.kind {
    case .methodCall: fields.called(message)
    case .signal where message.isSignal(.bus, MemberName(known: "NameOwnerChanged")):
      guard message.sender == .bus, let arguments = try? message.arguments(), arguments.count == 3,
        arguments[0] == .string(Focus1.busName.text)
      else { return }
      if arguments[1] != .string("") { daemonLeft() }
      if arguments[2] != .string("") { daemonArrived() }
    case .signal: watcher.received(message)
    default: break
    }
  }

  /// Calls the daemon and hands `reply` the results, or what prevented them.
  func call(
    _ path: ObjectPath, _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue] = [],
    timeout: Duration = .seconds(25), _ reply: @escaping Reply
  ) {
    guard let connection else {
      return reply(.failure(FocusError("there is no bus now, and so no focusd", name: ErrorName.disconnected.text)))
    }
    do throws(DBusError) {
      let message = try Message.methodCall(
        to: Focus1.busName, path: path, interface: interface, member: MemberName(known: member), arguments)
      try connection.call(message, timeout: timeout) { result in
        do throws(DBusError) {
          reply(.success(try result.get().success().arguments()))
        } catch {
          reply(.failure(FocusError(error)))
        }
      }
    } catch {
      reply(.failure(FocusError(error)))
    }
  }
}

extension DBusValue {
  /// What a variant holds; nil for other values.
  var content: DBusValue? {
    guard case .variant(let content) = self else { return nil }
    return content
  }
}

internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import Dispatch
internal import EventLoop
internal import Glibc
internal import Synchronization

/// This process's way to the daemon: one connection on a thread of its own, and a cache of what is focused.
///
/// It connects when a property wrapper, a field or a call uses it first, or with ``connect()``. When the bus or the daemon
/// goes, every focused value is nil; when they come back, all that was registered and watched is there again, in order.
/// Property wrappers and fields use ``shared`` unless they are given another.
public final class FocusClient: Sendable {
  /// The client of the session bus that the environment names.
  public static let shared = FocusClient()

  let mailbox = Worker.Letters()
  let cache: FocusedCache
  private let reporter = ErrorReporter()
  private let bus: Connection.Bus
  private let isStarted = Atomic(false)

  /// Creates a client of the bus at `address`, such as `unix:path=/run/user/1000/bus`, or of the session bus.
  public init(address: String? = nil) {
    bus = Self.bus(address)
    cache = FocusedCache(mailbox)
  }

  // What was assigned and called before is still sent.
  deinit { mailbox.post { worker in worker.writes.afterAll { worker.stop() } } }

  private static func bus(_ address: String?) -> Connection.Bus {
    // Without one it waits: nothing is at the empty address.
    address.map { .address(Connection.Bus.withoutGUID($0)) } ?? .ofUser ?? .address("")
  }

  /// Calls `handler`, on a queue of the client's, one error after another, for each error that has no caller.
  ///
  /// That is a write that was refused and undone, or a registration that failed. Without a handler, a line on standard
  /// error says it.
  public func onError(_ handler: @escaping @Sendable (FocusError) -> Void) { reporter.setHandler(handler) }

  func report(_ error: FocusError) { reporter.report(error) }

  /// Connects now, unless the client has been used: ``isConnected`` becomes true when all that is focused is known.
  ///
  /// It returns at once, on any thread. Without a bus or a daemon, the client waits for them.
  public func connect() { start() }

  /// Whether there is a thread.
  var hasStarted: Bool { isStarted.load(ordering: .acquiring) }

  /// Starts the thread, the first time that it is called.
  func start() {
    guard !isStarted.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let (bus, cache, mailbox, reporter) = (bus, cache, mailbox, reporter)
    let thread = SystemThread {
      let worker = Worker(bus, cache, mailbox, reporter)
      withExtendedLifetime(worker) { worker.run() }
    }
    if thread == nil {
      isStarted.store(false, ordering: .releasing)
      reporter.report(FocusError("cannot start a thread for the connection to the bus"))
    }
  }

  /// The slot of the key `name`.
  func slot(_ name: String) -> Slot {
    start()
    return cache.slot(name)
  }

  /// Posts `letter` to the worker.
  func post(_ letter: @escaping @Sendable (Worker) -> Void) {
    start()
    mailbox.post(letter)
  }

  /// Has `body` make a call when the writes of this process until now have been taken or refused, and before those after it.
  func postAfterWrites(_ body: @escaping @Sendable (Worker) -> Void) {
    post { worker in worker.writes.afterAll { body(worker) } }
    // No later than now, since what is made once it counts joins no write from before.
    cache.calls.add()
  }
}

/// The handler of errors that have no caller.
final class ErrorReporter: Sendable {
  private let handler = Locked<(@Sendable (FocusError) -> Void)?>(nil)
  /// The handler is the program's, and may wait: never on the client's thread.
  private let queue = DispatchQueue(label: "org.focusd.FocusKit.errors")

  func setHandler(_ handler: @escaping @Sendable (FocusError) -> Void) {
    // The one before is freed outside of the lock.
    var handler: (@Sendable (FocusError) -> Void)? = handler
    self.handler.withLock { swap(&$0, &handler) }
  }

  func report(_ error: FocusError) {
    if let handler = handler.copy { queue.async { handler(error) } } else { Self.write(error) }
  }

  /// Writes a line on standard error.
  static func write(_ error: FocusError) {
    // Another program may have written the message.
    let line = Array("FocusKit: \("\(error)".controlsEscaped)\n".utf8)
    _ = line.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

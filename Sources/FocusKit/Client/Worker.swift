internal import DBus
internal import EventLoop
internal import FocusBus

/// The connection and all that belongs to it, on the client's thread; everyone else posts letters.
///
/// It owns the parts, and these share the link; what the link brings them they hear of as long as they are there.
final class Worker {
  typealias Letters = Mailbox<@Sendable (Worker) -> Void>

  private static let firstDelay = Duration.milliseconds(50)
  private static let longestDelay = Duration.seconds(2)

  let link: Link
  let watcher: FocusedWatcher
  let writes: WriteQueue
  let fields: FieldRegistry
  private let bus: Connection.Bus
  private var delay = Worker.firstDelay

  init(_ bus: Connection.Bus, _ cache: FocusedCache, _ letters: Letters, _ reporter: ErrorReporter) {
    self.bus = bus
    link = Link(letters, reporter)
    watcher = FocusedWatcher(link, cache)
    writes = WriteQueue(link, watcher)
    fields = FieldRegistry(link, watcher)
    watcher.onFocusMoved = { [weak fields] in fields?.focusChanged() }
  }

  func run() {
    link.letters.deliver(on: link.loop) { [weak self] letter in
      if let self { letter(self) }
    }
    connect()
    link.loop.run()
    link.close()
  }

  func stop() { link.loop.stop() }

  func report(_ error: FocusError) { link.report(error) }

  /// Handles the letters that were posted before now, so that what follows comes after them.
  private func handleLetters() { link.letters.deliver { $0(self) } }

  private func connect() {
    do throws(DBusError) {
      try link.open(
        bus, FocusedWatcher.rules, onMessage: { [weak self] in self?.received($0) },
        onDisconnect: { [weak self] in
          // Not from within its own dispatching.
          self?.link.loop.schedule(after: .zero) { self?.disconnected() }
        })
      delay = Self.firstDelay
      daemonArrived()
    } catch {
      link.close()
      connectLater()
      delay = min(delay * 2, Self.longestDelay)
    }
  }

  private func connectLater() {
    link.loop.schedule(after: delay) { [weak self] in self?.connect() }
  }

  private func disconnected() {
    link.close()
    daemonLeft()
    connectLater()
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
    if message.kind == .methodCall {
      // What the program did before is told before what it is asked now is answered.
      handleLetters()
      return fields.called(message, settle: handleLetters)
    }
    switch News(message, from: link.owner) {
    case .daemon(let before, let now)?:
      link.owner = now
      if before != nil { daemonLeft() }
      if now != nil { daemonArrived() }
    case .properties(let path, let interface, let changes)?: watcher.received(path, interface, changes)
    case .field?, nil: break
    }
  }
}

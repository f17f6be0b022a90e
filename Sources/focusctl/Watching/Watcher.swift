import DBus
import DBusTypes
import FocusBus
import FocusContract
import Glibc

/// Follows the values of one object of the daemon, across the daemon's restarts.
///
/// It subscribes before it reads. Changes signalled before the reply to `ReadAll` are at least as new as the reply,
/// because the daemon sends every change before the replies of the same turn: they replace the reply's values.
final class Watcher {
  /// Called with each set of changes that belong together.
  typealias Handler = ([WatchState.Change]) throws(CommandError) -> Void

  private typealias Changes = [(key: String, value: DBusValue?)]

  private let daemon: Daemon
  private let path: ObjectPath
  let loop = EventLoop()
  private var state: WatchState
  private let handler: Handler
  private var end: CommandError?
  private var reader: HangupSource?

  /// The number of the current read: a reply to an older one may still arrive.
  private var reading = 0
  /// The changes that arrive during a read; nil if no read is in progress.
  private var early: Changes?
  /// The connection that owns the daemon's name: only its signals count.
  private var owner: BusName?

  init(_ daemon: Daemon, _ path: ObjectPath, _ requests: [KeyArgument], _ handler: @escaping Handler) {
    self.daemon = daemon
    self.path = path
    self.handler = handler
    state = WatchState(requests)
  }

  /// Calls the handler with the current state and with each change, until the handler throws or the bus is gone.
  /// - Throws: `CommandError`: the handler's error, or status 3.
  func run() throws(CommandError) {
    do {
      let rules = [.properties(of: path), .daemon] + (path == Focus1.focused ? [] : [MatchRule.fields])
      owner = try daemon.connection.owner(of: Focus1.busName, adding: rules)
    } catch {
      throw CommandError(error)
    }
    daemon.connection.onMessage = { [weak self] in self?.received($0) }
    daemon.connection.onDisconnect = { [weak self] in
      self?.stop(CommandError(.noDaemon, "lost the connection to the bus"))
    }
    daemon.connection.attach(to: loop)
    read()
    while end == nil { loop.turn() }
    daemon.connection.detach()
    if let end { throw end }
  }

  /// Ends with status 0 when the reader closes standard output.
  func endWithReader() {
    reader = HangupSource(STDOUT_FILENO, on: loop) { [weak self] in self?.stop(CommandError(.done)) }
  }

  /// Ends with `error` when `limit` has passed.
  func end(after limit: Duration, _ error: CommandError) {
    loop.schedule(after: limit) { [weak self] in self?.stop(error) }
  }

  /// Ends with `error`.
  func stop(_ error: CommandError) { end = end ?? error }

  private func read() {
    reading += 1
    early = []
    let number = reading
    daemon.call(.readAll(at: path)) { [weak self] result in
      // The connection may outlive the watcher and still end its calls.
      guard let self, number == reading, end == nil else { return }
      answered(result)
    }
  }

  private func answered(_ result: Result<[String: Reading], DBusError>) {
    let early = early ?? []
    self.early = nil
    do {
      var values = try result.get().mapValues(\.value)
      for (key, value) in early { values[key] = value }
      let isFirst = !state.hasBegun
      let changes = state.replace(with: values)
      // Later, an ambiguous short key is nil: a status bar must survive that.
      if isFirst { try state.requireUnambiguous() }
      show(changes)
    } catch let error as CommandError {
      stop(error)
    } catch let error as DBusError {
      let isLater = error.name == .unknownObject && state.hasBegun
      if error.meansNoDaemon || isLater {
        show(state.replace(with: [:]))
      } else {
        stop(daemon.explained(CommandError(error), error, path))
      }
    } catch {
      stop(.refused("\(error)"))
    }
  }

  private func show(_ changes: [WatchState.Change]) {
    guard !changes.isEmpty else { return }
    do { try handler(changes) } catch { stop(error) }
  }

  private func received(_ message: Message) {
    guard end == nil else { return }
    switch News(message, from: owner) {
    case .daemon(_, let now)?: ownerChanged(to: now)
    case .properties(path, let interface, let properties)? where !Focus1.isOwn(interface) && !properties.isEmpty:
      let changes = properties.map { (key: "\(interface).\($0.name)", value: $0.value) }
      if early != nil { early?.append(contentsOf: changes) } else { show(state.apply(changes)) }
    case .field(path)?: read()
    case .properties?, .field?, nil: break
    }
  }

  private func ownerChanged(to now: BusName?) {
    owner = now
    if now != nil {
      read()
    } else if early == nil {
      show(state.replace(with: [:]))
    }
  }
}

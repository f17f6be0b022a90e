import DBus
import DBusTypes
import EventLoop
import FocusClient
import FocusContract
import Glibc

/// Shows the values of one object of the daemon as they change, across the daemon's restarts.
final class Watcher {
  /// Called with each set of changes that belong together.
  typealias Handler = ([WatchState.Change]) throws(CommandError) -> Void

  private let daemon: DaemonConnection
  private let path: ObjectPath
  private let link: Link
  private var mirror: Mirror?
  private var state: WatchState
  private let handler: Handler
  private var end: CommandError?
  private var reader: DescriptorSource?

  init(_ daemon: DaemonConnection, _ path: ObjectPath, _ requests: [KeyArgument], _ handler: @escaping Handler) {
    self.daemon = daemon
    self.path = path
    self.handler = handler
    state = WatchState(requests)
    link = Link(on: EventLoop(), rules: Mirror.rules(for: path))
  }

  var loop: EventLoop { link.loop }

  /// Calls the handler with the state now and with each change, until that throws or the bus is gone.
  /// - Throws: `CommandError`: what the handler threw, or status 3.
  func run() throws(CommandError) {
    let mirror = Mirror(path, on: link) { [weak self] in self?.handle($0) }
    self.mirror = mirror
    link.onEvent = { [weak self, weak mirror] event in
      switch event {
      case .arrived: mirror?.begin()
      case .left: mirror?.end()
      case .signal(let signal): mirror?.received(signal)
      case .refused(let error): self?.stop(CommandError(error))
      case .closed: self?.stop(CommandError(.noDaemon, "lost the connection to the bus"))
      case .call, .other: break
      }
    }
    do { try link.open(daemon) } catch { throw CommandError(error) }
    while end == nil { loop.turn() }
    link.stop()
    if let end { throw end }
  }

  /// Ends with status 0 when the reader closes standard output.
  func endWithReader() {
    reader = DescriptorSource(STDOUT_FILENO, .hangup, on: loop) { [weak self] in
      self?.reader?.cancel()
      self?.stop(CommandError(.done))
    }
  }

  /// Ends with `error` when `limit` has passed.
  func end(after limit: Duration, _ error: CommandError) {
    loop.schedule(after: limit) { [weak self] in self?.stop(error) }
  }

  /// Ends with `error`.
  func stop(_ error: CommandError) { end = end ?? error }

  private func handle(_ event: Mirror.Event) {
    guard end == nil else { return }
    switch event {
    case .values(let values): begin(with: values.mapValues(\.value))
    case .changed(let changes): show(state.apply(changes))
    case .ended: show(state.replace(with: [:]))
    case .failed(let error): failed(error)
    case .commands, .focusMoved, .focusedField: break
    }
  }

  private func begin(with values: [String: DBusValue]) {
    let isFirst = !state.hasBegun
    let changes = state.replace(with: values)
    // Later, a short key that several keys end with is nil: a status bar must survive that.
    if isFirst { do { try state.requireUnambiguous() } catch { return stop(error) } }
    show(changes)
  }

  private func failed(_ error: DBusError) {
    let isLater = error.name == .unknownObject && state.hasBegun
    if error.meansNoDaemon || isLater {
      show(state.replace(with: [:]))
    } else {
      stop(daemon.explained(CommandError(error), error, path))
    }
  }

  private func show(_ changes: [WatchState.Change]) {
    guard !changes.isEmpty else { return }
    do { try handler(changes) } catch { stop(error) }
  }
}

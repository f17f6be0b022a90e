internal import DBus
internal import DaemonClient
internal import EventLoop

/// The windows of one browser, each with a connection to the session bus of its own.
final class BrowserWindows {
  private let bus: Connection.Bus
  private let loop: EventLoop
  private let onError: (DBusError) -> Void
  /// By the browser's numbers of the windows; nil: its extension does not tell them.
  private var connections: [UInt64?: WindowConnection] = [:]
  /// The tab of each window that was in front last.
  private var fronts: [UInt64: UInt64] = [:]

  init(to bus: Connection.Bus, on loop: EventLoop, onError: @escaping (DBusError) -> Void) {
    (self.bus, self.loop, self.onError) = (bus, loop, onError)
  }

  /// The fields of a window that has had some.
  func publisher(of window: UInt64?) -> FieldPublisher? { connections[window]?.fields }

  /// The connection of `window`; the connections of others are closed that are not among `used` then.
  func connection(for window: UInt64?, among used: Set<UInt64?>) -> WindowConnection {
    if let known = connections[window] { return known }
    for unused in connections.keys where !used.contains(unused) {
      let closed = connections.removeValue(forKey: unused)
      if let unused { fronts[unused] = nil }
      // Not from within its own dispatching.
      loop.schedule(after: .zero) { closed?.close() }
    }
    let new = WindowConnection(to: bus, on: loop, onError: onError)
    connections[window] = new
    return new
  }

  /// Tells which window is active, and the titles of the tabs that are in front in each.
  func tell(of state: BrowserState) {
    let active = state.frontTab.flatMap { state.tabs[$0]?.window }
    if let active { fronts[active] = state.frontTab }
    for (window, connection) in connections {
      guard let window else { continue }
      let title = fronts[window].flatMap { state.tabs[$0]?.title } ?? ""
      connection.window = ProgramWindow(title: title, isActive: window == active)
    }
  }

  /// Takes all fields away.
  func close() {
    for connection in connections.values { connection.close() }
    connections = [:]
  }
}

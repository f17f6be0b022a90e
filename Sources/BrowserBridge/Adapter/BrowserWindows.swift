internal import DBus
internal import DaemonClient
internal import EventLoop

/// The windows of one browser, each with a connection to the session bus of its own.
final class BrowserWindows {
  private let bus: Connection.Bus
  private let loop: EventLoop
  private let onError: (DBusError) -> Void
  /// By the browser's numbers of the windows; nil: its extension does not tell them.
  private let connections = WindowConnections<UInt64>()
  /// The tab of each window that was in front last.
  private var fronts: [UInt64: UInt64] = [:]

  init(to bus: Connection.Bus, on loop: EventLoop, onError: @escaping (DBusError) -> Void) {
    (self.bus, self.loop, self.onError) = (bus, loop, onError)
  }

  /// The fields of a window that has had some.
  func publisher(of window: UInt64?) -> FieldPublisher? { connections[window]?.fields }

  /// Returns the connection of `window`; creating one closes the connections of windows that are not `used`.
  func connection(for window: UInt64?, used: @autoclosure () -> Set<UInt64?>) -> WindowConnection {
    connections.connection(for: window, used: used()) { WindowConnection(to: bus, on: loop, onError: onError) }
  }

  /// Tells which window is active, and the titles of the tabs that are in front in each.
  func tell(of state: BrowserState) {
    let active = state.frontTab.flatMap { state.tabs[$0]?.window }
    if let active { fronts[active] = state.frontTab }
    fronts = fronts.filter { connections[$0.key] != nil }
    for (window, connection) in connections.all {
      guard let window else { continue }
      let title = fronts[window].flatMap { state.tabs[$0]?.title } ?? ""
      connection.window = ProgramWindow(title: title, isActive: window == active)
    }
  }

  /// Takes all fields away.
  func close() { for connection in connections.all.values { connection.close() } }
}

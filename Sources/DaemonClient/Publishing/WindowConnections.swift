/// The connections of one program, one for each window that has fields; nil stands for fields whose window is not known.
package final class WindowConnections<Window: Hashable> {
  package private(set) var all: [Window?: WindowConnection] = [:]

  package init() {}

  package subscript(window: Window?) -> WindowConnection? { all[window] }

  /// Returns the connection of `window`; creating one closes the connections of windows that are not `used`.
  package func connection(
    for window: Window?, used: @autoclosure () -> Set<Window?>, _ make: () -> WindowConnection
  ) -> WindowConnection {
    if let known = all[window] { return known }
    let used = used()
    for unused in all.keys where !used.contains(unused) { close(unused) }
    let new = make()
    all[window] = new
    return new
  }

  /// Gives the connection for fields without a known window to `window`, unless `window` already has one.
  /// - Returns: the connection; nil if nothing was given.
  package func nameUnknown(_ window: Window) -> WindowConnection? {
    guard all[window] == nil, let connection = all.removeValue(forKey: nil) else { return nil }
    all[window] = connection
    return connection
  }

  /// Closes the connection of `window`, and with it takes away all fields there, after `delay`.
  package func close(_ window: Window?, after delay: Duration = .zero) {
    all.removeValue(forKey: window)?.closeLater(after: delay)
  }

  /// Closes all connections, after `delay`.
  package func close(after delay: Duration = .zero) { for window in all.keys { close(window, after: delay) } }
}

internal import DBusTypes
internal import FocusContract

extension FocusModel {
  /// What everyone has been shown of focus.
  struct Published {
    var focus = Focus()
    /// What `focused` shows of the focus path and its scene.
    var shown = Shown()
    /// The interfaces that the focus path and its scene have; nil if that has not mattered.
    var nearInterfaces: Set<InterfaceName>?
  }

  /// All that everyone has been shown at `focused`.
  var publishedAtFocused: Shown { publishedSession.values.reduce(into: published.shown) { $0.merge($1) } }
}

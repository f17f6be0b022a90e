internal import DBusTypes
internal import FocusContract

extension FocusModel {
  /// What everyone has been shown of focus.
  struct Published {
    var focus = Focus()
    /// What `focused` shows of the focus path and its scene.
    var shown = Shown()
    /// What it shows of session-scoped fields, by interface.
    var session: [InterfaceName: Shown] = [:]
    /// The interfaces that the focus path and its scene have; nil if that has not mattered.
    var nearInterfaces: Set<InterfaceName>?

    /// All that `focused` shows.
    var all: Shown { session.values.reduce(into: shown) { $0.merge($1) } }
  }
}

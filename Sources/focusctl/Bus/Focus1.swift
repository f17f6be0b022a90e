import DBus
import DBusTypes

/// The names of the bus contract.
enum Focus1 {
  static let busName = BusName(known: "org.focusd.Focus1")

  static let root = ObjectPath(known: "/org/focusd/Focus1")
  static let focused = ObjectPath(known: "/org/focusd/Focus1/focused")
  static let fields = ObjectPath(known: "/org/focusd/Focus1/field")

  static let manager = InterfaceName(known: "org.focusd.Focus1.Manager")
  static let field = InterfaceName(known: "org.focusd.Focus1.Field")
  static let bindings = InterfaceName(known: "org.focusd.Focus1.Bindings")

  static let notFocused = ErrorName(known: "org.focusd.Focus1.Error.NotFocused")
  static let typeMismatch = ErrorName(known: "org.focusd.Focus1.Error.TypeMismatch")
  static let noSuchElement = ErrorName(known: "org.focusd.Focus1.Error.NoSuchElement")
  static let conflict = ErrorName(known: "org.focusd.Focus1.Error.Conflict")

  /// Whether the interface is ours or the standard's, and so holds no keys.
  static func isOwn(_ interface: String) -> Bool {
    interface == "org.focusd.Focus1" || interface.hasPrefix("org.focusd.Focus1.")
      || interface.hasPrefix("org.freedesktop.DBus.")
  }
}

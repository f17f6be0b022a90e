package import DBusTypes

/// The names of the bus contract, `org.focusd.Focus1`, as the daemon and its clients spell them.
package enum Focus1 {
  /// The name that the daemon owns on the bus.
  package static let busName = BusName(known: "org.focusd.Focus1")
  /// The name of the bridge whose scenes are the windows.
  package static let windowBridge = BusName(known: "org.focusd.Bridge1.Windows")
  /// The object of that bridge.
  package static let windowBridgeObject = ObjectPath(known: "/org/focusd/Bridge1/Windows")
  /// What the names of the contract's interfaces begin with.
  package static let interfacePrefix = "org.focusd.Focus1."

  // MARK: Objects

  /// The object that manages the fields.
  package static let root = ObjectPath(known: "/org/focusd/Focus1")
  /// The object that mirrors what has focus.
  package static let focused = ObjectPath(known: "/org/focusd/Focus1/focused")
  /// The object whose children are the fields.
  package static let fields = ObjectPath(known: "/org/focusd/Focus1/field")

  // MARK: Interfaces

  package static let manager = InterfaceName(known: "org.focusd.Focus1.Manager")
  package static let field = InterfaceName(known: "org.focusd.Focus1.Field")
  package static let bindings = InterfaceName(known: "org.focusd.Focus1.Bindings")
  /// The interface that a bound field's own object may implement.
  package static let responder = InterfaceName(known: "org.focusd.Focus1.Responder")

  // MARK: Errors

  package static let notFocused = error("NotFocused")
  package static let noSuchField = error("NoSuchField")
  package static let fieldExists = error("FieldExists")
  package static let typeMismatch = error("TypeMismatch")
  package static let noSuchElement = error("NoSuchElement")
  package static let conflict = error("Conflict")
  package static let disabled = error("Disabled")
  package static let ownerGone = error("OwnerGone")
  package static let nothingToExpose = error("NothingToExpose")

  /// What cannot be saved is not made.
  package static let ioError = ErrorName(known: "org.freedesktop.DBus.Error.IOError")

  private static func error(_ last: String) -> ErrorName { ErrorName(known: "org.focusd.Focus1.Error." + last) }
}

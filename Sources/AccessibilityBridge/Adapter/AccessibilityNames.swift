internal import DBusTypes

/// The names of AT-SPI on its bus.
enum AccessibilityNames {
  static let registry = BusName(known: "org.a11y.atspi.Registry")
  static let registryPath = ObjectPath(known: "/org/a11y/atspi/registry")
  static let registryInterface = InterfaceName(known: "org.a11y.atspi.Registry")
  /// The root of each application's objects, and of the registry's.
  static let root = ObjectPath(known: "/org/a11y/atspi/accessible/root")

  static let accessible = InterfaceName(known: "org.a11y.atspi.Accessible")
  static let action = InterfaceName(known: "org.a11y.atspi.Action")
  static let application = InterfaceName(known: "org.a11y.atspi.Application")
  static let component = InterfaceName(known: "org.a11y.atspi.Component")
  static let editableText = InterfaceName(known: "org.a11y.atspi.EditableText")
  static let text = InterfaceName(known: "org.a11y.atspi.Text")
  static let value = InterfaceName(known: "org.a11y.atspi.Value")
  static let objectEvent = InterfaceName(known: "org.a11y.atspi.Event.Object")
  static let windowEvent = InterfaceName(known: "org.a11y.atspi.Event.Window")
}

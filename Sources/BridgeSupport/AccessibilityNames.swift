package import DBusTypes

/// The names of AT-SPI on its bus.
package enum AccessibilityNames {
  package static let registry = BusName(known: "org.a11y.atspi.Registry")
  package static let registryPath = ObjectPath(known: "/org/a11y/atspi/registry")
  package static let registryInterface = InterfaceName(known: "org.a11y.atspi.Registry")
  /// The root of each application's objects, and of the registry's.
  package static let root = ObjectPath(known: "/org/a11y/atspi/accessible/root")

  package static let accessible = InterfaceName(known: "org.a11y.atspi.Accessible")
  package static let action = InterfaceName(known: "org.a11y.atspi.Action")
  package static let application = InterfaceName(known: "org.a11y.atspi.Application")
  package static let component = InterfaceName(known: "org.a11y.atspi.Component")
  package static let editableText = InterfaceName(known: "org.a11y.atspi.EditableText")
  package static let selection = InterfaceName(known: "org.a11y.atspi.Selection")
  package static let text = InterfaceName(known: "org.a11y.atspi.Text")
  package static let value = InterfaceName(known: "org.a11y.atspi.Value")
  package static let objectEvent = InterfaceName(known: "org.a11y.atspi.Event.Object")
  package static let windowEvent = InterfaceName(known: "org.a11y.atspi.Event.Window")
}

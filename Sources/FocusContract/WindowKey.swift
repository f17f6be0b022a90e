package import DBusTypes

/// The shared keys of a window, which an element in it may have as well.
package enum WindowKey {
  package static let title = Key(shared: "Window", "Title")
  package static let application = Key(shared: "Window", "Application")
  package static let process = Key(shared: "Window", "ProcessId")
  package static let workspace = Key(shared: "Window", "Workspace")

  /// The interface of all of them.
  package static let interface = title.interface
}

/// The variables that tell of a desktop session: the user manager's, which login scripts import, else the process's own.
package struct SessionVariables: Hashable, Sendable {
  /// The names that count.
  package static let names: Set<String> = [
    "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "SWAYSOCK", "I3SOCK", "HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET",
    "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE",
  ]
  private var values: [String: String] = [:]

  /// The variables of the process, by what `variable` gives.
  package init(_ variable: (String) -> String?) {
    for name in Self.names { values[name] = variable(name) }
  }

  /// The variable `name`; nil if it is not set, or empty.
  package subscript(name: String) -> String? { values[name] }

  /// The same without what names a Wayland desktop, if `isThere` says that nobody listens at the socket: the variables
  /// of one that has ended stay.
  package func checked(_ directory: String?, _ isThere: (_ path: String) -> Bool) -> SessionVariables {
    if let display = values["WAYLAND_DISPLAY"] {
      let path = display.hasPrefix("/") ? display : "\(directory ?? "")/\(display)"
      if isThere(path) { return self }
    }
    var checked = self
    for name in ["WAYLAND_DISPLAY", "XDG_SESSION_TYPE"] { checked.values[name] = nil }
    return checked
  }
}

package import DBusTypes

/// The variables that tell of a desktop session: the user manager's, which login scripts import, else the process's own.
package struct SessionVariables: Hashable, Sendable {
  /// The names that count.
  package static let names: Set<String> = [
    "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "SWAYSOCK", "I3SOCK", "HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET",
    "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE",
  ]
  /// The most bytes of a value: a longer one is no path and no display.
  private static let valueLength = 4096

  private var values: [String: String] = [:]

  /// The variables of the process, by what `variable` gives.
  package init(_ variable: (String) -> String?) {
    for name in Self.names { values[name] = variable(name) }
  }

  /// The variables among the lines `NAME=value` of the user manager's property `Environment`; nil if it is not one.
  package init?(_ environment: DBusValue?) {
    guard case .variant(.array(let lines))? = environment, lines.elementType == .string else { return nil }
    for case .string(let line) in lines {
      guard let mark = line.firstIndex(of: "="), Self.names.contains(String(line[..<mark])) else { continue }
      let value = line[mark...].dropFirst()
      if !value.isEmpty, value.utf8.count <= Self.valueLength { values[String(line[..<mark])] = String(value) }
    }
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

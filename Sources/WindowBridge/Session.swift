package import EventLoop
package import ProgramSupport

/// The window manager of a session, as the session's environment tells it.
package enum Session: Hashable, Sendable {
  case x11(display: String?)
  case sway(socket: String)
  case i3(socket: String)
  case hyprland(directory: String)
  case niri(socket: String)
  /// KDE Plasma, a compositor with wlroots' protocol, or COSMIC.
  case wayland(socket: String)
  /// KDE Plasma on Wayland, by a script in its compositor.
  case kwin
  case gnome(bus: String)

  /// A desktop that the bridge cannot follow.
  package struct Unsupported: Error, CustomStringConvertible {
    package let description: String
    /// Whether there is no desktop at all, as far as is known.
    package var isAbsence = false
  }

  /// What `--source` takes, the likeliest first.
  package static let names = ["sway", "hyprland", "niri", "wayland", "gnome", "kwin", "x11", "i3"]

  /// The window managers that there may be, the likeliest first; `variable` is one of the environment, and `name` what
  /// `--source` asks for.
  ///
  /// A variable may name one that has ended: the first that can be reached is followed.
  /// i3 is followed as an X session, which tells the processes of windows as well.
  /// `found` are those whose sockets are there, whether or not a variable names them, and `gnome` is the address of the
  /// bus that GNOME's extension is on; nil if it is not there.
  /// - Throws: `Unsupported` if there are none.
  package static func candidates(
    _ name: String? = nil, in variable: (String) -> String?, found: [Session] = [], gnome: String? = nil
  ) throws(Unsupported) -> [Session] {
    // Of a Wayland session an X server knows only the windows of X11's programs.
    let hasDisplay = !isWayland(variable) || name != nil
    let compositor = wayland(variable).map { Session.wayland(socket: $0) }
    let isComposited = compositor != nil || found.contains { $0.name == "wayland" }
    let named: [Session?] = [
      variable("SWAYSOCK").map { .sway(socket: $0) }, hyprland(variable),
      variable("NIRI_SOCKET").map { .niri(socket: $0) }, compositor, gnome.map { .gnome(bus: $0) },
      isComposited ? .kwin : nil, hasDisplay ? variable("DISPLAY").map { .x11(display: $0) } : nil,
      variable("I3SOCK").map { .i3(socket: $0) },
    ]
    let all = named.compactMap(\.self) + found
    let chosen = names.filter { name == nil || $0 == name }.flatMap { kind in all.filter { $0.name == kind } }
    guard chosen.isEmpty else { return chosen }
    let isAbsence = name == nil && !isWayland(variable)
    throw Unsupported(description: reason(name, variable), isAbsence: isAbsence)
  }

  private static func hyprland(_ variable: (String) -> String?) -> Session? {
    guard let instance = variable("HYPRLAND_INSTANCE_SIGNATURE"), let directory = variable("XDG_RUNTIME_DIR") else {
      return nil
    }
    return .hyprland(directory: "\(directory)/hypr/\(instance)")
  }

  private static func wayland(_ variable: (String) -> String?) -> String? {
    guard let name = variable("WAYLAND_DISPLAY"), !name.isEmpty else { return nil }
    return name.hasPrefix("/") ? name : variable("XDG_RUNTIME_DIR").map { "\($0)/\(name)" }
  }

  private static func isWayland(_ variable: (String) -> String?) -> Bool {
    variable("WAYLAND_DISPLAY") != nil || variable("XDG_SESSION_TYPE") == "wayland"
  }

  private static func reason(_ name: String?, _ variable: (String) -> String?) -> String {
    if let name { return "the environment does not name the socket or the display of \(name); see focusd-windows(8)" }
    guard isWayland(variable) else {
      return "no desktop: none of SWAYSOCK, HYPRLAND_INSTANCE_SIGNATURE, NIRI_SOCKET, WAYLAND_DISPLAY, DISPLAY and "
        + "I3SOCK is set; see focusd-windows(8)"
    }
    let desktop = variable("XDG_CURRENT_DESKTOP") ?? "this desktop"
    if desktop.split(separator: ":").contains("GNOME") {
      return "\(desktop) tells which window is in front only through its extension: "
        + "log in again, then gnome-extensions enable focusd@org.focusd, on GNOME 43 and 44 focusd-43@org.focusd; "
        + "see focusd-windows(8)"
    }
    return "the socket of \(desktop) on Wayland is unknown: WAYLAND_DISPLAY or XDG_RUNTIME_DIR is not set; "
      + "see focusd-windows(8)"
  }

  /// The socket that only this window manager has; nil if it has none.
  package var socket: String? {
    switch self {
    case .sway(let socket), .i3(let socket), .niri(let socket): socket
    case .hyprland(let directory): directory + "/.socket2.sock"
    default: nil
    }
  }

  var isX11: Bool { if case .x11 = self { true } else { false } }

  var isGNOME: Bool { if case .gnome = self { true } else { false } }

  /// The window manager's name, as `--source` takes it.
  package var name: String {
    switch self {
    case .x11: "x11"
    case .sway: "sway"
    case .i3: "i3"
    case .hyprland: "hyprland"
    case .niri: "niri"
    case .wayland: "wayland"
    case .kwin: "kwin"
    case .gnome: "gnome"
    }
  }

  /// What follows the window manager.
  package func source(on loop: EventLoop, log: Log) -> any WindowSource {
    switch self {
    case .x11(let display): XSource(display: display, on: loop)
    case .sway(let socket): TreeSource("sway", path: socket, on: loop, log: log)
    case .i3(let socket): TreeSource("i3", path: socket, on: loop, log: log)
    case .hyprland(let directory): HyprlandSource(directory: directory, on: loop, log: log)
    case .niri(let socket): NiriSource(path: socket, on: loop, log: log)
    case .wayland(let socket): WaylandSource(path: socket, on: loop, log: log)
    case .kwin: KWinSource(on: loop, log: log)
    case .gnome(let bus): GNOMESource(bus: bus, on: loop)
    }
  }
}

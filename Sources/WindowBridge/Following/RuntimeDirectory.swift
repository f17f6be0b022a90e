package import EventLoop

/// The sockets that window managers make: in the user's runtime directory, and where X servers have theirs.
package struct RuntimeDirectory {
  private static let displays = "/tmp/.X11-unix"

  private let path: String

  /// Looks into `path`, which `XDG_RUNTIME_DIR` names.
  package init(_ path: String) { self.path = path }

  /// The window managers whose sockets are there, whether or not anybody listens at them.
  package var sessions: [Session] {
    let names = DirectoryWatch.names(in: path)
    let instances = names.contains("hypr") ? DirectoryWatch.names(in: path + "/hypr") : []
    return names.compactMap { name in
      if name.hasPrefix("wayland-"), !name.hasSuffix(".lock") { return .wayland(socket: "\(path)/\(name)") }
      guard name.hasSuffix(".sock") else { return nil }
      if name.hasPrefix("sway-ipc.") { return .sway(socket: "\(path)/\(name)") }
      return name.hasPrefix("niri.") ? .niri(socket: "\(path)/\(name)") : nil
    } + instances.map { .hyprland(directory: "\(path)/hypr/\($0)") }
  }

  /// Has `watch` tell of new sockets.
  package func add(to watch: DirectoryWatch) {
    for directory in [path, path + "/hypr", path + "/i3", Self.displays] { watch.add(directory) }
  }

  /// Whether what appears under a name may be of a window manager.
  package static func isTelling(_ name: String) -> Bool {
    let starts = ["wayland-", "sway-ipc.", "niri.", "hypr", "i3", "ipc-socket.", ".socket"]
    // Of X servers: X0. Of instances of Hyprland: names that begin with a hash.
    return starts.contains { name.hasPrefix($0) } || (name.first == "X" && name.dropFirst().allSatisfy(\.isNumber))
      || name.count > 40
  }
}

internal import EventLoop

/// Where a program keeps what outlives it.
package enum StateDirectory {
  /// The directory that systemd gives, else `name` in `$XDG_STATE_HOME` or in `~/.local/state`; nil if none of them is set.
  package static func path(of name: String) -> String? {
    // systemd names several directories with colons between them; ours is the first.
    if let given = Environment.value("STATE_DIRECTORY") { return given.split(separator: ":").first.map(String.init) }
    if let home = Environment.value("XDG_STATE_HOME"), home.hasPrefix("/") { return "\(home)/\(name)" }
    return Environment.value("HOME").map { "\($0)/.local/state/\(name)" }
  }
}

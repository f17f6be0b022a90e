internal import EventLoop

/// Where a program keeps what outlives it.
package enum StateDirectory {
  /// The directory that systemd gives, else `name` in `$XDG_STATE_HOME` or in `~/.local/state`; nil if none of them is set.
  package static func path(of name: String) -> String? {
    // systemd names several directories with colons between them; ours is the first.
    if let given = absolute("STATE_DIRECTORY") { return given.split(separator: ":").first.map(String.init) }
    if let home = absolute("XDG_STATE_HOME") { return "\(home)/\(name)" }
    return absolute("HOME").map { "\($0)/.local/state/\(name)" }
  }

  /// The path that the variable holds; one that does not begin at the root counts as none: XDG Base Directory Specification.
  private static func absolute(_ variable: String) -> String? {
    Environment.value(variable).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }
}

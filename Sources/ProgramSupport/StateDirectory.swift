internal import EventLoop
internal import Glibc

/// Where a program keeps what outlives it.
package enum StateDirectory {
  /// The directory that systemd gives, else `name` in `$XDG_STATE_HOME` or in `~/.local/state`; nil if none of them is set.
  package static func path(of name: String) -> String? {
    // systemd names several directories with colons between them; ours is the first.
    if let given = Environment.path("STATE_DIRECTORY") { return given.split(separator: ":").first.map(String.init) }
    if let home = Environment.path("XDG_STATE_HOME") { return "\(home)/\(name)" }
    return Environment.path("HOME").map { "\($0)/.local/state/\(name)" }
  }

  /// Makes the directory at `path`, and what is missing above it, for the user alone.
  /// - Returns: the first that is not there and cannot be made, `errno` saying why; nil if all are there.
  package static func make(_ path: String) -> String? {
    var made = ""
    for element in path.split(separator: "/") {
      made += "/" + element
      guard mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
      // In a directory that cannot be written to, it may be there all the same.
      let error = errno
      if access(made, F_OK) == 0 { continue }
      errno = error
      return made
    }
    return nil
  }
}

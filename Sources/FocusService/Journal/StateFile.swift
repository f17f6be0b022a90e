internal import Glibc

/// Where the journal lies, and what becomes of a file that cannot be used.
struct StateFile {
  /// The file's path.
  let path: String

  /// The file at `path`.
  init(path: String) { self.path = path }

  /// The file in `$STATE_DIRECTORY`, else in `$XDG_STATE_HOME/focusd`, else in `~/.local/state/focusd`; nil where there
  /// is no such place.
  init?() {
    guard let directory = StateFile.directory() else { return nil }
    path = directory + "/state.db"
  }

  private static func directory() -> String? {
    // systemd names several directories with colons between them; ours is the first.
    if let given = environment("STATE_DIRECTORY") { return given.split(separator: ":").first.map(String.init) }
    if let home = environment("XDG_STATE_HOME"), home.hasPrefix("/") { return home + "/focusd" }
    return environment("HOME").map { $0 + "/.local/state/focusd" }
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Makes the file, and the directories above it that are not there, for the user alone: it holds passwords too.
  func make() {
    var path = ""
    for element in self.path.split(separator: "/").dropLast() {
      path += "/" + element
      mkdir(path, 0o700)
    }
    let file = open(self.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    fchmod(file, 0o600)
    close(file)
  }

  /// Renames the file, and what SQLite keeps beside it, to a name that says `reason` and is free.
  /// - Returns: the new path, or nil where the file cannot be renamed.
  func setAside(_ reason: String) -> String? {
    for number in 1...1000 {
      let aside = "\(path).\(reason)-\(number)"
      guard access(aside, F_OK) != 0 else { continue }
      guard rename(path, aside) == 0 else { return nil }
      for suffix in ["-wal", "-shm"] { rename(path + suffix, aside + suffix) }
      return aside
    }
    return nil
  }
}

internal import DBus

/// A state file whose place a new one must take: it is damaged or gone, and the daemon itself knows all that belongs in it.
struct Replacement {
  /// What the name of a file says that is found in the place and set aside.
  var reason: String
  /// The file that may be written over, since it holds nothing but what is saved anew.
  var own: StateFile.Identity?
  /// The file that may be written over if it is as it was when it was read.
  var stamp: StateFile.Stamp?
}

extension FocusService {
  /// Begins to replace the state file, which has turned out to be damaged.
  /// - Throws: `DBusError` if it cannot be set aside.
  func replaceDamaged() throws {
    guard let file = StateFile(), let aside = file.setAside("damaged") else {
      throw DBusError(.ioError, "the state file is damaged and cannot be renamed")
    }
    log.error("\(file.path) is damaged: it is kept as \(aside), and the state is saved again")
    replacement = Replacement(reason: "damaged")
    // Before there is another: SQLite removes, by its name, the log of the one that it closes.
    journal = nil
  }

  /// Begins to replace the state file, which has been moved, deleted or replaced by another.
  func replaceGone() {
    let identity = journal?.identity
    let gonesLog = journal?.log
    // It is closed first, since it may still have the lock of the file in its place.
    journal = nil
    replacement = Replacement(reason: "replaced")
    guard let file = StateFile() else { return }
    log.error("\(file.path) has been moved, deleted or replaced: the state is saved again")
    if file.identity == identity {
      replacement?.own = identity
    } else if let gonesLog {
      // Beside another database the log would be taken for that one's.
      file.removeLog(gonesLog)
    }
  }

  /// Saves everything in a new file.
  ///
  /// Whatever is found in its place is set aside, and never deleted.
  /// - Throws: whatever prevents that; then it is tried again with the next change.
  /// - Returns: true, since everything was written.
  func replaceJournal() throws -> Bool {
    guard let file = StateFile() else { throw DBusError(.ioError, "there is no directory for a state file") }
    try file.prepare()
    if let stamp = replacement?.stamp, stamp == file.stamp { replacement?.own = file.identity }
    replacement?.stamp = nil
    if file.identity != replacement?.own, file.size > 0 {
      guard !file.isLocked else { throw DBusError(.ioError, "\(file.path): another focusd uses it") }
      guard let aside = file.setAside(replacement?.reason ?? "replaced") else {
        throw DBusError(.ioError, "\(file.path) is in the way and cannot be renamed")
      }
      log.error("\(file.path) was in the way: it is kept as \(aside)")
      try file.prepare()
    }
    replacement?.own = file.identity
    let new = try Journal(file)
    new.bus = busID
    try new.save(model, everything: true)
    journal = new
    replacement = nil
    return true
  }
}

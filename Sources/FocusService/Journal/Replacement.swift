internal import DBus

/// A state file that turns out to be damaged while the daemon runs, which itself knows all that belongs in it.
extension FocusService {
  /// Sets the file aside, which is never deleted, and saves everything that there is in a new one.
  /// - Throws: whatever prevents that; then it is tried again with the next change.
  /// - Returns: true, since everything was written.
  func replaceJournal() throws -> Bool {
    guard let file = StateFile() else { throw DBusError(.ioError, "there is no place for a state file") }
    if !isReplacing {
      guard let aside = file.setAside("damaged") else {
        throw DBusError(.ioError, "\(file.path) is damaged, and cannot be set aside")
      }
      log.error("\(file.path) is damaged: it is kept as \(aside), and what it is to hold is saved anew")
      isReplacing = true
      // Before there is another: SQLite removes, by its name, the log of the one that it closes.
      journal = nil
    }
    file.make()
    let new = try Journal(path: file.path)
    new.bus = busID
    try new.save(model, everything: true)
    journal = new
    isReplacing = false
    return true
  }
}

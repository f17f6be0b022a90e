internal import DBus
internal import FocusContract
internal import ProgramSupport

/// A state file whose place a new one must take: it is damaged or gone, and the daemon itself knows all that belongs in it.
struct Replacement {
  /// What the name of a file says that is found in the place and set aside.
  var reason: String
  /// The file that may be written over, since it holds only what will be saved again.
  var own: StateFile.Identity?
  /// The file that may be written over if it is as it was when it was read.
  var stamp: StateFile.Stamp?
  /// Whether it is wanted at once, since all of the file that is set aside has been read, and not with the next change.
  var isDue = false
}

extension Replacement {
  /// Begins to replace `file`, which has turned out to be damaged.
  /// - Throws: `DBusError` if it cannot be set aside.
  init(setAside file: StateFile?, _ log: Log) throws {
    guard let file, let aside = file.setAside("damaged") else {
      throw DBusError(Focus1.ioError, "the state file is damaged and cannot be renamed")
    }
    log.error("\(file.path) is damaged: it is kept as \(aside), and the state is saved again")
    self.init(reason: "damaged")
  }

  /// Begins to replace `file`, which has been moved, deleted or replaced by another, and is closed.
  init(of gone: (file: StateFile.Identity, log: StateFile.Identity)?, in file: StateFile?, _ log: Log) {
    self.init(reason: "replaced")
    guard let file else { return }
    log.error("\(file.path) has been moved, deleted or replaced: the state is saved again")
    guard let gone else { return }
    if file.identity == gone.file {
      own = gone.file
    } else {
      // Beside another database the log would be taken for that one's.
      file.removeLog(gone.log)
    }
  }

  /// Opens a new journal in `file`; what is found in its place is set aside, and never deleted.
  /// - Throws: the error that prevents that; then it can be tried again.
  mutating func journal(in file: StateFile?, _ log: Log) throws -> Journal {
    guard let file else { throw DBusError(Focus1.ioError, "there is no directory for a state file") }
    try file.prepare()
    if let stamp, stamp == file.stamp { own = file.identity }
    stamp = nil
    if file.identity != own, file.size > 0 {
      guard !file.isLocked else { throw DBusError(Focus1.ioError, "\(file.path): another focusd uses it") }
      guard let aside = file.setAside(reason) else {
        throw DBusError(Focus1.ioError, "\(file.path) is in the way and cannot be renamed")
      }
      log.error("\(file.path) was in the way: it is kept as \(aside)")
      try file.prepare()
    }
    own = file.identity
    return try Journal(file)
  }
}

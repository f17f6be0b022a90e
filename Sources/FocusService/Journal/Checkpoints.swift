internal import CSQLite
internal import EventLoop

/// When what the log holds is copied into the database and synced: on a thread of its own, so that nobody waits for the disk.
///
/// SQLite would write over a log from its start once all of it is copied, and sync its header before that: after a loss of
/// power, a log of which some old pages are left would take the database back to what these hold. So the log is emptied first,
/// and never written over; a file's new size comes before what is written to it then.
struct Checkpoints {
  /// A log of this size is copied.
  static let size = 4 << 20
  /// How much the log grows before one that was not copied completely is copied again.
  private static let step = 1 << 20
  /// Each time that a log has grown by so much, a copy may take so long to be complete before more is written: while
  /// transactions follow each other without a gap, it would never be, and an index of the log takes eight bytes a page.
  private static let largeStep = 6 << 20
  private static let patience = Duration.milliseconds(20)
  /// The size from which on no more is written: the disk is too slow.
  private static let mostSize = 1 << 30

  private var current: Checkpoint?
  private var logSize = 0
  /// The size at which the next one begins.
  private var due = size
  /// The size at which one is waited for.
  private var waitDue = largeStep

  /// Whether one is under way.
  var isUnderWay: Bool { current.map { !$0.thread.hasEnded(within: .zero) } ?? false }

  /// Empties the log of the database at `path` if all of it has been copied; to be called before each transaction.
  /// - Throws: `DatabaseError` if so much waits to be copied that no more may be written.
  mutating func prepareToWrite(to database: Database, at path: @autoclosure () -> String) throws(DatabaseError) {
    if let current, current.thread.hasEnded(within: patience(for: current)) {
      self.current = nil
      // If the log cannot be emptied, it goes on to grow.
      if current.end(), database.emptyLog() { (logSize, due, waitDue) = (0, Checkpoints.size, Checkpoints.largeStep) }
    }
    guard logSize < Checkpoints.mostSize else {
      // Nothing is written meanwhile, so that this one copies all of it.
      if current == nil { current = Checkpoint(of: path()) }
      throw DatabaseError(code: SQLITE_BUSY, description: "the disk is too slow for the changes")
    }
  }

  /// How long the end of `checkpoint` is waited for.
  private mutating func patience(for checkpoint: Checkpoint) -> Duration {
    guard logSize >= waitDue, !checkpoint.isOvertaken else { return .zero }
    waitDue = logSize + Checkpoints.largeStep
    return Checkpoints.patience
  }

  /// Takes note that a transaction was written, and begins to copy the log of the database at `path` if it is large.
  mutating func wrote(_ logSize: Int, to path: @autoclosure () -> String) {
    self.logSize = logSize
    current?.isOvertaken = true
    guard logSize >= due, current == nil else { return }
    due = logSize + Checkpoints.step
    current = Checkpoint(of: path())
  }

  /// Waits for the one that is under way.
  mutating func finish() {
    _ = current?.thread.hasEnded(within: nil)
    current = nil
  }
}

/// One copying of the log, and its thread.
private final class Checkpoint {
  /// Whether more was written since it began.
  var isOvertaken = false
  let thread: SystemThread
  private let isComplete: Locked<Bool>
  /// A reader of the log, since nobody writes over what it may read.
  private var reader: Database?

  /// Begins to copy the log of the database at `path`; nil if that is not possible now.
  init?(of path: String) {
    let isComplete = Locked(false)
    guard let reader = try? Checkpoint.open(path, "BEGIN"),
      let thread = SystemThread({
        let hasCopied = (try? Checkpoint.open(path, "PRAGMA synchronous = NORMAL"))?.copyLog() ?? false
        isComplete.withLock { $0 = hasCopied }
      })
    else { return nil }
    (self.reader, self.thread, self.isComplete) = (reader, thread, isComplete)
  }

  /// A connection that has read from the log.
  private static func open(_ path: String, _ settings: String) throws(DatabaseError) -> Database {
    let database = try Database(path: path, keepsLog: true)
    try database.execute("PRAGMA wal_autocheckpoint = 0; \(settings); SELECT rowid FROM sqlite_schema LIMIT 1")
    return database
  }

  /// Lets the log be written over, once the thread has ended.
  /// - Returns: whether all that the log holds is in the database.
  func end() -> Bool {
    reader = nil
    return !isOvertaken && isComplete.withLock { $0 }
  }
}

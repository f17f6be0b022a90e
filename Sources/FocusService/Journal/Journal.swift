internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel
internal import Glibc

/// What outlives the daemon, in an SQLite database: each turn's changes in one transaction.
///
/// A committed transaction survives the end of the process, however it ends: SQLite's write-ahead log is written with
/// `write(2)`. It is synced to the disk at checkpoints only, which have a thread of their own: the journal's own connection
/// syncs nothing before it is closed.
final class Journal {
  /// How many revisions are reserved at once, and again when half of them are used: a turn uses far fewer, so what it
  /// publishes is reserved before it begins, and the other half lasts while nothing can be saved.
  static let revisionsAhead: UInt64 = 1 << 20

  let database: Database
  private let file: StateFile
  /// The database and its log as they were opened.
  let identity: StateFile.Identity
  let log: StateFile.Identity
  private lazy var putState = database.statement("INSERT OR REPLACE INTO state VALUES (?, ?)")
  private lazy var putField = database.statement(
    "INSERT OR REPLACE INTO field VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
  private lazy var putMemory = database.statement("UPDATE field SET memory = ? WHERE id = ?")
  private lazy var deleteField = database.statement("DELETE FROM field WHERE id = ?")
  private lazy var putBinding = database.statement(
    """
    INSERT INTO binding VALUES (?, ?, ?, ?, ?) ON CONFLICT (field, key)
    DO UPDATE SET revision = excluded.revision, read_only = excluded.read_only, value = excluded.value
    """)
  private lazy var deleteBinding = database.statement("DELETE FROM binding WHERE field = ? AND key = ?")
  private lazy var deleteBindings = database.statement("DELETE FROM binding WHERE field = ?")
  private lazy var begin = database.statement("BEGIN IMMEDIATE")
  private lazy var commit = database.statement("COMMIT")
  private var saved = SavedState()
  private var savedBus: String?
  private var isWriting = false
  private var checkpoints = Checkpoints()

  /// The id of the bus that the owners' names belong to, which is saved with the next changes; nil if unknown.
  var bus: String?

  /// Opens the journal in `file`, which is prepared, or makes it, with small pages: most transactions change one row.
  /// - Throws: `DatabaseError`, `SavedStateDamaged`, `SchemaTooNew`, `StateFileGone`, `StateFileEmpty`.
  init(_ file: StateFile) throws {
    self.file = file
    try file.checkLog()
    database = try Database(path: file.resolvedPath)
    // Pages that become free are not written over: that takes as long as to write what they held. What leaves a page that stays
    // in use, such as a password, is.
    // A loss of power can take nothing from a log that is not synced that was in the file before.
    // The system has the pages as well: a cache of 2 MiB, SQLite's own, is a fifth of what 10,000 fields take. What a
    // transaction changes stays in it up to the commit, and is not written and read again.
    try database.execute(
      """
      PRAGMA page_size = 1024;
      PRAGMA synchronous = OFF;
      PRAGMA secure_delete = FAST;
      PRAGMA journal_mode = WAL;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA foreign_keys = OFF;
      PRAGMA cache_size = -256;
      PRAGMA cache_spill = OFF;
      """)
    // Before anything is acknowledged that would be lost with it: it takes less time than to read the rows.
    try database.check()
    try Schema.migrate(database)
    // SQLite does not write to a database that says that it has a later format.
    guard !database.isReadOnly || access(file.path, W_OK) != 0 else {
      throw SavedStateDamaged(description: "the format is a later one")
    }
    guard let identity = file.identity, let log = file.log.identity else { throw StateFileGone() }
    (self.identity, self.log) = (identity, log)
  }

  deinit {
    checkpoints.finish()
    // The last connection that is closed makes a checkpoint: the process ends, and may wait for the disk.
    if file.log.size > 0 { try? database.execute("PRAGMA synchronous = NORMAL") }
  }

  /// Goes on from what an earlier process has saved.
  func begin(after saved: Saved) {
    (self.saved, savedBus, bus) = (saved.state, saved.bus, saved.bus)
  }

  /// Copies the file as it is now, beside it.
  /// - Throws: `DatabaseError`, `StateFileRefused`.
  /// - Returns: the copy's path.
  func keepCopy(of file: StateFile) throws -> String {
    // What it was copied from is written over.
    try database.execute("PRAGMA synchronous = NORMAL")
    defer { try? database.execute("PRAGMA synchronous = OFF") }
    let path = try file.create("over-limits")
    do {
      try database.statement("VACUUM INTO ?").run([.text(file.resolved(path))])
    } catch {
      unlink(path)
      throw error
    }
    return path
  }

  /// Whether a checkpoint is under way, so that the file cannot be closed without waiting for the disk.
  var isBusy: Bool { checkpoints.isUnderWay }

  /// The highest revision that may be published: no later process uses it, or one before it, for another state.
  var reserved: UInt64 { saved.revision }

  /// Whether `model` has used so many revisions that more must be reserved.
  func mustReserve(for model: FocusModel) -> Bool {
    model.revision + Journal.revisionsAhead / 2 > saved.revision
  }

  /// Makes durable what has changed since the last time, or `everything`, in place of what is there; all or nothing.
  /// - Throws: `DatabaseError`, `DBusError`; then what was saved before still is. `StateFileGone` if the file has been
  ///   moved, deleted or replaced.
  /// - Returns: whether there was anything to write.
  @discardableResult
  func save(_ model: FocusModel, everything: Bool = false) throws -> Bool {
    if everything { (saved, savedBus) = (SavedState(), nil) }
    var state = saved
    state.focusedField = model.focusedField
    state.history = model.history
    state.front = model.front
    if mustReserve(for: model) { state.revision = model.revision + Journal.revisionsAhead }
    try checkpoints.prepareToWrite(to: database, at: file.resolvedPath)
    do {
      for table in everything ? ["state", "field", "binding"] : [] {
        try write(database.statement("DELETE FROM \(table)"))
      }
      try save(state)
      try put("bus", bus, if: bus != savedBus)
      for field in everything ? model.allFieldsUnsaved : model.unsavedFields { try save(field) }
      for (id, moment) in everything ? [] : model.unsavedMemories {
        try write(putMemory, [.text(KeptMoments.text(ofFocus: moment)), .text(id.text)])
      }
      guard isWriting else { return false }
      try commit.run()
      isWriting = false
      // After the commit: what goes away later, goes away with what it holds. SQLite goes on to write to deleted files, which
      // the next process would not find.
      let log = file.log
      guard file.identity == identity, log.identity == self.log else { throw StateFileGone() }
      checkpoints.wrote(log.size, to: file.resolvedPath)
    } catch {
      if isWriting { try? database.execute("ROLLBACK") }
      isWriting = false
      throw error
    }
    saved = state
    savedBus = bus
    return true
  }

  /// Runs `statement` in the transaction, which the first one begins.
  private func write(_ statement: Statement, _ parameters: [Statement.Value] = []) throws {
    if !isWriting { try begin.run() }
    isWriting = true
    try statement.run(parameters)
  }

  private func put(_ name: String, _ text: @autoclosure () -> String?, if hasChanged: Bool) throws {
    if hasChanged { try write(putState, [.text(name), .text(text())]) }
  }

  private func save(_ state: SavedState) throws {
    try put("focused", state.focusedField?.text, if: state.focusedField != saved.focusedField)
    try put("front", state.front?.text, if: state.front != saved.front)
    try put("history", state.history.map(\.text).joined(separator: " "), if: state.history != saved.history)
    if state.revision != saved.revision {
      try write(putState, [.text("revision"), .number(Int64(bitPattern: state.revision))])
    }
  }

  private func save(_ field: UnsavedField) throws {
    let id = Statement.Value.text(field.id.text)
    if field.hasChanged {
      if field.losesBindings { try write(deleteBindings, [id]) }
      guard let now = field.now else { return try write(deleteField, [id]) }
      try write(putField, Journal.row(of: now))
    }
    for (key, binding) in field.changedBindings {
      let key = Statement.Value.text(key.description)
      guard let binding else {
        try write(deleteBinding, [id, key])
        continue
      }
      try write(
        putBinding,
        [
          id, key, .number(Int64(bitPattern: binding.revision)), .number(binding.isReadOnly ? 1 : 0),
          .blob(binding.value.storage),
        ])
    }
  }

  private static func row(of field: Field) -> [Statement.Value] {
    func words(_ words: some Sequence<String>) -> String { words.joined(separator: " ") }
    let object = field.savedObject
    let condition = field.activity?.condition
    let commands = object?.choice.commands.map { "\($0.key)=\($0.value.text)" } ?? []
    return [
      .text(field.id.text), .text(field.label), .text(field.scope.rawValue), .number(field.lingers ? 1 : 0),
      .number(field.isSensitive ? 1 : 0), .text(field.owner?.text), .text(field.savedParent?.text),
      .number(Int64(bitPattern: field.registration)), .text(object?.choice.path.text),
      .text(object?.choice.interfaces.map(words)), .text(object.map { words($0.disabled.map(\.description)) }),
      .text(field.service?.text), .text(object.map { words($0.choice.live.map(\.description)) }),
      .number(field.claimedProcess.map(Int64.init)), .text(field.window.map(KeptMoments.text(of:))),
      .text(KeptMoments.text(ofFocus: field.lastFocused)), .text(condition?.key.description),
      .blob(condition?.value.storage), .text(field.activity.map(KeptMoments.text(of:))),
      .text(commands.isEmpty ? nil : words(commands)),
    ]
  }
}

internal import CSQLite

/// Why SQLite refused something.
struct DatabaseError: Error, Hashable, CustomStringConvertible {
  /// SQLite's result code, without its extension.
  let code: Int32
  /// What SQLite says of it.
  let description: String

  /// Whether the file is no database, or a broken one; anything else may be the fault of the system, or of the moment.
  var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

  /// Whether what is in the file keeps it from being opened: what this program asks of any other file, SQLite does.
  var isMisunderstood: Bool {
    isDamage || [SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG].contains(code)
  }

  /// What SQLite says of it, and what helps.
  var sentence: String { description + (remedy.map { ": \($0)" } ?? "") }

  private var remedy: String? {
    switch code {
    case SQLITE_FULL: "free space on its file system"
    case SQLITE_IOERR: "look whether its disk works, and whether a quota is used up"
    case SQLITE_READONLY, SQLITE_CANTOPEN: "make it and its directory writable"
    default: nil
    }
  }

  /// Whether another process has the file.
  var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

  /// Another process has the file.
  static let busy = DatabaseError(code: SQLITE_BUSY, description: "the database is locked")
}

/// One SQLite database, used by one thread.
final class Database {
  fileprivate let handle: OpaquePointer

  private static let configuration = csqlite_count_no_memory()

  /// Opens the file at `path`, or makes it, which other processes cannot use meanwhile; one that `keepsLog` leaves the log as
  /// it is when it is closed.
  /// - Throws: `DatabaseError`.
  init(path: String, keepsLog: Bool = false) throws(DatabaseError) {
    // This process's connections share the log's index in its memory, and one lock keeps all others away.
    handle = try Database.open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix-excl")
    if keepsLog { csqlite_keep_log(handle) }
  }

  /// Opens `path` read-only, in a directory in which no file can be created or changed.
  ///
  /// Locks are not available there, and not needed without a writer. SQLite creates a log unless it is told that the file cannot change.
  private init(readOnly path: String, hasLog: Bool) throws(DatabaseError) {
    let plain = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-".utf8)
    let escaped = path.utf8.map { byte in
      plain.contains(byte)
        ? String(UnicodeScalar(byte)) : "%" + String(UInt(byte) + 0x100, radix: 16).suffix(2)
    }.joined()
    handle = try Database.open(
      "file:\(escaped)\(hasLog ? "" : "?immutable=1")", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, "unix-none")
  }

  private static func open(_ name: String, _ flags: Int32, _ system: String) throws(DatabaseError) -> OpaquePointer {
    _ = configuration
    var opened: OpaquePointer?
    // Links on the way to the file are the caller's to follow: the file itself must not be one.
    let flags = flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW
    let code = sqlite3_open_v2(name, &opened, flags, system)
    guard code == SQLITE_OK, let opened else {
      let reason = String(cString: sqlite3_errmsg(opened))
      sqlite3_close_v2(opened)
      throw DatabaseError(code: code & 0xff, description: reason)
    }
    return opened
  }

  /// Copies the file at `path`, with what its log holds, into memory, from a place where no file can be made or changed.
  /// - Throws: `DatabaseError`.
  convenience init(copyOf path: String, hasLog: Bool) throws(DatabaseError) {
    let source = try Database(readOnly: path, hasLog: hasLog)
    // The log's index is in memory then.
    try source.execute("PRAGMA locking_mode = EXCLUSIVE")
    try self.init(path: ":memory:")
    guard let backup = sqlite3_backup_init(handle, "main", source.handle, "main") else {
      throw error(sqlite3_errcode(handle))
    }
    let code = sqlite3_backup_step(backup, -1)
    sqlite3_backup_finish(backup)
    guard code == SQLITE_DONE else {
      throw DatabaseError(code: code & 0xff, description: String(cString: sqlite3_errstr(code)))
    }
  }

  deinit { sqlite3_close_v2(handle) }

  fileprivate func error(_ code: Int32) -> DatabaseError {
    DatabaseError(code: code & 0xff, description: String(cString: sqlite3_errmsg(handle)))
  }

  /// Runs statements that have no parameters and whose results do not matter.
  /// - Throws: `DatabaseError`.
  func execute(_ sql: String) throws(DatabaseError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code) }
  }

  /// A statement that is used again and again; it is prepared when it is run for the first time.
  func statement(_ sql: String) -> Statement { Statement(sql, self) }

  fileprivate func prepare(_ sql: String) throws(DatabaseError) -> OpaquePointer {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared else { throw error(code) }
    return prepared
  }

  /// The number in the first column of the first row that `sql` finds; 0 if it finds no row.
  /// - Throws: `DatabaseError`.
  func number(_ sql: String) throws -> Int64 {
    var result: Int64 = 0
    try statement(sql).rows { row in result = row.number(0) }
    return result
  }

  /// Copies what the log holds into the file, and syncs both as `PRAGMA synchronous` says, without waiting for others.
  /// - Returns: whether all that the log held is in the file.
  func copyLog() -> Bool {
    var (held, copied): (Int32, Int32) = (0, 0)
    let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, &held, &copied)
    return code == SQLITE_OK && held > 0 && held == copied
  }

  /// Empties the log, all of which has been copied.
  /// - Returns: false if that is not possible now.
  func emptyLog() -> Bool {
    sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil) == SQLITE_OK
  }

  /// Whether nothing can be written to it, as far as it was read.
  var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

  /// Looks through the file.
  /// - Throws: `DatabaseError`, `SavedStateDamaged` if its parts are inconsistent.
  func check() throws {
    var found: String?
    try statement("PRAGMA quick_check(1)").rows { row in found = row.text(0) }
    guard found == "ok" else { throw SavedStateDamaged(description: found ?? "the check had no result") }
  }
}

/// Saved data that this program would not have written.
struct SavedStateDamaged: Error, CustomStringConvertible {
  /// What is wrong with it.
  let description: String
}

/// A statement that is prepared once.
final class Statement {
  /// What a parameter holds; nil: NULL.
  enum Value {
    case number(Int64?)
    case text(String?)
    case blob([UInt8]?)
  }

  private let sql: String
  private let database: Database
  private var prepared: OpaquePointer?

  fileprivate init(_ sql: String, _ database: Database) { (self.sql, self.database) = (sql, database) }

  deinit { sqlite3_finalize(prepared) }

  /// Runs the statement with `parameters` and calls `body` with each row.
  /// - Throws: `DatabaseError`, or what `body` throws.
  func rows(_ parameters: [Value] = [], _ body: (Row) throws -> Void) throws {
    if prepared == nil { prepared = try database.prepare(sql) }
    defer {
      sqlite3_reset(prepared)
      sqlite3_clear_bindings(prepared)
    }
    for (index, parameter) in parameters.enumerated() { try bind(parameter, Int32(index + 1)) }
    while true {
      let code = sqlite3_step(prepared)
      switch code & 0xff {
      case SQLITE_ROW: try body(Row(handle: prepared))
      case SQLITE_DONE: return
      default: throw database.error(code)
      }
    }
  }

  /// Runs the statement with `parameters`.
  /// - Throws: `DatabaseError`.
  func run(_ parameters: [Value] = []) throws { try rows(parameters) { _ in } }

  private func bind(_ value: Value, _ index: Int32) throws(DatabaseError) {
    let code =
      switch value {
      case .number(let number?): sqlite3_bind_int64(prepared, index, number)
      case .text(let text?): csqlite_bind_text(prepared, index, text, UInt64(text.utf8.count))
      case .blob(let bytes?): csqlite_bind_blob(prepared, index, bytes, UInt64(bytes.count))
      case .number(nil), .text(nil), .blob(nil): sqlite3_bind_null(prepared, index)
      }
    guard code == SQLITE_OK else { throw database.error(code) }
  }
}

/// One row that a statement has found, valid until the next.
struct Row {
  fileprivate let handle: OpaquePointer?

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// How many bytes the column takes.
  func size(_ column: Int32) -> Int { Int(sqlite3_column_bytes(handle, column)) }

  func number(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  func text(_ column: Int32) -> String? { sqlite3_column_text(handle, column).map { String(cString: $0) } }

  func blob(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, column) else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }
}

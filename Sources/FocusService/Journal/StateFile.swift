internal import Glibc
internal import ProgramSupport

/// Where the journal lies, and what becomes of a file that cannot be used.
///
/// It holds passwords too, so its directory must be the user's own and closed to others; one that is not stays as it is.
struct StateFile {
  /// Which file is meant, whatever it is called.
  struct Identity: Hashable {
    let device: UInt
    let inode: UInt
  }

  /// The file's path.
  let path: String

  /// What SQLite keeps beside a database.
  private static let suffixes = ["-wal", "-shm"]

  /// The file at `path`.
  init(path: String) { self.path = path }

  /// The file in the state directory of the daemon, or nil if the environment sets no state directory.
  init?() {
    guard let directory = StateDirectory.path(of: "focusd") else { return nil }
    path = directory + "/state.db"
  }

  /// The directory that the file is in.
  var directory: String { String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)) }

  /// The path with every link on the way to the directory followed.
  var resolvedPath: String { resolved(path) }

  /// `path`, which is in the directory, with every link on the way to the directory followed, or as it is.
  func resolved(_ path: String) -> String {
    guard let resolved = realpath(directory, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved) + path.dropFirst(directory.count)
  }

  /// Checks that the file is the user's own, in a directory that is open to the user alone, and makes what is missing.
  /// - Throws: `StateFileRefused`.
  func prepare() throws(StateFileRefused) {
    if let missing = StateDirectory.make(directory) { throw StateFile.refusal(missing, "cannot be made") }
    try checkDirectory()
    for suffix in [""] + StateFile.suffixes { try checkFile(path + suffix) }
    do { try StateFile.create(path) } catch { if status(path) == nil { throw isDeleted ? deletion : error } }
  }

  /// Whether the directory is one that is no more: the service's sandbox holds it.
  private var isDeleted: Bool {
    var found = stat()
    return stat(directory, &found) == 0 && found.st_nlink == 0
  }

  private var deletion: StateFileRefused {
    StateFileRefused(description: "\(directory) has been deleted: 'systemctl --user restart focusd' makes it again")
  }

  private static func create(_ path: String) throws(StateFileRefused) {
    let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw refusal(path, "cannot be created") }
    close(file)
  }

  private static func refusal(_ path: String, _ what: String) -> StateFileRefused {
    StateFileRefused(description: "\(path) \(what): \(String(cString: strerror(errno)))")
  }

  private func checkDirectory() throws(StateFileRefused) {
    var found = stat()
    guard stat(directory, &found) == 0 else {
      throw StateFile.refusal(directory, "cannot be reached, since a link leads nowhere")
    }
    guard found.st_mode & S_IFMT == S_IFDIR else {
      throw StateFileRefused(description: "\(directory) is not a directory: it must be a directory of the user")
    }
    try checkOwner(found, directory)
    guard found.st_mode & 0o077 != 0 else { return }
    // Nobody else can have changed anything in a directory that others could only read. The directory of the user's settings
    // may be one, and systemd since 254 links to it if it is there first.
    if found.st_mode & 0o022 == 0, chmod(directory, 0o700) == 0 { return }
    let mode = String(found.st_mode & 0o777, radix: 8)
    throw StateFileRefused(
      description: "\(directory) is accessible to others with the mode \(mode): it must have the mode 700")
  }

  private func checkFile(_ path: String) throws(StateFileRefused) {
    guard let found = status(path) else { return }
    let kind = found.st_mode & S_IFMT
    guard kind == S_IFREG else {
      let what = kind == S_IFLNK ? "a symbolic link" : "not a regular file"
      throw StateFileRefused(description: "\(path) is \(what): it must be a regular file")
    }
    try checkOwner(found, path)
    guard access(path, R_OK) == 0 else { throw StateFile.refusal(path, "cannot be read") }
  }

  private func checkOwner(_ found: stat, _ path: String) throws(StateFileRefused) {
    guard found.st_uid == geteuid() else {
      throw StateFileRefused(
        description: "\(path) belongs to another user: it must belong to the user \(geteuid())")
    }
  }

  private func status(_ path: String) -> stat? {
    var found = stat()
    return lstat(path, &found) == 0 ? found : nil
  }

  private func identity(_ found: stat?) -> Identity? {
    found.map { Identity(device: UInt($0.st_dev), inode: UInt($0.st_ino)) }
  }

  /// The file that is at the path now; nil for none.
  var identity: Identity? { identity(status(path)) }

  /// The write-ahead log that is beside it now, nil for none, and how many bytes it takes.
  var log: (identity: Identity?, size: Int) {
    let found = status(path + "-wal")
    return (identity(found), Int(found?.st_size ?? 0))
  }

  /// Whether it is there and holds nothing, as after a failure of the disk's.
  var isEmpty: Bool { status(path).map { $0.st_mode & S_IFMT == S_IFREG && $0.st_size == 0 } == true && log.size == 0 }

  /// How many bytes the file and its log take.
  var size: Int { Int(status(path)?.st_size ?? 0) + log.size }

  /// Checks that the log does not belong to a file that is gone: SQLite removes one that is beside an empty file.
  /// - Throws: `StateFileEmpty`.
  func checkLog() throws(StateFileEmpty) {
    guard log.size == 0 || size > log.size else { throw StateFileEmpty() }
  }

  /// Whether anyone has written to the file or its log.
  struct Stamp: Hashable {
    fileprivate let files: [[Int]]
  }

  /// The file and its log as they are now.
  var stamp: Stamp {
    Stamp(
      files: [path, path + "-wal"].compactMap { status($0) }.map { file in
        [Int(file.st_dev), Int(file.st_ino), Int(file.st_size), file.st_mtim.tv_sec, file.st_mtim.tv_nsec]
      })
  }

  /// Whether the file, or something beside it that SQLite needs, cannot be written to.
  var isReadOnly: Bool {
    [path, path + "-wal", directory].contains { (path: String) in
      access(path, W_OK) != 0 && (errno == EROFS || errno == EACCES)
    }
  }

  /// Whether another process has the file open, as SQLite's locks tell; this one must not, since it would lose its own locks.
  var isLocked: Bool {
    let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    // SQLite's PENDING_BYTE, and what follows it.
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 0x4000_0000
    lock.l_len = 512
    return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
  }

  /// Removes the log beside the file if it is `log`: it belongs to a database that is no longer there.
  func removeLog(_ log: Identity) {
    if self.log.identity == log { unlink(path + "-wal") }
  }

  /// A path beside the file that says `reason` and is free, or nil if a thousand are taken.
  func freePath(_ reason: String) -> String? {
    (1...1000).lazy.map { "\(path).\(reason)-\($0)" }.first { status($0) == nil }
  }

  /// Makes an empty file beside it whose name says `reason`.
  /// - Throws: `StateFileRefused` if that is not possible.
  /// - Returns: its path.
  func create(_ reason: String) throws(StateFileRefused) -> String {
    guard let path = freePath(reason) else {
      throw StateFileRefused(description: "there is no free name beside \(self.path)")
    }
    try StateFile.create(path)
    return path
  }

  /// Renames the file, and what SQLite keeps beside it, to a name that says `reason` and is free.
  /// - Returns: the new path, or nil if the file cannot be renamed.
  func setAside(_ reason: String) -> String? {
    guard let aside = freePath(reason), rename(path, aside) == 0 else { return nil }
    for suffix in StateFile.suffixes { rename(path + suffix, aside + suffix) }
    return aside
  }
}

/// A place where the state cannot be: what is wrong with it, and what would be right.
struct StateFileRefused: Error, CustomStringConvertible {
  let description: String
}

/// The journal's file has lost what it held, and its log has not.
struct StateFileEmpty: Error, CustomStringConvertible {
  var description: String { "the state file is empty or missing, but its log is not" }
}

/// The journal's file is no longer where the next process will look for it.
struct StateFileGone: Error, CustomStringConvertible {
  var description: String { "the state file has been moved, deleted or replaced" }
}

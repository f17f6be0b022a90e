internal import DBus
internal import FocusModel
internal import Glibc

extension Journal {
  /// What `open` has found.
  struct Opened {
    /// Nil if nothing can be saved now.
    var journal: Journal?
    /// How the journal is made later, if there is something to serve without it.
    var replacement: Replacement?
    /// What was saved.
    var saved = Saved()
    /// The model that the saved fields make.
    var model: FocusModel { saved.restoration.model }
    /// What is not as it should be, a line each.
    var problems: [String] = []
    /// Whether another process uses the file.
    var isBusy = false
    /// The revision after which those of a new file begin, if another was set aside.
    var leastRevision: UInt64 = 0
  }

  /// Opens the journal in `file` and reads it, also if that is read-only.
  ///
  /// One that is damaged, or of a later version, is set aside and never deleted; a new one takes its place, with all that it
  /// held if that can be read. One that another process uses is tried again at most `retries` times, after a twentieth of a
  /// second each. Revisions go on after `revision`.
  static func open(
    _ file: StateFile?, retries: Int = 0, after revision: UInt64 = 0,
    _ progress: @escaping StartProgress = { _, _ in }
  ) -> Opened {
    guard let file else {
      return Opened(problems: [
        "cannot save state: neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME is an absolute path"
      ])
    }
    var left = retries
    var problems: [String] = []
    var revision = revision
    while true {
      do {
        var opened = try openOnce(file, after: revision, progress)
        opened.problems = problems + opened.problems
        return opened
      } catch let error as DatabaseError where error.isBusy && left > 0 {
        left -= 1
        usleep(50_000)
      } catch {
        guard problems.isEmpty, let reason = reasonToSetAside(error) else {
          let isBusy = (error as? DatabaseError)?.isBusy == true
          return Opened(
            problems: problems + ["cannot save state in \(file.path): \(sentence(error))"], isBusy: isBusy,
            leastRevision: revision)
        }
        revision = leastRevision(after: file)
        if let saved = readAllTheSame(file, after: revision, progress) {
          let problem = "\(file.path) is damaged: what it holds can be read all the same, and is saved in a new file"
          let names = saved.restoration.leftOut
          return Opened(
            replacement: Replacement(reason: reason.word, isDue: true), saved: saved,
            problems: [problem] + (names.isEmpty ? [] : [leftOut(names, of: file)]), leastRevision: revision)
        }
        guard let aside = file.setAside(reason.word) else {
          return Opened(problems: ["cannot save state: \(file.path) \(reason.sentence), and cannot be renamed"])
        }
        problems.append("\(file.path) \(reason.sentence): it is kept as \(aside), and focusd starts without fields")
      }
    }
  }

  /// A revision that grows with time, faster than changes can be saved.
  private static var revisionOfNow: UInt64 { UInt64(max(0, Glibc.time(nil))) << 20 }

  /// A revision that none of a file which is set aside has passed: as it says itself, if that can be read, or that of now.
  private static func leastRevision(after file: StateFile) -> UInt64 {
    let saved = (try? copy(of: file).number("SELECT value FROM state WHERE name = 'revision'")) ?? 0
    // A later process must be able to read what the new file's revisions grow to: one without that room is damaged.
    let hasRoom = (0...(.max / 4)).contains(saved)
    return max(hasRoom ? UInt64(saved) : 0, revisionOfNow)
  }

  /// `file`, with what its log holds, in memory.
  /// - Throws: `DatabaseError`, `StateFileEmpty`.
  private static func copy(of file: StateFile) throws -> Database {
    try file.checkLog()
    return try Database(copyOf: file.resolvedPath, hasLog: file.log.size > 0)
  }

  /// All that a file holds which must be set aside, but for its revision; nil if a part of it cannot be read.
  private static func readAllTheSame(
    _ file: StateFile, after revision: UInt64, _ progress: @escaping StartProgress
  ) -> Saved? {
    guard let database = try? copy(of: file), (try? Schema.migrate(database)) != nil else { return nil }
    // `revision` is past it, unless it is damaged itself.
    try? database.execute("DELETE FROM state WHERE name = 'revision'")
    return try? Loading.load(database, after: revision, progress)
  }

  private static func openOnce(
    _ file: StateFile, after revision: UInt64, _ progress: @escaping StartProgress
  ) throws -> Opened {
    // What an empty file held cannot be known, if it held anything.
    let isEmpty = file.isEmpty
    let revision = isEmpty ? max(revision, revisionOfNow) : revision
    try file.prepare()
    if file.size > largeSize { progress("reading \(file.size >> 20) MiB of saved state", time(for: file)) }
    guard !file.isReadOnly else { return try read(file, progress) }
    let journal = try Journal(file)
    let saved = try Loading.load(journal.database, after: revision, progress)
    journal.begin(after: saved)
    var opened = Opened(journal: journal, saved: saved)
    if isEmpty { opened.problems = ["\(file.path) is empty: focusd starts without fields"] }
    guard !saved.restoration.leftOut.isEmpty else { return opened }
    progress("keeping \(file.size >> 20) MiB of saved state aside", time(for: file))
    do {
      let aside = try journal.keepCopy(of: file)
      try journal.save(opened.model, everything: true)
      opened.problems = [leftOut(saved.restoration.leftOut, of: file) + "; the original file is kept as \(aside)"]
    } catch {
      // What is left out must not be written over.
      opened.journal = nil
      opened.replacement = Replacement(reason: overLimits)
      opened.problems = [
        leftOut(saved.restoration.leftOut, of: file)
          + "; the original file cannot be kept, so changes are refused: \(error)"
      ]
    }
    return opened
  }

  /// Reads a file that cannot be written to, or whose directory cannot.
  private static func read(_ file: StateFile, _ progress: @escaping StartProgress) throws -> Opened {
    let stamp = file.stamp
    guard !file.isLocked else { throw DatabaseError.busy }
    let database = try copy(of: file)
    try database.check()
    try Schema.migrate(database)
    let saved = try Loading.load(database, progress)
    var opened = Opened(
      replacement: Replacement(reason: "replaced", stamp: stamp), saved: saved,
      problems: ["\(file.path) is read-only: the saved fields are served, and changes are refused"])
    if !saved.restoration.leftOut.isEmpty {
      opened.replacement = Replacement(reason: overLimits)
      opened.problems.append(leftOut(saved.restoration.leftOut, of: file))
    }
    return opened
  }

  /// What the name says of a file that holds more than this version's limits allow.
  private static let overLimits = "over-limits"

  /// The size from which on a file may take longer than a second to read.
  private static let largeSize = 32 << 20

  /// How long reading `file` may take, from a slow disk.
  private static func time(for file: StateFile) -> Duration { .seconds(10 + file.size / (10 << 20)) }

  private static func leftOut(_ names: [String], of file: StateFile) -> String {
    let most = 50
    let more = names.count > most ? " and \(names.count - most) more" : ""
    return "\(file.path) exceeds the limits; left out: "
      + names.prefix(most).joined(separator: ", ") + more
  }

  private static func sentence(_ error: any Error) -> String {
    guard let error = error as? DatabaseError else { return "\(error)" }
    return error.isBusy ? "another focusd uses it; set another XDG_STATE_HOME" : error.sentence
  }

  /// Why a file is set aside that is opened with `error`; nil for one that may be opened later as it is.
  static func reasonToSetAside(_ error: any Error) -> (word: String, sentence: String)? {
    switch error {
    case let error as SchemaTooNew: ("version-\(error.version)", "was written by a later focusd")
    case let error as DatabaseError where error.isDamage: ("damaged", "is damaged")
    case let error as DatabaseError where !error.isMisunderstood: nil
    case is StateFileEmpty: ("damaged", "is empty or missing, but its log is not")
    case is StateFileRefused, is StateFileGone: nil
    default: ("damaged", "has contents that focusd does not understand")
    }
  }
}

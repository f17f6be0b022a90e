internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel
internal import ProgramSupport

/// Where the saving of what outlives the daemon stands; its transitions return what the service has to do.
struct Persistence {
  /// Where changes are saved.
  private enum Store {
    /// No state file can be opened: there are no fields then, and none can be registered.
    case none(isReopening: Bool)
    case journal(Journal)
    /// A new state file must take the place of one that cannot be used.
    case replacement(Replacement)
  }

  /// What was not as it should be when the state file was opened last, a line each.
  private var problems: [String] = []
  /// Whether another process used it then.
  private var isBusy = false
  /// How often in a row it was seen that no process uses it any more.
  private var quiet = 0
  /// The revision after which those of a new file begin.
  private var leastRevision: UInt64 = 0
  private var store = Store.none(isReopening: false)
  /// The recovery that is under way, or nil: the saved fields are in the model, and nothing is saved before it ends.
  private(set) var recovery: Recovery?
  /// When changes could not be saved last, and were refused, and why; nil while they can be.
  private var failure: (time: SuspendingClock.Instant, reason: String)?
  /// Whether only a turn with changes of its own saves those of earlier turns too.
  var isPutOff = false
  /// The highest revision that may be published: no later process uses it, or one before it, for another state.
  private(set) var reserved: UInt64 = 0
  /// The bus that owners' names are of, as its id.
  var bus = ""
  private let file: StateFile?
  private let log: Log

  /// Begins without a state file; `file` is nil if there is no place for one.
  init(_ file: StateFile?, _ log: Log) {
    (self.file, self.log) = (file, log)
  }

  /// Whether no state file could be opened.
  var isClosed: Bool {
    if case .none = store { true } else { false }
  }

  /// Takes note that the file is opened again in a second, if there is a place for one and it could not be opened.
  ///
  /// What another daemon uses is only wanted if `isWanted` by somebody: else it would be taken while that one restarts.
  /// - Returns: whether that must be begun.
  mutating func mustReopen(isWanted: Bool) -> Bool {
    guard case .none(false) = store, file != nil, isWanted || !isBusy else { return false }
    store = .none(isReopening: true)
    return true
  }

  /// Whether the file may be opened again, asked once a second.
  ///
  /// The daemon that uses it may only restart.
  mutating func mayReopen() -> Bool {
    guard isBusy else { return true }
    quiet = file?.isLocked == false ? quiet + 1 : 0
    return quiet >= 5
  }

  /// Where changes are saved now, if they can be.
  var journal: Journal? {
    if case .journal(let journal) = store { journal } else { nil }
  }
}

/// Opening and recovering.
extension Persistence {
  /// Opens the state file as `Journal.open` says, and begins to recover what was saved in it.
  /// - Returns: the model of what was saved, the bus that its owners are of, and the recovery; nil if no state file can be
  ///   opened.
  mutating func open(
    retries: Int, isLate: Bool, _ progress: @escaping StartProgress
  ) -> (model: FocusModel, bus: String?, recovery: Recovery)? {
    let opened = Journal.open(file, retries: retries, after: leastRevision, progress)
    if opened.problems != problems { opened.problems.forEach(log.error) }
    (problems, isBusy, quiet, leastRevision) = (opened.problems, opened.isBusy, 0, opened.leastRevision)
    let recovery = Recovery(hasFields: !opened.model.fields.isEmpty, isLate: isLate)
    if let journal = opened.journal {
      journal.bus = bus
      store = .journal(journal)
    } else if let replacement = opened.replacement {
      store = .replacement(replacement)
      if !replacement.isDue { failure = (.now, problems.last ?? "") }
    } else {
      return nil
    }
    self.recovery = recovery
    reserved = opened.saved.state.revision
    return (opened.model, opened.saved.bus, recovery)
  }

  /// Ends `ended`, and saves what of `model` has changed with it.
  /// - Returns: false if it has ended already.
  mutating func end(_ ended: Recovery, _ model: FocusModel) -> Bool {
    guard recovery === ended else { return false }
    recovery = nil
    do {
      if failure == nil { _ = try write(model) }
      // Without a journal, everything is saved with the first change that can be.
      model.saved()
      reserved = journal?.reserved ?? reserved
    } catch {
      fail(reason(error))
    }
    if ended.isLate, failure == nil { log.info("changes can be saved again") }
    return true
  }
}

/// Saving.
extension Persistence {
  /// Whether there is something to save at the end of a turn; what failed before is tried again once a second.
  func mustSave(_ model: FocusModel) -> Bool {
    model.hasTurnChanges || ((model.hasUnsavedChanges || mustReserve(for: model)) && mayTryAgain && !isPutOff)
  }

  private func mustReserve(for model: FocusModel) -> Bool {
    switch store {
    case .none: false
    case .journal(let journal): journal.mustReserve(for: model)
    case .replacement: model.revision >= reserved
    }
  }

  private var mayTryAgain: Bool { !isClosed && failure.map { SuspendingClock.now >= $0.time + .seconds(1) } ?? true }

  /// Lets the next turn try again at once.
  mutating func tryAgainSoon() {
    failure?.time = SuspendingClock.now - .seconds(1)
  }

  /// Saves what of `model` has changed; there must be no recovery under way.
  /// - Returns: nil, or why the turn's changes must be taken back, and whether the file must be opened again in a second.
  mutating func save(_ model: FocusModel) -> (refusal: DBusError, reopens: Bool)? {
    do {
      let hasWritten = try write(model)
      model.saved()
      if hasWritten { succeed() }
      return nil
    } catch {
      let reason = reason(error)
      if !isClosed { fail(reason) }
      return (Persistence.refusal(reason), mustReopen(isWanted: true))
    }
  }

  /// What a writer is told if `revision`, which its change takes, is not reserved.
  func refusal(of revision: UInt64) -> DBusError {
    Persistence.refusal(failure?.reason ?? problems.last ?? "revision \(revision) is not reserved")
  }

  private static func refusal(_ reason: String) -> DBusError {
    DBusError(Focus1.ioError, "the change cannot be saved and was not made: \(reason)")
  }

  /// What `error` says, where it happened, and what helps.
  private func reason(_ error: any Error) -> String {
    guard let error = error as? DatabaseError, let file else { return DBusError(any: error).message }
    return "\(file.path): \(error.sentence)"
  }

  /// - Returns: whether there was anything to write.
  private mutating func write(_ model: FocusModel) throws -> Bool {
    switch store {
    case .none: throw DBusError(Focus1.ioError, problems.last ?? "there is no state file")
    case .replacement(let replacement):
      try replace(replacement, model)
      return true
    case .journal: break
    }
    do {
      // Nothing else may hold the journal: to replace it, it is closed.
      return try journal?.save(model) ?? false
    } catch let error where journal?.isBusy == true {
      // To close it would wait for the disk: what has to replace it is found again.
      throw error
    } catch let error as DatabaseError where error.isDamage {
      let replacement = try Replacement(setAside: file, log)
      // Before there is another: SQLite removes, by its name, the log of the one that it closes.
      store = .replacement(replacement)
    } catch is StateFileGone {
      let gone = journal.map { ($0.identity, $0.log) }
      // It is closed first, since it may still have the lock of the file in its place.
      store = .replacement(Replacement(reason: "replaced"))
      store = .replacement(Replacement(of: gone, in: file, log))
    }
    return try write(model)
  }

  private mutating func replace(_ replacement: Replacement, _ model: FocusModel) throws {
    var replacement = replacement
    // What it has found out counts for the next attempt too.
    defer { if self.journal == nil { store = .replacement(replacement) } }
    let journal = try replacement.journal(in: file, log)
    journal.bus = bus
    try journal.save(model, everything: true)
    store = .journal(journal)
  }

  private mutating func succeed() {
    reserved = journal?.reserved ?? reserved
    guard failure != nil else { return }
    failure = nil
    log.info("changes can be saved again")
  }

  private mutating func fail(_ reason: String) {
    if failure == nil { log.error("changes cannot be saved and are refused: \(reason)") }
    failure = (.now, reason)
  }
}

/// Revisions are published only if they are reserved: a later process would use another for another state.
extension FocusService {
  /// `reading`, for a reply that publishes its revision.
  ///
  /// One that is not reserved is shown as 0, which names no state: changes of owners' objects take revisions too, also while
  /// nothing can be saved.
  func publishable(_ reading: Reading) -> Reading {
    guard reading.revision > persistence.reserved else { return reading }
    var reading = reading
    reading.revision = 0
    return reading
  }

  /// Checks that the next revision can be published.
  /// - Throws: `DBusError.ioError`: a writer is told the revision of what it wrote.
  func checkRevisions() throws(DBusError) {
    // With the turn's end more are reserved, if that is possible by now.
    if model.revision >= persistence.reserved {
      persistence.tryAgainSoon()
      endTurn()
    }
    guard model.revision < persistence.reserved else { throw persistence.refusal(of: model.revision + 1) }
  }
}

internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel
internal import ProgramSupport

/// Where the saving of what outlives the daemon stands.
///
/// Its transitions return what the service has to do; nothing else knows or sets the state.
struct Persistence {
  private enum State {
    /// No state file can be opened: there are no fields then, and none can be registered.
    case closed(isReopening: Bool)
    /// The saved fields are in the model, and the objects behind bound ones are being introspected.
    indirect case recovering(Recovery, then: State)
    /// Each turn's changes are saved.
    case saving(Journal)
    /// Changes cannot be saved, and are refused.
    case failing(Journal, since: SuspendingClock.Instant)
    /// A new state file must take the place of one that cannot be used; changes are refused since that failed, if it has.
    case replacing(Replacement, since: SuspendingClock.Instant?)
  }

  /// What follows from an attempt to save.
  enum Outcome {
    /// Nothing: changes are saved, or there are none.
    case saved
    /// The turn's changes must be taken back; and if it `reopens`, the state file must be opened again in a second.
    case refused(DBusError, reopens: Bool)
  }

  /// What was not as it should be when the state file was opened last, a line each.
  private var problems: [String] = []
  private var state = State.closed(isReopening: false)
  /// The highest revision that may be published: no later process uses it, or one before it, for another state.
  private(set) var reserved: UInt64 = 0
  /// The bus that owners' names are of, as its id.
  var bus = ""
  private let file: StateFile?
  private let log: Log

  /// Begins without a state file; `file` is nil if there is no place for one.
  init(_ file: StateFile?, _ log: Log) {
    self.file = file
    self.log = log
  }

  /// Whether no state file could be opened.
  var isClosed: Bool {
    if case .closed = state { true } else { false }
  }

  /// The recovery that is under way, or nil.
  var recovery: Recovery? {
    if case .recovering(let recovery, _) = state { recovery } else { nil }
  }

  /// Whether a recovery is under way.
  var isRecovering: Bool { recovery != nil }

  private var journal: Journal? {
    switch state {
    case .saving(let journal), .failing(let journal, _): journal
    case .closed, .recovering, .replacing: nil
    }
  }
}

/// Opening and recovering.
extension Persistence {
  /// Opens the state file and begins to recover what was saved in it.
  ///
  /// One that another process has just now is waited for as `Journal.open` says.
  /// - Returns: the model of what was saved, the bus that its owners are of, and the recovery; nil if no state file can be
  ///   opened.
  mutating func open(
    retries: Int, isLate: Bool, _ progress: @escaping StartProgress
  ) -> (model: FocusModel, bus: String?, recovery: Recovery)? {
    let opened = Journal.open(file, retries: retries, progress)
    if opened.problems != problems { opened.problems.forEach(log.error) }
    problems = opened.problems
    let recovery = Recovery(hasFields: !opened.model.fields.isEmpty, isLate: isLate)
    if let journal = opened.journal {
      journal.bus = bus
      state = .recovering(recovery, then: .saving(journal))
    } else if let replacement = opened.replacement {
      state = .recovering(recovery, then: .replacing(replacement, since: .now))
    } else {
      return nil
    }
    reserved = opened.reserved
    return (opened.model, opened.bus, recovery)
  }

  /// Ends `ended`, and saves what of `model` has changed with it.
  /// - Returns: false if it has ended already.
  mutating func end(_ ended: Recovery, _ model: FocusModel) -> Bool {
    guard case .recovering(let recovery, let next) = state, recovery === ended else { return false }
    state = next
    do {
      if case .saving = state { _ = try write(model) }
      // Without a journal, everything is saved with the first change that can be.
      model.saved()
      reserved = journal?.reserved ?? reserved
    } catch {
      fail("\(error)")
    }
    if recovery.isLate, case .saving = state { log.info("changes can be saved again") }
    return true
  }
}

/// Saving.
extension Persistence {
  /// Whether there is something to save at the end of a turn; what failed before is tried again once a second.
  func mustSave(_ model: FocusModel) -> Bool {
    model.hasTurnChanges || ((model.hasUnsavedChanges || mustReserve(for: model)) && mayTryAgain)
  }

  private func mustReserve(for model: FocusModel) -> Bool {
    switch state {
    case .saving(let journal), .failing(let journal, _): journal.mustReserve(for: model)
    case .replacing: model.revision >= reserved
    case .closed, .recovering: false
    }
  }

  private var mayTryAgain: Bool {
    switch state {
    case .saving: true
    case .failing(_, let since), .replacing(_, let since?): SuspendingClock.now >= since + .seconds(1)
    case .replacing(_, nil): true
    case .closed, .recovering: false
    }
  }

  /// Lets the next turn try again at once.
  mutating func tryAgainSoon() {
    let past = SuspendingClock.now - .seconds(1)
    switch state {
    case .failing(let journal, _): state = .failing(journal, since: past)
    case .replacing(let replacement, _): state = .replacing(replacement, since: past)
    case .closed, .recovering, .saving: break
    }
  }

  /// Saves what of `model` has changed.
  mutating func save(_ model: FocusModel) -> Outcome {
    do {
      let hasWritten = try write(model)
      model.saved()
      if hasWritten { succeed() }
      return .saved
    } catch {
      let reason = DBusError(any: error).message
      let error = DBusError(Focus1.ioError, "the change cannot be saved and was not made: \(reason)")
      if case .closed(let isReopening) = state {
        state = .closed(isReopening: true)
        return .refused(error, reopens: !isReopening)
      }
      fail(reason)
      return .refused(error, reopens: false)
    }
  }

  /// - Returns: whether there was anything to write.
  private mutating func write(_ model: FocusModel) throws -> Bool {
    let since: SuspendingClock.Instant?
    switch state {
    case .closed: throw DBusError(Focus1.ioError, problems.last ?? "there is no state file")
    case .recovering: return false
    case .replacing(let replacement, let since):
      try replace(replacement, since, model)
      return true
    case .saving: since = nil
    case .failing(_, let failed): since = failed
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
      state = .replacing(replacement, since: since)
    } catch is StateFileGone {
      let gone = journal.map { ($0.identity, $0.log) }
      // It is closed first, since it may still have the lock of the file in its place.
      state = .replacing(Replacement(reason: "replaced"), since: since)
      state = .replacing(Replacement(of: gone, in: file, log), since: since)
    }
    return try write(model)
  }

  private mutating func replace(
    _ replacement: Replacement, _ since: SuspendingClock.Instant?, _ model: FocusModel
  ) throws {
    var replacement = replacement
    // What it has found out counts for the next attempt too.
    defer { if case .replacing = state { state = .replacing(replacement, since: since) } }
    let journal = try replacement.journal(in: file, log)
    journal.bus = bus
    try journal.save(model, everything: true)
    state = since == nil ? .saving(journal) : .failing(journal, since: .now)
  }

  private mutating func succeed() {
    guard let journal else { return }
    reserved = journal.reserved
    if case .failing = state {
      state = .saving(journal)
      log.info("changes can be saved again")
    }
  }

  private mutating func fail(_ reason: String) {
    let isNew: Bool
    switch state {
    case .saving(let journal):
      isNew = true
      state = .failing(journal, since: .now)
    case .failing(let journal, _):
      isNew = false
      state = .failing(journal, since: .now)
    case .replacing(let replacement, let since):
      isNew = since == nil
      state = .replacing(replacement, since: .now)
    case .closed, .recovering: return
    }
    if isNew { log.error("changes cannot be saved and are refused: \(reason)") }
  }
}

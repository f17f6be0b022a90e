import DBusTypes
import Glibc
import TestSupport
import Testing

@testable import FocusModel
@testable import FocusService

@Suite struct JournalRoundTripTests {
  /// Whatever is done to a model, what another process reads afterwards is what the model held at the last save.
  @Test(arguments: [1, 2, 3, 4] as [UInt64]) func whatIsSavedIsReadAgain(seed: UInt64) throws {
    try withStateFile { file in
      var random = try RandomModel(seed: seed)
      var journal = Journal.open(file).journal
      var highest: UInt64 = 0
      for turn in 0..<400 {
        for _ in 0..<Int.random(in: 1...6, using: &random.values.numbers) { try random.step() }
        _ = random.model.settle()
        journal?.bus = "bus\(turn)"
        try journal?.save(random.model)
        random.model.saved()
        random.model.endTurn()
        highest = max(highest, random.model.revision)
        guard turn.isMultiple(of: 8) else { continue }
        // Without closing it, as after a crash, a copy shows what is there; closing then is the orderly end.
        if turn.isMultiple(of: 16) { journal = nil }
        let copy = StateFile(path: file.directory + "/copy\(turn).db")
        try FileCopy.copy(file.path, copy.path)
        let opened = Journal.open(copy)
        #expect(opened.problems == [])
        #expect(opened.journal?.bus == "bus\(turn)")
        try #require(opened.model.savedFields == random.model.savedFields)
        #expect(opened.model.focusedField == random.model.focusedField)
        #expect(opened.model.focusPath == random.model.focusPath)
        #expect(opened.model.history == random.model.history)
        #expect(opened.model.revision >= highest)
        if journal == nil { journal = Journal.open(file).journal }
      }
    }
  }

  @Test func nothingIsWrittenWhereNothingChanged() throws {
    try withStateFile { file in
      var random = try RandomModel(seed: 5)
      let journal = try #require(Journal.open(file).journal)
      for _ in 0..<50 { try random.step() }
      try journal.save(random.model)
      let before = try journal.database.number("SELECT total_changes()")
      random.model.saved()
      try journal.save(random.model)
      #expect(try journal.database.number("SELECT total_changes()") == before)
    }
  }

  /// A start waits for no disk: what a new log, or a new file, holds after its first transaction is not synced.
  @Test func theLogIsSyncedAfterTheFirstTransaction() throws {
    try withStateFile { file in
      func settings(_ journal: Journal) throws -> [Int64] {
        try ["synchronous", "wal_autocheckpoint"].map { try journal.database.number("PRAGMA \($0)") }
      }
      var random = try RandomModel(seed: 8)
      let copy = StateFile(path: file.directory + "/copy.db")
      // A new file, the file of a process that ended in order, and the one of a process that did not.
      for (file, before) in [(file, [0, 0]), (file, [0, 0]), (copy, [1, 4000])] as [(StateFile, [Int64])] {
        let journal = try #require(Journal.open(file).journal)
        #expect(try settings(journal) == before)
        try random.step()
        try journal.save(random.model, everything: true)
        #expect(try settings(journal) == [1, 4000])
        try? FileCopy.copy(file.path, copy.path)
      }
    }
  }

  /// Sharing takes one more file, and many locks, each time that the daemon starts.
  @Test func noOtherProcessSharesTheFile() throws {
    try withStateFile { file in
      for _ in 1...2 {
        var random = try RandomModel(seed: 7)
        let journal = try #require(Journal.open(file).journal)
        try random.step()
        try journal.save(random.model, everything: true)
        #expect(access(file.path + "-wal", F_OK) == 0)
        #expect(access(file.path + "-shm", F_OK) != 0)
        #expect(Journal.open(file).journal == nil)
      }
    }
  }

  @Test func theFileIsTheUsersAlone() throws {
    try withStateFile { file in
      let before = umask(0)
      defer { umask(before) }
      let journal = try #require(Journal.open(StateFile(path: file.directory + "/new/state.db")).journal)
      var random = try RandomModel(seed: 6)
      for _ in 0..<50 { try random.step() }
      try journal.save(random.model)
      for (name, mode) in [("", 0o700), ("/state.db", 0o600), ("/state.db-wal", 0o600)] {
        var status = stat()
        #expect(stat(file.directory + "/new" + name, &status) == 0)
        #expect(status.st_mode & 0o777 == mode, "\(name)")
      }
    }
  }

  @Test func anotherProcessWaitsForItThenSaysWhoHasIt() throws {
    try withStateFile { file in
      let first = try #require(Journal.open(file).journal)
      let second = Journal.open(file, retries: 2)
      #expect(second.journal == nil)
      #expect(second.problems.count == 1)
      #expect(second.problems.first?.contains("another focusd uses it") == true)
      #expect(try file.others() == [])
      withExtendedLifetime(first) {}
    }
  }

  @Test func anOrderlyEndLeavesOneFile() throws {
    try withStateFile { file in
      var random = try RandomModel(seed: 7)
      var journal: Journal? = Journal.open(file).journal
      for _ in 0..<50 { try random.step() }
      try journal?.save(random.model)
      #expect(access(file.path + "-wal", F_OK) == 0)
      journal = nil
      #expect(access(file.path + "-wal", F_OK) != 0)
      #expect(access(file.path + "-shm", F_OK) != 0)
    }
  }
}

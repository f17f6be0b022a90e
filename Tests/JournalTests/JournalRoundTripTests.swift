import DBusTypes
import FocusContract
import Foundation
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

  /// Such as a password that another text has replaced.
  @Test func whatIsWrittenOverIsNotInTheFileAnyMore() throws {
    try withStateFile { file in
      let (id, key, owner) = (FieldID(known: "login"), try Key("demo.Login.Password"), BusName(known: ":1.1"))
      let secret = "correct-horse-battery"
      func isInFile() throws -> Bool { try FileCopy.bytes(file.path).range(of: Data(secret.utf8)) != nil }
      // The journal copies its log into the file when it is closed.
      func save(_ text: String) throws {
        let opened = Journal.open(file)
        if opened.model.fields[id] == nil {
          _ = try opened.model.register(id, [:], FieldOptions(), owner: owner)
        }
        try opened.model.publish([key: MarshalledValue(.string(text))], on: id, by: owner)
        try opened.journal?.save(opened.model)
      }
      try save(secret)
      #expect(try isInFile())
      try save("x")
      #expect(try !isInFile())
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

  /// Whatever was left behind, what writes the log waits for no disk, neither at the start nor later.
  @Test func theConnectionThatWritesSyncsNothing() throws {
    try withStateFile { file in
      func settings(_ journal: Journal) throws -> [Int64] {
        try ["synchronous", "wal_autocheckpoint"].map { try journal.database.number("PRAGMA \($0)") }
      }
      var random = try RandomModel(seed: 8)
      let copy = StateFile(path: file.directory + "/copy.db")
      // A new file, the file of a process that ended in order, and the one of a process that did not.
      for file in [file, file, copy] {
        let journal = try #require(Journal.open(file).journal)
        #expect(try settings(journal) == [0, 0])
        try random.step()
        try journal.save(random.model, everything: true)
        #expect(try settings(journal) == [0, 0])
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
        #expect(Self.readInAnotherProcess(file) == 1, "another process can read it")
        withExtendedLifetime(journal) {}
      }
    }
  }

  /// - Returns: the exit status of a process that reads `file`: 1 if SQLite refuses.
  private static func readInAnotherProcess(_ file: StateFile) -> Int32 {
    let script =
      "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('SELECT * FROM state').fetchall()"
    // Foundation's would wait for every process that happens to be started at the same time.
    return system("/usr/bin/python3 -c \"\(script)\" '\(file.path)' 2>/dev/null") >> 8
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

  /// While half of what is reserved is left, so that this lasts for a turn, and for a while without a disk.
  @Test func moreRevisionsAreReservedWhenHalfAreUsed() throws {
    try withStateFile { file in
      let journal = try #require(Journal.open(file).journal)
      let model = FocusModel()
      try journal.save(model)
      #expect(journal.reserved == Journal.revisionsAhead)
      while model.nextRevision() < Journal.revisionsAhead / 2 {}
      #expect(!journal.mustReserve(for: model))
      #expect(model.nextRevision() == Journal.revisionsAhead / 2 + 1 && journal.mustReserve(for: model))
      try journal.save(model)
      #expect(journal.reserved == model.revision + Journal.revisionsAhead && !journal.mustReserve(for: model))
    }
  }
}

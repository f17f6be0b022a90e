import Foundation
import Glibc
import TestSupport
import Testing

@testable import FocusModel
@testable import FocusService

/// A file in a place that cannot be written to is read all the same, what its log holds included.
@Suite struct JournalReadOnlyTests {
  @Test(arguments: [true, false]) func aCopyHoldsWhatTheLogHolds(hasLog: Bool) throws {
    try withStateFile { file in
      var random = try RandomModel(seed: 4)
      var journal = Journal.open(file).journal
      for _ in 0..<50 { try random.step() }
      try journal?.save(random.model)
      // A name that an address of SQLite's must escape.
      let copy = StateFile(path: file.directory + "/a?b#c%d é.db")
      if !hasLog { journal = nil }
      try FileCopy.copy(file.path, copy.path)
      #expect((copy.log.size > 0) == hasLog)
      let before = copy.stamp
      let database = try Database(copyOf: copy.path, hasLog: hasLog)
      try Schema.migrate(database)
      let saved = try Loading.load(database)
      #expect(saved.restoration.model.savedFields == random.model.savedFields)
      #expect(copy.stamp == before)
      withExtendedLifetime(journal) {}
    }
  }

  @Test(.enabled(if: geteuid() != 0, "root may write to every file"))
  func aDirectoryThatCannotBeWrittenToIsServed() throws {
    try withStateFile { file in
      var random = try RandomModel(seed: 5)
      for _ in 0..<50 { try random.step() }
      try Journal.open(file).journal?.save(random.model)
      chmod(file.directory, 0o500)
      defer { chmod(file.directory, 0o700) }
      let opened = Journal.open(file)
      #expect(opened.journal == nil && opened.replacement != nil)
      #expect(opened.model.savedFields == random.model.savedFields)
      #expect(opened.problems.first?.contains("is read-only") == true)
    }
  }
}

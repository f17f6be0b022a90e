import DBusTypes
import FocusContract
import Foundation
import TestSupport
import Testing

@testable import FocusModel
@testable import FocusService

/// Whatever is wrong with a file: what can be read of it is served and saved anew, and the file is kept.
@Suite struct ReadableDamageTests {
  static let damages: [JournalDamageTests.Damage] = [
    .bytes("free pages that are not there") { $0[39] = 5 },
    .bytes("a list of free pages that goes nowhere") { data in
      data.replaceSubrange(32..<40, with: [0, 0, 0x7f, 0xff, 0, 0, 0, 9])
    },
    .bytes("a later format for writers") { $0[18] = 0xa5 },
    .sql("UPDATE state SET value = -1 WHERE name = 'revision'"),
    .sql("UPDATE state SET value = 9223372036854775807 WHERE name = 'revision'"),
  ]

  @Test(arguments: damages, [true, false])
  func whatCanBeReadIsSavedAnew(damage: JournalDamageTests.Damage, hasLog: Bool) throws {
    try withStateFile { original in
      let saved = try JournalDamageTests.fill(original).savedFields
      var journal = Journal.open(original).journal
      try journal?.database.execute("UPDATE state SET value = value + 1 WHERE name = 'revision'")
      if !hasLog { journal = nil }
      let file = StateFile(path: original.directory + "/copy/state.db")
      try FileManager.default.createDirectory(
        atPath: file.directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try FileCopy.copy(original.path, file.path)
      #expect((file.log.size > 0) == hasLog)
      try damage.happen(to: file)
      let size = try FileCopy.bytes(file.path).count

      try withLog { log in
        var persistence = Persistence(file, log)
        let opened = try #require(persistence.open(retries: 0, isLate: false) { _, _ in })
        let model = opened.model
        #expect(model.savedFields == saved)
        _ = persistence.end(opened.recovery, model)
        _ = try model.register(FieldID("new"), [Key("demo.I.K"): .int32(1)], owner: BusName(":1.1"))
        #expect(model.revision <= persistence.reserved)
        let refusal = persistence.save(model)
        #expect(refusal == nil)

        // As after a crash.
        let copy = StateFile(path: original.directory + "/copy.db")
        try FileCopy.copy(file.path, copy.path)
        let again = Journal.open(copy)
        #expect(again.problems == [])
        #expect(again.model.savedFields == model.savedFields)
        #expect(again.model.revision >= model.revision)
      } said: { lines in
        #expect(lines.count == 2 && lines.first?.contains("what it holds can be read all the same") == true, "\(lines)")
        #expect(lines.last?.contains("state.db.damaged-1") == true)
      }
      #expect(try file.others() == ["state.db.damaged-1"])
      #expect(try FileCopy.bytes(file.path + ".damaged-1").count == size)
      withExtendedLifetime(journal) {}
    }
  }
}

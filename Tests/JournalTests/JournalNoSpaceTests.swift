import DBus
import DBusTypes
import FocusContract
import Glibc
import TestSupport
import Testing

@testable import FocusModel
@testable import FocusService

@Suite struct JournalNoSpaceTests {
  /// A save that fails half way leaves what was saved before; when there is space again, the next one catches up.
  @Test func whatCannotBeSavedLeavesNoTrace() throws {
    try withStateFile { file in
      let journal = try #require(Journal.open(file).journal)
      let model = FocusModel()
      let owner = try BusName(":1.1")
      let key = try Key("demo.I.K")
      _ = try model.register(FieldID("small"), [key: .string("x")], owner: owner)
      try journal.save(model)
      model.saved()
      model.endTurn()
      let before = model.savedFields

      let pages = try journal.database.number("PRAGMA page_count")
      _ = try journal.database.number("PRAGMA max_page_count = \(pages)")
      _ = try model.register(FieldID("first"), [key: .string("y")], owner: owner)
      for number in 0..<8 {
        let value = MarshalledValue.string(String(repeating: "z", count: 100_000))
        _ = try model.register(FieldID("big\(number)"), [key: value], owner: owner)
      }
      try model.focus(FieldID("big1"), by: owner)
      #expect(throws: DatabaseError.self) { try journal.save(model) }
      #expect(try Self.saved(in: file) == before)

      _ = try journal.database.number("PRAGMA max_page_count = 1000000")
      try journal.save(model)
      #expect(try Self.saved(in: file) == model.savedFields)
    }
  }

  /// What was refused is not tried again with what is refused next.
  @Test func aChangeThatIsRefusedCostsNoMoreThanTheFirst() throws {
    try withStateFile { file in
      let journal = try #require(Journal.open(file).journal)
      let model = FocusModel()
      let value = MarshalledValue.string(String(repeating: "z", count: 10_000))
      try journal.save(model)
      model.saved()
      _ = try journal.database.number("PRAGMA max_page_count = \(try journal.database.number("PRAGMA page_count") + 4)")
      var steps: [Int64] = []
      for number in 0..<300 {
        let before = try journal.database.steps()
        _ = try model.register(
          FieldID("f\(number)"), [Key("demo.I.K"): value, Key("demo.I.L"): value], owner: BusName(":1.1"))
        #expect(throws: DatabaseError.self) { try journal.save(model) }
        model.rollBack()
        _ = model.settle()
        model.endTurn()
        steps.append(try journal.database.steps() - before)
      }
      #expect(Set(steps.dropFirst()).count == 1, "\(steps)")
      #expect(model.fields.isEmpty && model.unsavedFields.count <= 1)
    }
  }

  /// At the start, or later: whoever is refused is told where, why and what helps, also if only a revision is wanted.
  @Test(arguments: [true, false]) func whyNothingCanBeSavedIsSaid(isAtStart: Bool) throws {
    try withStateFile { file in
      let reason = "\(file.path): database or disk is full: free space on its file system"
      try withLog { log in
        var persistence = Persistence(file, log)
        let opened = try #require(persistence.open(retries: 0, isLate: false) { _, _ in })
        if !isAtStart { _ = persistence.end(opened.recovery, opened.model) }
        let database = try #require(persistence.journal?.database)
        _ = try database.number("PRAGMA max_page_count = \(try database.number("PRAGMA page_count"))")
        let value = MarshalledValue.string(String(repeating: "z", count: 100_000))
        _ = try opened.model.register(FieldID("a"), [Key("demo.I.K"): value], owner: BusName(":1.1"))
        if isAtStart { _ = persistence.end(opened.recovery, opened.model) }
        for _ in 1...2 {
          for refusal in [persistence.save(opened.model)?.refusal, persistence.refusal(of: 7)] {
            #expect(refusal?.message.hasSuffix("was not made: \(reason)") == true, "\(refusal?.message ?? "")")
          }
        }
      } said: { lines in
        #expect(lines.count == 1 && lines.first?.hasSuffix("are refused: \(reason)") == true, "\(lines)")
      }
    }
  }

  @Test(arguments: ["/proc/1/nowhere/state.db", "/dev/null/state.db", "/dev/null/a/b/state.db"])
  func wherePossiblyNothingCanBeIsSaidSo(path: String) {
    let opened = Journal.open(StateFile(path: path))
    #expect(opened.journal == nil)
    #expect(opened.problems.count == 1)
    #expect(opened.problems.first?.contains(path) == true)
    // A file may have been set aside before.
    #expect(Journal.open(StateFile(path: path), after: 7).leastRevision == 7)
    #expect(opened.model.fields.isEmpty)
  }

  private static func saved(in file: StateFile) throws -> [FieldID: Field] {
    let copy = StateFile(path: file.directory + "/copy.db")
    for suffix in ["", "-wal"] { unlink(copy.path + suffix) }
    try FileCopy.copy(file.path, copy.path)
    let opened = Journal.open(copy)
    #expect(opened.problems == [])
    return opened.model.savedFields
  }
}

extension Database {
  /// How many rows have been written, also by transactions that were rolled back.
  fileprivate func steps() throws -> Int64 { try number("SELECT total_changes()") }
}

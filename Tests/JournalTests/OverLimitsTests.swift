import DBusTypes
import FocusContract
import Foundation
import TestSupport
import Testing

@testable import FocusModel
@testable import FocusService

/// A state file with more than this version's limits allow is served as far as they go, and kept as it was.
@Suite struct OverLimitsTests {
  /// Which limit the file has more than, and what is left out then.
  struct Excess: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Runs once the field `a` is saved, with the value of `demo.I.Big` and that of `demo.I.Small`.
    let sql: String
    let leftOut: @Sendable (Int) -> Bool
    var bigSize = 10
  }

  /// Copies the field `a` with its values `count` times, as `b10000` and so on.
  private static func copies(_ count: Int, owner: String = "owner") -> String {
    """
    WITH RECURSIVE n(x) AS (SELECT 10000 UNION ALL SELECT x + 1 FROM n WHERE x < \(10_000 + count - 1))
    INSERT INTO field (id, label, scope, lingers, sensitive, owner, parent, registration)
      SELECT 'b' || x, label, scope, lingers, sensitive, \(owner), 'a', x FROM field, n;
    INSERT INTO binding SELECT field.id, key, revision, read_only, value FROM field, binding WHERE field.id <> 'a';
    """
  }

  static let excesses = [
    Excess(
      testDescription: "a value that is too large",
      sql: "UPDATE binding SET value = zeroblob(\(Limits.value.bytes + 10_000)) WHERE key = 'demo.I.Big'",
      leftOut: { $0 == 1 }),
    Excess(
      testDescription: "keys of a field",
      sql: """
        WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < \(Limits.keysPerField))
        INSERT INTO binding SELECT 'a', 'demo.J.K' || x, 1, 0, value FROM n, binding WHERE key = 'demo.I.Small'
        """, leftOut: { $0 == 3 }),
    Excess(
      testDescription: "fields of an owner", sql: copies(Limits.fieldsPerOwner + 5), leftOut: { $0 == 6 }),
    Excess(
      testDescription: "fields without an owner", sql: copies(Limits.fieldsPerOwner + 5, owner: "NULL"),
      leftOut: { $0 >= 5 }),
    Excess(
      testDescription: "bytes of an owner", sql: copies(Limits.perOwner.bytes / 1_000_000 + 5), leftOut: { $0 >= 5 },
      bigSize: 1_000_000),
  ]

  @Test(arguments: excesses) func theRestIsKeptAside(excess: Excess) throws {
    try withStateFile { file in
      let counts = try Self.fill(file, excess)
      let opened = Journal.open(file)
      let journal = try #require(opened.journal, "\(opened.problems)")
      #expect(opened.problems.count == 1)
      let problem = try #require(opened.problems.first)
      #expect(problem.contains("exceeds the limits") && problem.contains("state.db.over-limits-1"))
      #expect(!problem.contains("\n") && problem.utf8.count < 4096)
      let left = (counts.fields - opened.model.fields.count)
      let leftValues = opened.model.fields.values.reduce(counts.values) { $0 - $1.bindings.count }
      #expect(excess.leftOut(left > 0 ? left : leftValues), "\(left) fields, \(leftValues) values")
      #expect(opened.model.fields[try FieldID("a")]?.bindings[try Key("demo.I.Small")] != nil || left == 0)
      #expect(try Self.counts(StateFile(path: file.path + ".over-limits-1")) == counts)

      // What is left is saved as every other state: the next start finds nothing to say.
      let reached = opened.model.savedFields
      #expect(try journal.database.number("SELECT count(*) FROM field") == Int64(reached.count))
      let copy = StateFile(path: file.directory + "/copy.db")
      try FileCopy.copy(file.path, copy.path)
      let again = Journal.open(copy)
      #expect(again.problems == [])
      #expect(again.model.savedFields == reached)
    }
  }

  /// A field whose container is left out moves up, as if that had been removed; so does focus.
  @Test func whatIsInAFieldThatIsLeftOutMovesUp() throws {
    var restoration = Restoration()
    let (outer, middle, inner) = (try FieldID("outer"), try FieldID("middle"), try FieldID("inner"))
    for (id, parent) in [(outer, nil), (inner, middle)] {
      try restoration.add(
        Field(
          id: id, label: "", scope: .field, lingers: true, isSensitive: false, owner: nil, parent: parent,
          registration: 1, object: nil))
    }
    restoration.leaveOut(middle, in: outer)
    var state = SavedState()
    state.focusedField = middle
    try restoration.finish(state)
    #expect(restoration.model.focusedField == outer)
    #expect(restoration.model.table.path(from: inner) == [inner, outer])
    #expect(restoration.leftOut == ["the field 'middle'"])
  }

  @Test func whatIsInASceneThatIsLeftOutIsAScene() throws {
    var restoration = Restoration()
    let (scene, inner) = (try FieldID("scene"), try FieldID("inner"))
    try restoration.add(
      Field(
        id: inner, label: "", scope: .field, lingers: true, isSensitive: false, owner: nil, parent: scene,
        registration: 1, object: nil))
    restoration.leaveOut(scene, in: nil)
    try restoration.finish(SavedState())
    #expect(restoration.model.fields[inner]?.parent == nil)
    #expect(restoration.model.table.path(from: inner) == [inner])
  }

  /// If the file cannot be kept aside, what it holds is not written over.
  @Test func whatCannotBeKeptAsideIsLeftAsItIs() throws {
    try withStateFile { file in
      let counts = try Self.fill(file, Self.excesses[0])
      for number in 1...1000 { try Data().write(to: URL(filePath: file.path + ".over-limits-\(number)")) }
      let opened = Journal.open(file)
      #expect(opened.journal == nil)
      #expect(opened.replacement?.own == nil && opened.replacement?.reason == "over-limits")
      #expect(opened.model.fields.count == counts.fields)
      #expect(opened.problems.first?.contains("changes are refused") == true)
      #expect(try Self.counts(file) == counts)
    }
  }

  @Test func aLongStartSaysHowLongItMayTake() throws {
    try withStateFile { file in
      let excess = try #require(Self.excesses.last)
      _ = try Self.fill(file, excess)
      var told: [(status: String, time: Duration)] = []
      _ = Journal.open(file) { told.append(($0, $1)) }
      // Without a file that large, nobody need wait.
      let isLarge = Limits.perOwner.bytes > 32 << 20
      #expect(!isLarge || told.contains { $0.status.contains("MiB of saved state") })
      #expect(told.allSatisfy { $0.time >= .seconds(10) })
    }
  }

  private struct Counts: Equatable {
    var fields = 0
    var values = 0
  }

  private static func counts(_ file: StateFile) throws -> Counts {
    let database = try Database(path: file.path)
    return Counts(
      fields: Int(try database.number("SELECT count(*) FROM field")),
      values: Int(try database.number("SELECT count(*) FROM binding")))
  }

  private static func fill(_ file: StateFile, _ excess: Excess) throws -> Counts {
    let model = FocusModel()
    let values: [Key: MarshalledValue] = [
      try Key("demo.I.Big"): .string(String(repeating: "x", count: excess.bigSize)),
      try Key("demo.I.Small"): .int32(1),
    ]
    _ = try model.register(FieldID("a"), values, owner: BusName(":1.1"))
    try #require(Journal.open(file).journal).save(model)
    try Database(path: file.path).execute(excess.sql)
    return try counts(file)
  }
}

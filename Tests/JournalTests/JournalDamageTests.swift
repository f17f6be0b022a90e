import CSQLite
import DBusTypes
import FocusContract
import Foundation
import TestSupport
import Testing

@testable import FocusModel
@testable import FocusService

/// A file that cannot be used is said so of in one line, set aside as it was, and never deleted.
@Suite struct JournalDamageTests {
  /// What may have become of a file: bytes for bytes, or SQL.
  enum Damage: Sendable, CustomTestStringConvertible {
    case bytes(String, @Sendable (inout Data) -> Void)
    case sql(String)

    var testDescription: String {
      switch self {
      case .bytes(let name, _): name
      case .sql(let sql): sql
      }
    }

    func happen(to file: StateFile) throws {
      switch self {
      case .bytes(_, let change):
        var data = try FileCopy.bytes(file.path)
        change(&data)
        try data.write(to: URL(filePath: file.path))
      case .sql(let sql): try Database(path: file.path).execute(sql)
      }
    }
  }

  static let damages: [Damage] = [
    .bytes("random bytes") { data in
      var random = SeededGenerator(seed: 1)
      data = Data((0..<20_000).map { _ in UInt8.random(in: 0...255, using: &random) })
    },
    .bytes("text") { $0 = Data("not a database, but long enough to look into: ".utf8) + Data(count: 4096) },
    .bytes("half of it") { $0 = $0.prefix($0.count / 2) },
    .bytes("all but the last page") { $0 = $0.dropLast(4096) },
    .bytes("the first page alone") { $0 = $0.prefix(4096) },
    .bytes("a page of other bytes") { data in
      for index in 4096..<8192 { data[index] ^= 0xff }
    },
    .bytes("a version below zero") { $0.replaceSubrange(60..<64, with: [0xff, 0xff, 0xff, 0xfe]) },
    .bytes("a later format of the schema") { $0[47] = 0x65 },
    .sql("DROP TABLE field"),
    .sql("DROP TABLE binding"),
    .sql("DROP TABLE state"),
    .sql("ALTER TABLE field DROP COLUMN disabled"),
    .sql("ALTER TABLE binding ADD COLUMN more"),
    .sql("ALTER TABLE state RENAME COLUMN name TO called"),
    .sql("CREATE TABLE other (a)"),
    .sql("CREATE VIEW other AS SELECT 1"),
    .sql("CREATE VIEW other AS SELECT * FROM missing"),
    .sql("CREATE TRIGGER other AFTER INSERT ON field BEGIN DELETE FROM binding; END"),
    .sql("UPDATE binding SET value = x'00'"),
    .sql("UPDATE binding SET value = NULL WHERE 0; UPDATE binding SET value = x''"),
    .sql("UPDATE binding SET value = substr(value, 1, length(value) - 1)"),
    .sql("UPDATE binding SET key = 'org.freedesktop.DBus.Mine' WHERE key = 'demo.I.Ka0'"),
    .sql("UPDATE binding SET revision = -1"),
    .sql("UPDATE binding SET revision = 9223372036854775807"),
    .sql("UPDATE field SET registration = 9223372036854775807"),
    .sql("UPDATE field SET scope = 'everywhere'"),
    .sql("UPDATE field SET id = 'no id' WHERE id = 'a'"),
    .sql("UPDATE field SET owner = 'no name' WHERE id = 'a'"),
    .sql("UPDATE field SET object = 'no path' WHERE id = 'a'"),
    .sql("UPDATE field SET parent = 'nowhere' WHERE id = 'a'"),
    .sql("UPDATE field SET parent = 'b' WHERE id = 'a'; UPDATE field SET parent = 'a' WHERE id = 'b'"),
    .sql("PRAGMA user_version = -3"),
    .sql("PRAGMA user_version = 0"),
  ]

  @Test(arguments: damages) func itIsSetAside(damage: Damage) throws {
    try withStateFile { file in
      try Self.fill(file)
      try damage.happen(to: file)
      let damaged = try FileCopy.bytes(file.path)

      let opened = Journal.open(file)
      let journal = try #require(opened.journal, "\(opened.problems)")
      #expect(opened.model.fields.isEmpty)
      #expect(opened.problems.count == 1, "\(opened.problems)")
      #expect(opened.problems.allSatisfy { $0.contains("state.db.damaged-1") && !$0.contains("\n") })
      #expect(try file.others() == ["state.db.damaged-1"])
      #expect(try FileCopy.bytes(file.path + ".damaged-1") == damaged)

      var random = try RandomModel(seed: 9)
      for _ in 0..<50 { try random.step() }
      try journal.save(random.model)
    }
  }

  private static let revision: UInt64 = 1 << 60

  @Test func aLaterVersionIsSetAsideUntouched() throws {
    try withStateFile { file in
      try Self.fill(file)
      try Database(path: file.path).execute(
        "UPDATE state SET value = \(Self.revision) WHERE name = 'revision'; PRAGMA user_version = 7")
      let before = try FileCopy.bytes(file.path)
      let opened = Journal.open(file)
      #expect(opened.journal != nil)
      #expect(opened.problems.count == 1)
      #expect(try file.others() == ["state.db.version-7-1"])
      #expect(try FileCopy.bytes(file.path + ".version-7-1") == before)
      // The new file's revisions go on, whatever the clock says.
      #expect(opened.model.revision >= Self.revision)
    }
    try withStateFile { file in #expect(Journal.open(file, after: Self.revision).model.revision >= Self.revision) }
  }

  /// What SQLite cannot do just now, it may do later.
  @Test(arguments: [
    SQLITE_PERM, SQLITE_ABORT, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM, SQLITE_READONLY, SQLITE_INTERRUPT,
    SQLITE_IOERR,
    SQLITE_FULL, SQLITE_CANTOPEN, SQLITE_PROTOCOL, SQLITE_NOLFS, SQLITE_AUTH, SQLITE_MISUSE,
  ])
  func whatIsNoDamageIsLeftWhereItIs(code: Int32) {
    #expect(Journal.reasonToSetAside(DatabaseError(code: code, description: "")) == nil)
  }

  /// A revision that leaves no room to grow would make the new file one that must be set aside too.
  @Test(arguments: [.max, .max / 2, .max / 4 + 1, -1] as [Int64])
  func aDamagedRevisionDoesNotGoOnInTheNewFile(revision: Int64) throws {
    try withStateFile { file in
      try Self.fill(file)
      try Database(path: file.path).execute(
        "UPDATE state SET value = \(revision) WHERE name = 'revision'; CREATE TABLE other (a)")
      let opened = Journal.open(file)
      _ = try opened.model.register(FieldID("new"), [Key("demo.I.K"): .int32(1)], owner: BusName(":1.1"))
      try opened.journal?.save(opened.model)
      let copy = StateFile(path: file.directory + "/copy.db")
      try FileCopy.copy(file.path, copy.path)
      let again = Journal.open(copy)
      #expect(again.problems == [])
      #expect(again.model.savedFields == opened.model.savedFields)
      #expect(again.model.revision >= opened.model.revision)
    }
  }

  /// SQLite would remove the log.
  @Test(arguments: [true, false]) func theLogOfAnEmptyFileIsKept(isMissing: Bool) throws {
    try withStateFile { file in
      let journal = try #require(Journal.open(file).journal)
      let copy = StateFile(path: file.directory + "/copy/state.db")
      try FileManager.default.createDirectory(
        atPath: copy.directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try FileCopy.copy(file.path, copy.path)
      let log = try FileCopy.bytes(copy.path + "-wal")
      #expect(!log.isEmpty)
      try isMissing ? FileManager.default.removeItem(atPath: copy.path) : Data().write(to: URL(filePath: copy.path))
      let opened = Journal.open(copy)
      #expect(opened.journal != nil)
      #expect(opened.problems.count == 1)
      #expect(opened.problems.first?.contains("its log is not: it is kept as \(copy.path).damaged-1") == true)
      #expect(try copy.others() == ["state.db.damaged-1", "state.db.damaged-1-wal"])
      #expect(try FileCopy.bytes(copy.path + ".damaged-1-wal") == log)
      withExtendedLifetime(journal) {}
    }
  }

  @Test func aMistakeOfTheProgramIsNoDamage() throws {
    try withStateFile { file in
      let journal = try #require(Journal.open(file).journal)
      try journal.database.execute("BEGIN")
      var random = try RandomModel(seed: 2)
      for _ in 0..<20 { try random.step() }
      #expect { try journal.save(random.model) } throws: { ($0 as? DatabaseError)?.isDamage == false }
    }
  }

  @Test func earlierDamageIsKeptToo() throws {
    try withStateFile { file in
      for number in 1...3 {
        try Data("damage number \(number)".utf8).write(to: URL(filePath: file.path))
        #expect(Journal.open(file).problems.count == 1)
      }
      #expect(try file.others() == (1...3).map { "state.db.damaged-\($0)" })
      for number in 1...3 {
        #expect(try FileCopy.bytes(file.path + ".damaged-\(number)") == Data("damage number \(number)".utf8))
      }
    }
  }

  /// An empty file is what a process leaves that was killed before it wrote anything: no damage.
  ///
  /// But if it has lost what it held, revisions are not given twice.
  @Test func versionZeroBecomesThePresentOne() throws {
    try withStateFile { file in
      try Data().write(to: URL(filePath: file.path))
      let opened = Journal.open(file)
      let journal = try #require(opened.journal)
      #expect(opened.problems == ["\(file.path) is empty: focusd starts without fields"])
      #expect(try journal.database.number("PRAGMA user_version") == Schema.version)
      #expect(opened.saved.state.revision >= 1_700_000_000 << 20)
    }
    try withStateFile { file in #expect(Journal.open(file).saved.state.revision == 0) }
  }

  /// The tables of earlier versions, as they were: a later program must read them.
  @Test(arguments: [1, 2]) func earlierVersionsAreRead(_ version: Int) throws {
    try withStateFile { file in
      try Database(path: file.path).execute(
        """
        CREATE TABLE state (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
        CREATE TABLE field (
          id TEXT PRIMARY KEY, label TEXT NOT NULL, scope TEXT NOT NULL, lingers INTEGER NOT NULL,
          sensitive INTEGER NOT NULL, owner TEXT, parent TEXT, registration INTEGER NOT NULL,
          object TEXT, interfaces TEXT, disabled TEXT
        ) WITHOUT ROWID;
        CREATE TABLE binding (
          field TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, read_only INTEGER NOT NULL,
          value BLOB NOT NULL, \(version == 1 ? "PRIMARY KEY" : "UNIQUE") (field, key)
        ) \(version == 1 ? "WITHOUT ROWID" : "");
        INSERT INTO state VALUES ('focused', 'b'), ('history', 'a'), ('revision', 4100), ('bus', 'beef');
        INSERT INTO field VALUES ('a', 'Outer', 'scene', 1, 0, NULL, NULL, 1, NULL, NULL, NULL);
        INSERT INTO field VALUES ('b', 'b', 'field', 0, 1, ':1.7', 'a', 2, '/o', 'demo.A demo.B', 'demo.A.Run');
        PRAGMA user_version = \(version)
        """)
      let opened = Journal.open(file)
      #expect(opened.problems == [])
      let saved = opened.model.savedFields
      let (a, b) = (try FieldID("a"), try FieldID("b"))
      #expect(
        saved == [
          a: Field(
            id: a, label: "Outer", scope: .scene, lingers: true, isSensitive: false, owner: nil, parent: nil,
            registration: 1, object: nil),
          b: Field(
            id: b, label: "b", scope: .field, lingers: false, isSensitive: true, owner: try BusName(":1.7"), parent: a,
            registration: 2,
            object: .init(
              .init(path: try ObjectPath("/o"), interfaces: ["demo.A", "demo.B"]), disabled: [try Key("demo.A.Run")])),
        ])
      #expect(opened.model.focusPath == [b, a])
      // An ancestor of the focused field is not what was left.
      #expect(opened.model.history == [])
      #expect(opened.model.revision == 4100)
      #expect(opened.journal?.bus == "beef")
    }
  }

  /// Fields `a` and `b`, each with values, in a file that was closed in order.
  @discardableResult
  static func fill(_ file: StateFile) throws -> FocusModel {
    let journal = try #require(Journal.open(file).journal)
    let model = FocusModel()
    let owner = try BusName(":1.1")
    for id in ["a", "b"] {
      var values: [Key: MarshalledValue] = [:]
      for number in 0..<40 { values[try Key("demo.I.K\(id)\(number)")] = .string(String(repeating: "x", count: 500)) }
      _ = try model.register(FieldID(id), values, owner: owner)
    }
    try journal.save(model)
    return model
  }
}

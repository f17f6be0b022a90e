/// What the journal's tables look like, and how older ones become so.
enum Schema {
  /// The version that this program writes: as many as there are steps.
  static var version: Int64 { Int64(migrations.count) }

  /// The steps from each version of the tables to the next.
  private static let migrations = [
    """
    CREATE TABLE state (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE field (
      id TEXT PRIMARY KEY, label TEXT NOT NULL, scope TEXT NOT NULL, lingers INTEGER NOT NULL,
      sensitive INTEGER NOT NULL, owner TEXT, parent TEXT, registration INTEGER NOT NULL,
      object TEXT, interfaces TEXT, disabled TEXT
    ) WITHOUT ROWID;
    CREATE TABLE binding (
      field TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, read_only INTEGER NOT NULL,
      value BLOB NOT NULL, PRIMARY KEY (field, key)
    ) WITHOUT ROWID;
    """,
    // Values have their own rows, apart from the index: to find one, SQLite would read the large ones that it passes. They
    // are kept as `KeptValue` says.
    """
    ALTER TABLE binding RENAME TO binding_1;
    CREATE TABLE binding (
      field TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, read_only INTEGER NOT NULL,
      value BLOB NOT NULL, UNIQUE (field, key)
    );
    INSERT INTO binding SELECT * FROM binding_1;
    DROP TABLE binding_1;
    """,
    // What bridges say of fields: whose object it is, if not the owner's, which keys are read each time, whose process; what
    // windows adopted, who focused what when, and where session-scoped fields stand.
    """
    ALTER TABLE field ADD COLUMN service TEXT;
    ALTER TABLE field ADD COLUMN live TEXT;
    ALTER TABLE field ADD COLUMN process INTEGER;
    ALTER TABLE field ADD COLUMN window TEXT;
    ALTER TABLE field ADD COLUMN memory TEXT;
    ALTER TABLE field ADD COLUMN active_key TEXT;
    ALTER TABLE field ADD COLUMN active_value BLOB;
    ALTER TABLE field ADD COLUMN activity TEXT;
    """,
    // The commands that a registrant says its object has.
    "ALTER TABLE field ADD COLUMN commands TEXT;",
  ]

  /// The tables of the present version, with their columns, by name.
  private static let tables = [
    ("binding", ["field", "key", "revision", "read_only", "value"]),
    (
      "field",
      [
        "id", "label", "scope", "lingers", "sensitive", "owner", "parent", "registration", "object", "interfaces",
        "disabled", "service", "live", "process", "window", "memory", "active_key", "active_value", "activity",
        "commands",
      ]
    ), ("state", ["name", "value"]),
  ]

  /// The names of everything that the schema of `database` holds, triggers and views too.
  private static func names(in database: Database) throws -> [String] {
    var names: [String] = []
    try database.statement("SELECT name FROM sqlite_schema ORDER BY name").rows { names.append($0.text(0) ?? "") }
    return names
  }

  /// Whether the schema of `database` is the present version's, and nothing more.
  private static func isPresent(in database: Database) throws -> Bool {
    guard try names(in: database) == ["binding", "field", "sqlite_autoindex_binding_1", "state"] else { return false }
    for (table, expected) in tables {
      var columns: [String] = []
      try database.statement("PRAGMA table_info(\(table))").rows { columns.append($0.text(1) ?? "") }
      guard columns == expected else { return false }
    }
    return true
  }

  /// Brings the tables of `database` to the present version, in one transaction.
  /// - Throws: `DatabaseError`, `SavedStateDamaged` or `SchemaTooNew`.
  static func migrate(_ database: Database) throws {
    let found = try database.number("PRAGMA user_version")
    guard found >= 0 else { throw SavedStateDamaged(description: "its version is \(found)") }
    guard found <= version else { throw SchemaTooNew(version: found) }
    if found < version {
      guard try found > 0 || names(in: database).isEmpty else {
        throw SavedStateDamaged(description: "it has tables but no version")
      }
      // What an older file holds must not be lost with the power.
      if found > 0 { try database.execute("PRAGMA synchronous = NORMAL") }
      try database.execute("BEGIN IMMEDIATE")
      for migration in migrations.dropFirst(Int(found)) { try database.execute(migration) }
      try database.execute("PRAGMA user_version = \(version); COMMIT")
    }
    guard try isPresent(in: database) else {
      throw SavedStateDamaged(description: "its tables have an unexpected schema")
    }
  }
}

/// The tables are of a version that a later program wrote.
struct SchemaTooNew: Error {
  /// That version.
  let version: Int64
}

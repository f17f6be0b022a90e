internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// What an earlier process has saved.
struct Saved {
  var state = SavedState()
  /// The bus that owners' names are of, as its id.
  var bus: String?
  /// The fields, as far as the limits go.
  var restoration = Restoration()
}

/// Says how far a start has got, and how much more time it takes at most.
typealias StartProgress = (_ status: String, _ time: Duration) -> Void

/// Reads the rows of a state file, one field after another, so that what is past the limits takes no memory.
struct Loading {
  private let database: Database
  private let progress: StartProgress
  private var saved = Saved()
  private var field: Field?
  private var fieldBytes = 0
  private var fieldCount = 0
  private var lastProgress = SuspendingClock.now

  /// What the daemon adds to a value when it saves it takes less than this.
  private static let overhead = 4096

  /// Reads everything; revisions go on after `revision` at least.
  /// - Throws: `DatabaseError`, or another error if this program did not write a row in that form.
  static func load(
    _ database: Database, after revision: UInt64 = 0, _ progress: @escaping StartProgress = { _, _ in }
  ) throws -> Saved {
    var loading = Loading(database: database, progress: progress)
    try loading.readState()
    loading.saved.state.revision = max(loading.saved.state.revision, revision)
    try loading.readFields()
    try loading.saved.restoration.finish(loading.saved.state)
    return loading.saved
  }

  private mutating func readState() throws {
    var revision: Int64 = 0
    try database.statement("SELECT name, value FROM state").rows { row in
      switch row.text(0) {
      case "focused": saved.state.focusedField = row.text(1).flatMap { try? FieldID($0) }
      case "front": saved.state.front = row.text(1).flatMap { try? FieldID($0) }
      case "history":
        saved.state.history = (row.text(1) ?? "").split(separator: " ").compactMap { try? FieldID(String($0)) }
      case "revision": revision = row.number(1)
      case "bus": saved.bus = row.text(1)
      default: break
      }
    }
    saved.state.revision = try Loading.count(revision)
  }

  private mutating func readFields() throws {
    let count = try database.number("SELECT count(*) FROM field")
    saved.restoration = Restoration(expecting: Int(min(count, Int64(Limits.fields))))
    let rows = database.statement(
      """
      SELECT binding.key, binding.revision, binding.read_only, binding.value, field.*
      FROM field LEFT JOIN binding ON binding.field = field.id ORDER BY field.id
      """)
    try rows.rows { row in try read(row) }
    try finishField()
  }

  private mutating func read(_ row: Row) throws {
    if row.text(Loading.fieldColumns) != field?.id.text {
      try finishField()
      field = try Loading.field(row)
      fieldBytes = 0
    }
    guard let id = field?.id, !row.isNull(0) else { return }
    let key = try Key(row.text(0) ?? "")
    let size = row.size(3)
    guard size <= Limits.value.bytes + Loading.overhead else { return saved.restoration.leaveOut(key, of: id) }
    fieldBytes += size
    guard !isTooLarge else { return }
    field?.bindings[key] = FieldBinding(
      value: try KeptValue.read(row.blob(3)), revision: try Loading.count(row.number(1)), isReadOnly: row.number(2) != 0
    )
  }

  /// Where the field's own columns begin, behind those of one of its bindings.
  private static let fieldColumns: Int32 = 4

  /// Whether the field alone is far past what one owner may have.
  private var isTooLarge: Bool { fieldBytes > Limits.perOwner.bytes + Limits.keysPerField * Loading.overhead }

  private mutating func finishField() throws {
    guard let field else { return }
    if isTooLarge {
      saved.restoration.leaveOut(field.id, in: field.parent)
    } else {
      try saved.restoration.add(field)
    }
    fieldCount += 1
    guard fieldCount.isMultiple(of: 64), SuspendingClock.now - lastProgress > .seconds(1) else { return }
    lastProgress = .now
    progress("reading the saved fields, \(fieldCount) so far", .seconds(10))
  }

  /// A counter with room left to grow.
  /// - Throws: `SavedStateDamaged`.
  private static func count(_ number: Int64) throws -> UInt64 {
    guard (0...(.max / 2)).contains(number) else {
      throw SavedStateDamaged(description: "its revision is \(number)")
    }
    return UInt64(number)
  }

  private static func field(_ row: Row) throws -> Field {
    func text(_ column: Int32) -> String? { row.text(fieldColumns + column) }
    func number(_ column: Int32) -> Int64 { row.number(fieldColumns + column) }
    func words(_ column: Int32) -> [String] { (text(column) ?? "").split(separator: " ").map(String.init) }
    func keys(_ column: Int32) throws -> Set<Key> { Set(try words(column).map { try Key($0) }) }
    var object: Field.SavedObject?
    if let path = text(8) {
      var commands: [Key: Signature] = [:]
      for word in words(19) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        commands[try Key(parts.first ?? "")] = try Signature(parts.dropFirst().first ?? "")
      }
      object = .init(
        ObjectChoice(
          path: try ObjectPath(path), interfaces: text(9) == nil ? nil : words(9), live: try keys(12),
          commands: commands), disabled: try keys(10))
    }
    guard let scope = Scope(rawValue: text(2) ?? "") else {
      throw ModelError.invalid("a saved field has the scope '\(text(2) ?? "")'")
    }
    let condition = try text(16).map {
      Activity.Condition(key: try Key($0), value: try KeptValue.read(row.blob(fieldColumns + 17)))
    }
    return Field(
      id: try FieldID(text(0) ?? ""), label: text(1) ?? "", scope: scope, lingers: number(3) != 0,
      isSensitive: number(4) != 0, owner: try text(5).map { try BusName($0) },
      parent: try text(6).map { try FieldID($0) }, registration: try count(number(7)),
      service: try text(11).map { try BusName($0) },
      process: row.isNull(fieldColumns + 13) ? nil : UInt32(truncatingIfNeeded: number(13)), object: object,
      window: try text(14).map { try KeptMoments.window($0) },
      lastFocused: try KeptMoments.lastFocused(text(15) ?? ""),
      activity: try text(18).map { try KeptMoments.activity($0, condition) })
  }
}

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
  private var field: SavedField?
  private var fieldBytes = 0
  private var fieldCount = 0
  private var lastProgress = SuspendingClock.now

  /// What the daemon adds to a value when it saves it takes less than this.
  private static let overhead = 4096

  init(_ database: Database, _ progress: @escaping StartProgress) {
    self.database = database
    self.progress = progress
  }

  /// Reads everything.
  /// - Throws: `DatabaseError`, or another error if this program did not write a row in that form.
  static func load(_ database: Database, _ progress: @escaping StartProgress = { _, _ in }) throws -> Saved {
    var loading = Loading(database, progress)
    try loading.readState()
    try loading.readFields()
    try loading.saved.restoration.finish(loading.saved.state)
    return loading.saved
  }

  private mutating func readState() throws {
    var revision: Int64 = 0
    try database.prepare("SELECT name, value FROM state").rows { row in
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
    var problem: (any Error)?
    let rows = try database.prepare(
      """
      SELECT field.*, binding.key, binding.revision, binding.read_only, binding.value
      FROM field LEFT JOIN binding ON binding.field = field.id ORDER BY field.id
      """)
    try rows.rows { row in
      guard problem == nil else { return }
      do { try read(row) } catch { problem = error }
    }
    if let problem { throw problem }
    try finishField()
  }

  private mutating func read(_ row: Row) throws {
    if row.text(0) != field?.id.text {
      try finishField()
      field = try Loading.field(row)
      fieldBytes = 0
    }
    guard let id = field?.id, !row.isNull(16) else { return }
    let key = try Key(row.text(16) ?? "")
    let size = row.size(19)
    guard size <= Limits.value.bytes + Loading.overhead else { return saved.restoration.leaveOut(key, of: id) }
    fieldBytes += size
    guard !isTooLarge else { return }
    field?.bindings[key] = .init(
      value: try KeptValue.read(row.blob(19)), revision: try Loading.count(row.number(17)),
      isReadOnly: row.number(18) != 0)
  }

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

  /// A number that can be counted on from.
  /// - Throws: `SavedStateDamaged`.
  private static func count(_ number: Int64) throws -> UInt64 {
    guard (0...(.max / 2)).contains(number) else {
      throw SavedStateDamaged(description: "its revision is \(number)")
    }
    return UInt64(number)
  }

  private static func field(_ row: Row) throws -> SavedField {
    func words(_ column: Int32) -> [String] { (row.text(column) ?? "").split(separator: " ").map(String.init) }
    var object: SavedField.SavedObject?
    if let path = row.text(8) {
      object = .init(
        path: try ObjectPath(path), interfaces: row.isNull(9) ? nil : words(9),
        disabled: Set(try words(10).map { try Key($0) }))
    }
    guard let scope = Scope(rawValue: row.text(2) ?? "") else {
      throw ModelError.invalid("a saved field has the scope '\(row.text(2) ?? "")'")
    }
    var field = SavedField(
      id: try FieldID(row.text(0) ?? ""), label: row.text(1) ?? "", scope: scope, lingers: row.number(3) != 0,
      isSensitive: row.number(4) != 0, owner: try row.text(5).map { try BusName($0) },
      parent: try row.text(6).map { try FieldID($0) }, registration: try count(row.number(7)), object: object)
    field.window = try row.text(11).map { try KeptMoments.window($0) }
    field.memory = try KeptMoments.memory(row.text(12) ?? "")
    let condition = try row.text(13).map { Activity.Condition(key: try Key($0), value: try KeptValue.read(row.blob(14))) }
    field.activity = try row.text(15).map { try KeptMoments.activity($0, condition) }
    return field
  }
}

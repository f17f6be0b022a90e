internal import DBusTypes

/// The fields of a program, found by number, by group, by object and by path, and in the order in which they were added.
struct FieldIndex {
  private var byNumber: [UInt64: PublishedField] = [:]
  private var byObject: [ObjectPath: PublishedField] = [:]
  private var byPath: [ObjectPath: PublishedField] = [:]
  private var groups: [UInt64: [PublishedField]] = [:]
  /// The numbers of each field's children, as they were added.
  private var children: [UInt64: [UInt64]] = [:]
  /// Those that may wait for a daemon, in order, without keeping one that is removed; those before `next` do not any more.
  private var waiting: [(number: UInt64, order: UInt64)] = []
  private var next = 0

  subscript(number: UInt64) -> PublishedField? { byNumber[number] }

  /// The fields, in any order.
  var all: some Sequence<PublishedField> { byNumber.values }

  /// The paths of all objects.
  var objects: [ObjectPath] { Array(byObject.keys) }

  func field(at path: ObjectPath?) -> PublishedField? { path.flatMap { byPath[$0] } }

  func field(of object: ObjectPath) -> PublishedField? { byObject[object] }

  mutating func add(_ field: PublishedField) {
    byNumber[field.number] = field
    byObject[field.description.objectPath] = field
    groups[field.description.group, default: []].append(field)
    if let parent = field.description.parent { children[parent, default: []].append(field.number) }
    waiting.append((field.number, field.order))
  }

  /// The fields of `group`.
  func inGroup(_ group: UInt64) -> [PublishedField] { groups[group] ?? [] }

  /// Takes the fields of `group` out; children that are left are those of their parent, as the daemon has it.
  mutating func remove(group: UInt64) -> [PublishedField] {
    let fields = groups.removeValue(forKey: group) ?? []
    for field in fields {
      byNumber[field.number] = nil
      byObject[field.description.objectPath] = nil
      if let path = field.path { byPath[path] = nil }
    }
    for field in fields { leave(field) }
    // Without a daemon nothing else shortens it.
    if waiting.count > 2 * byNumber.count + 64 {
      waiting = waiting[next...].filter { byNumber[$0.number]?.order == $0.order }
      next = 0
    }
    return fields
  }

  private mutating func leave(_ field: PublishedField) {
    let parent = field.description.parent
    if let parent { children[parent]?.removeAll { $0 == field.number } }
    if let parent, children[parent]?.isEmpty == true { children[parent] = nil }
    for child in children.removeValue(forKey: field.number) ?? [] {
      guard let child = byNumber[child] else { continue }
      child.move(to: parent)
      if let parent { children[parent, default: []].append(child.number) }
    }
  }

  mutating func registered(_ field: PublishedField, at path: ObjectPath) { byPath[path] = field }

  /// Every field waits again.
  mutating func daemonLeft() {
    byPath = [:]
    let fields = byNumber.values.sorted { $0.order < $1.order }
    waiting = fields.map { ($0.number, $0.order) }
    next = 0
    for field in fields { field.daemonLeft() }
  }

  /// The first field that waits for a daemon.
  mutating func firstWaiting() -> PublishedField? {
    while next < waiting.count {
      let (number, order) = waiting[next]
      if let field = byNumber[number], field.order == order, field.isWaiting { return field }
      next += 1
    }
    waiting = []
    next = 0
    return nil
  }
}

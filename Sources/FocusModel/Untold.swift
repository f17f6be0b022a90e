internal import DBusTypes
internal import FocusContract

/// What everyone has been told of fields, as far as that is not so any more, and what may resolve to something else; what came
/// and went since it was told last leaves nothing here.
struct Untold {
  /// What is told of a field beside its names.
  struct Facts {
    let owner: BusName?
    let parent: FieldID?
    let adopted: [BusName: UInt64]?
    let isActive: Bool

    init(_ field: Field) {
      (owner, parent, adopted) = (field.owner, field.parent, field.window?.adopted)
      isActive = field.activity?.isActive == true
    }

    func tell(of new: Facts, _ id: FieldID, _ changes: inout [Change]) {
      if owner != new.owner { changes.append(.fieldChanged(id, .owner)) }
      if parent != new.parent { changes.append(.fieldChanged(id, .parent)) }
      if adopted?.keys != new.adopted?.keys { changes.append(.fieldChanged(id, .adopted)) }
      if isActive != new.isActive { changes.append(.fieldChanged(id, .active)) }
    }
  }

  /// What has been signalled for one field id.
  private struct Told {
    /// A field that is gone.
    var gone: (registration: UInt64, interfaces: [InterfaceName])?
    /// Whether nothing was told of the field that is there now.
    var isNew = false
    var facts: Facts?
    var members: [Key: ShownMember] = [:]

    /// The interfaces of which something of `field`, which is not new, has been shown.
    func interfaces(of field: Field) -> [InterfaceName] {
      if members.isEmpty { return field.shownInterfaces }
      var interfaces = Set(members.lazy.filter { $1 != .none }.map(\.key.interface))
      for key in field.names where members[key] == nil && field.shown(key) != .none { interfaces.insert(key.interface) }
      return interfaces.sorted()
    }
  }

  private var told: [FieldID: Told] = [:]
  /// The client that has changed values since, or the last of several.
  var writer: BusName?
  /// The fields of whose processes nothing was told.
  private(set) var processes: Set<FieldID> = []
  /// The names that may resolve to something else.
  private(set) var names: Set<Key> = []

  var isEmpty: Bool { told.isEmpty && processes.isEmpty && names.isEmpty }

  /// Notes that `field` is there.
  mutating func added(_ field: Field) { told[field.id, default: Told()].isNew = true }

  /// Notes that `field` goes.
  mutating func removed(_ field: Field) {
    let told = Told(gone: (field.registration, field.shownInterfaces))
    guard let earlier = self.told.updateValue(told, forKey: field.id) else { return }
    let gone = earlier.isNew ? earlier.gone : (field.registration, earlier.interfaces(of: field))
    self.told[field.id] = gone.map { Told(gone: $0) }
  }

  /// Notes that the name `key` of `field` changes.
  mutating func note(_ key: Key, of field: Field) {
    let entry = told[field.id]
    guard entry?.isNew != true, entry?.members[key] == nil else { return }
    told[field.id, default: Told()].members[key] = field.shown(key)
  }

  /// Notes that the name `key` of the field `id` was shown as `member`.
  mutating func note(_ key: Key, of id: FieldID, told member: ShownMember) {
    told[id, default: Told()].members[key] = member
    note(key)
  }

  /// Notes that `key` may resolve to something else.
  mutating func note(_ key: Key) { names.insert(key) }

  /// Notes that what else is told of `field` changes.
  mutating func noteFacts(of field: Field) {
    guard told[field.id]?.isNew != true, told[field.id]?.facts == nil else { return }
    told[field.id, default: Told()].facts = Facts(field)
  }

  /// Notes that the field `id` belongs to another process.
  mutating func noteProcess(of id: FieldID) { processes.insert(id) }

  /// Whether nothing was told of the field `id`.
  func isNew(_ id: FieldID) -> Bool { told[id]?.isNew == true }

  /// Adds to `changes` which fields came and went, and what else they are, and to `values` what they show.
  func tell(of fields: [FieldID: Field], _ changes: inout [Change], values: inout [Change]) {
    var (gone, added): ([(id: FieldID, UInt64, [InterfaceName])], [(id: FieldID, UInt64)]) = ([], [])
    var facts: [Change] = []
    var changed: [FieldID] = []
    for (id, told) in told {
      if let (registration, interfaces) = told.gone { gone.append((id, registration, interfaces)) }
      guard let field = fields[id] else { continue }
      if told.isNew { added.append((id, field.registration)) } else { changed.append(id) }
    }
    for id in changed.sorted() {
      guard let told = told[id], let field = fields[id] else { continue }
      if let old = told.facts { old.tell(of: Facts(field), id, &facts) }
      field.tell(since: told.members, &values)
    }
    for id in processes.sorted() where fields[id] != nil && told[id]?.isNew != true {
      facts.append(.fieldChanged(id, .process))
    }
    for (id, _, interfaces) in gone.sorted(by: { $0.1 > $1.1 }) {
      changes.append(.fieldRemoved(id, interfaces: interfaces))
    }
    for (id, _) in added.sorted(by: { $0.1 < $1.1 }) { changes.append(.fieldAdded(id)) }
    changes += facts
  }

  /// Forgets everything, which has been told.
  mutating func removeAll() {
    takeBack()
    if !processes.isEmpty { processes.removeAll() }
  }

  /// Forgets what has been taken back.
  mutating func takeBack() {
    if !told.isEmpty { told.removeAll(keepingCapacity: told.count < 64) }
    if !names.isEmpty { names.removeAll(keepingCapacity: names.count < 64) }
    writer = nil
  }
}

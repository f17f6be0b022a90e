internal import DBusTypes
internal import FocusContract

/// Which fields owners focused, window by window: what `Field.memory` says, in the order of time.
struct FocusMemory {
  /// Fields that are remembered together.
  enum Group: Hashable {
    /// The fields in a window.
    case window(FieldID)
    /// The fields in no window, below the scenes of a connection; nil: of scenes without an owner.
    case connection(BusName?)
  }

  /// One field that one owner focused.
  struct Entry: Hashable {
    let moment: UInt64
    let owner: BusName?
    let field: FieldID
  }

  private var groups: [Group: [Entry]] = [:]
  /// The fields that each owner has focused.
  private(set) var fields: [BusName: Set<FieldID>] = [:]

  /// The field that was focused last in `group`.
  func newest(in group: Group) -> FieldID? { groups[group]?.last?.field }

  /// The field that `owner` focused last in `group`.
  func newest(in group: Group, by owner: BusName?) -> FieldID? {
    groups[group]?.last { $0.owner == owner }?.field
  }

  /// The fields that `owner` focused in `group`.
  func all(in group: Group, by owner: BusName?) -> [FieldID] {
    (groups[group] ?? []).filter { $0.owner == owner }.map(\.field)
  }

  mutating func add(_ field: Field, in group: Group) {
    for (owner, moment) in field.memory { add(Entry(moment: moment, owner: owner, field: field.id), in: group) }
  }

  mutating func add(_ entry: Entry, in group: Group) {
    var entries = groups.removeValue(forKey: group) ?? []
    let place = entries.lastIndex { $0.moment <= entry.moment }.map { $0 + 1 } ?? 0
    entries.insert(entry, at: place)
    groups[group] = entries
    if let owner = entry.owner { fields[owner, default: []].insert(entry.field) }
  }

  mutating func remove(_ field: Field, from group: Group) {
    for (owner, moment) in field.memory { remove(Entry(moment: moment, owner: owner, field: field.id), from: group) }
  }

  mutating func remove(_ entry: Entry, from group: Group) {
    var entries = groups.removeValue(forKey: group) ?? []
    if let place = entries.lastIndex(of: entry) { entries.remove(at: place) }
    if !entries.isEmpty { groups[group] = entries }
    guard let owner = entry.owner else { return }
    fields[owner]?.remove(entry.field)
    if fields[owner]?.isEmpty == true { fields[owner] = nil }
  }
}

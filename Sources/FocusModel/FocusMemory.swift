internal import DBusTypes
internal import FocusContract

/// Which fields owners focused, window by window: what `Field.lastFocused` says, in the order of time.
struct FocusMemory: Equatable {
  /// Fields that are remembered together.
  enum Group: Hashable {
    /// The fields in a window.
    case window(FieldID)
    /// The fields in no window, below the scenes of a connection; nil: of scenes without an owner.
    case connection(BusName?)
  }

  private struct Entry: Comparable {
    let moment: UInt64
    let field: FieldID

    init(_ field: Field) { (moment, self.field) = (field.lastFocused, field.id) }

    static func < (left: Entry, right: Entry) -> Bool {
      (left.moment, left.field.text) < (right.moment, right.field.text)
    }
  }

  private struct Memory: Equatable {
    var all = SortedList<Entry>()
    var byOwner: [BusName?: SortedList<Entry>] = [:]
  }

  private var groups: [Group: Memory] = [:]

  /// The field that was focused last in `group`.
  func newest(in group: Group) -> FieldID? { groups[group]?.all.last?.field }

  /// The field that `owner` focused last in `group`.
  func newest(in group: Group, by owner: BusName?) -> FieldID? { groups[group]?.byOwner[owner]?.last?.field }

  /// The fields that `owner` focused in `group`.
  func all(in group: Group, by owner: BusName?) -> [FieldID] { groups[group]?.byOwner[owner]?.map(\.field) ?? [] }

  /// Adds `field`, if it was focused.
  mutating func add(_ field: Field, in group: Group) {
    guard field.lastFocused > 0 else { return }
    groups[group, default: Memory()].all.insert(Entry(field))
    groups[group]?.byOwner[field.owner, default: SortedList()].insert(Entry(field))
  }

  /// Removes `field` as it was added.
  mutating func remove(_ field: Field, from group: Group) {
    guard field.lastFocused > 0 else { return }
    groups[group]?.all.remove(Entry(field))
    groups[group]?.byOwner[field.owner]?.remove(Entry(field))
    if groups[group]?.byOwner[field.owner]?.isEmpty == true { groups[group]?.byOwner[field.owner] = nil }
    if groups[group]?.all.isEmpty == true { groups[group] = nil }
  }
}

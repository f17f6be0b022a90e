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

  /// By their owners, and with none all.
  private var fields = FieldIndex<Group, BusName??>()

  /// The field that was focused last in `group`.
  func newest(in group: Group) -> FieldID? { fields.last(nil, in: group) }

  /// The field that `owner` focused last in `group`.
  func newest(in group: Group, by owner: BusName?) -> FieldID? { fields.last(.some(owner), in: group) }

  /// The fields that `owner` focused in `group`.
  func all(in group: Group, by owner: BusName?) -> [FieldID] {
    fields.all(.some(owner), in: group)?.map(\.field) ?? []
  }

  /// Adds `field`, or takes it away as it was added, if it was focused.
  mutating func set(_ field: Field, in group: Group, isThere: Bool) {
    guard field.lastFocused > 0 else { return }
    let ranked = RankedField(moment: field.lastFocused, field: field.id)
    fields.set(ranked, nil, in: group, isThere: isThere)
    fields.set(ranked, .some(field.owner), in: group, isThere: isThere)
  }
}

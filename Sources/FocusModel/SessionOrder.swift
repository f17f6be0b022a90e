internal import DBusTypes
internal import FocusContract

/// The session-scoped fields in the order in which they supply what nothing nearer has, found at once however many there are.
struct SessionOrder: Equatable {
  /// Those in each window, and with nil those of the whole session; by interface, and with nil all.
  private var fields = FieldIndex<FieldID?, InterfaceName?>()
  /// The interfaces whose supplier may differ since `takeChanges`.
  private var changed: Set<InterfaceName> = []
  /// Whether fields have another order than at `takeChanges`, or may have.
  private var isReordered = false
  /// The fields that have come since `takeChanges`.
  private var newcomers: Set<FieldID> = []
  /// The field that `Activate` named.
  private(set) var activated: FieldID?

  /// Interfaces of what is typed or dictated, which goes to what has focus, or nowhere.
  static let withheld: Set<InterfaceName> = [
    InterfaceName(known: "org.focusd.Text"), InterfaceName(known: "org.focusd.Element"),
    InterfaceName(known: "org.focusd.Shell"),
  ]

  static func == (left: SessionOrder, right: SessionOrder) -> Bool {
    (left.fields, left.activated) == (right.fields, right.activated)
  }

  /// Fields that `Activate` named come first, then active ones, then those that were, then the others; of each the latest.
  private static func ranked(_ field: Field) -> RankedField {
    let activity = field.activity ?? Activity()
    let rank: UInt64 = activity.isActivated ? 0 : activity.isActive ? 1 : activity.moment > 0 ? 2 : 3
    return RankedField(rank: rank, moment: ~(rank == 3 ? field.registration : activity.moment), field: field.id)
  }

  /// The interfaces that some field supplies.
  var interfaces: some Sequence<InterfaceName> {
    fields.names(in: nil).lazy.compactMap { $0 }.filter { !Self.withheld.contains($0) }
  }

  /// The first field that has `interface` while `front` is the window in front.
  func supplier(of interface: InterfaceName, front: FieldID?) -> FieldID? {
    guard let everywhere = fields.all(interface, in: nil)?.first, !Self.withheld.contains(interface) else {
      return nil
    }
    return (front.flatMap { fields.all(interface, in: $0)?.first } ?? everywhere).field
  }

  private func all(in window: FieldID?) -> SortedList<RankedField>? { fields.all(nil, in: window) }

  /// All fields, in order, while `front` is the window in front.
  func order(front: FieldID?) -> [FieldID] {
    let nearer = front.flatMap { all(in: $0) }?.map(\.field) ?? []
    let those = Set(nearer)
    return nearer + (all(in: nil) ?? SortedList()).lazy.map(\.field).filter { !those.contains($0) }
  }

  /// The first fields, `most` of them, wherever focus is.
  func first(_ most: Int) -> [FieldID] { (all(in: nil) ?? SortedList()).prefix(most).map(\.field) }

  /// Whether there are no such fields.
  var isEmpty: Bool { all(in: nil) == nil }

  /// Adds `field`, which is in `window`, or takes it away as it was added.
  mutating func set(_ field: Field, in window: FieldID?, isThere: Bool) {
    place(field, in: window, isThere: isThere)
    if isThere { newcomers.insert(field.id) } else if newcomers.remove(field.id) == nil { isReordered = true }
  }

  private mutating func place(_ field: Field, in window: FieldID?, isThere: Bool) {
    set(nil, of: field, in: window, isThere: isThere)
    for interface in field.interfaceCounts.interfaces { set(interface, of: field, in: window, isThere: isThere) }
    if activated == field.id { activated = nil }
    if isThere, field.activity?.isActivated == true { activated = field.id }
  }

  /// Notes that `field`, which is in `window`, has `interface` from now on, or no more; nil: that it is there.
  mutating func set(_ interface: InterfaceName?, of field: Field, in window: FieldID?, isThere: Bool) {
    let ranked = Self.ranked(field)
    fields.set(ranked, interface, in: nil, isThere: isThere)
    if let window { fields.set(ranked, interface, in: window, isThere: isThere) }
    if let interface { changed.insert(interface) }
  }

  /// Puts `field` where it belongs after `old`, which was it before, while `front` is the window in front.
  mutating func replace(_ old: Field, with field: Field, in window: FieldID?, front: FieldID?) {
    place(old, in: window, isThere: false)
    let differs = position(of: old, in: window, front: front) != position(of: field, in: window, front: front)
    if differs, !newcomers.contains(field.id) { isReordered = true }
    place(field, in: window, isThere: true)
  }

  /// How many fields would come before `field`, which is not there, among those that are as near.
  private func position(of field: Field, in window: FieldID?, front: FieldID?) -> Int {
    let ranked = Self.ranked(field)
    let nearer = front.flatMap { all(in: $0) }?.position(of: ranked) ?? 0
    return front != nil && window == front ? nearer : (all(in: nil)?.position(of: ranked) ?? 0) - nearer
  }

  /// Notes that another window is in front.
  mutating func frontChanged(from old: FieldID?, to new: FieldID?) {
    let windows = [old, new].compactMap { $0 }
    for window in windows { changed.formUnion(fields.names(in: window).lazy.compactMap { $0 }) }
    // Those of one window come first already if nothing comes between them.
    let nearer = windows.compactMap { all(in: $0) }
    if nearer.count == 2 || nearer.contains(where: { !isFirst($0) }) { isReordered = true }
  }

  private func isFirst(_ nearer: SortedList<RankedField>) -> Bool {
    nearer.last.map { all(in: nil)?.position(of: $0) == nearer.count - 1 } ?? true
  }

  /// Notes that the order is the one that has been published.
  mutating func orderIsPublished() { (isReordered, newcomers) = (false, []) }

  /// Whether the order differs, or may, since `takeChanges`.
  var hasNewOrder: Bool { isReordered || !newcomers.isEmpty }

  /// Whether anything may differ since `takeChanges`.
  var hasChanges: Bool { hasNewOrder || !changed.isEmpty }

  /// The interfaces whose supplier may differ since the last time.
  mutating func takeChanges() -> Set<InterfaceName> {
    defer {
      changed = []
      orderIsPublished()
    }
    return changed
  }
}

internal import DBusTypes
internal import FocusContract

/// The session-scoped fields in the order in which they supply what nothing nearer has.
///
/// It makes resolution independent of how many there are.
struct SessionOrder: Equatable {
  private struct Entry: Comparable {
    /// 0: named by `Activate`; 1: active; 2: was active; 3: the others.
    let rank: Int
    /// Among one rank the latest comes first.
    let moment: UInt64
    let field: FieldID

    init(_ field: Field) {
      let activity = field.activity ?? Activity()
      rank = activity.isActivated ? 0 : activity.isActive ? 1 : activity.moment > 0 ? 2 : 3
      moment = rank == 3 ? field.registration : activity.moment
      self.field = field.id
    }

    static func < (left: Entry, right: Entry) -> Bool {
      (left.rank, right.moment, left.field.text) < (right.rank, left.moment, right.field.text)
    }
  }

  /// The session-scoped fields of the whole session, or of one window.
  private struct Fields: Equatable {
    var all = SortedList<Entry>()
    var byInterface: [InterfaceName: SortedList<Entry>] = [:]

    mutating func add(_ entry: Entry, _ interfaces: some Sequence<InterfaceName>) {
      all.insert(entry)
      for interface in interfaces { add(entry, to: interface) }
    }

    mutating func remove(_ entry: Entry, _ interfaces: some Sequence<InterfaceName>) {
      all.remove(entry)
      for interface in interfaces { remove(entry, from: interface) }
    }

    mutating func add(_ entry: Entry, to interface: InterfaceName) {
      byInterface[interface, default: SortedList()].insert(entry)
    }

    mutating func remove(_ entry: Entry, from interface: InterfaceName) {
      byInterface[interface]?.remove(entry)
      if byInterface[interface]?.isEmpty == true { byInterface[interface] = nil }
    }
  }

  private var session = Fields()
  private var windows: [FieldID: Fields] = [:]
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
    (left.session, left.windows, left.activated) == (right.session, right.windows, right.activated)
  }

  /// The interfaces that some field supplies.
  var interfaces: some Sequence<InterfaceName> { session.byInterface.keys.lazy.filter { !Self.withheld.contains($0) } }

  /// The first field that has `interface` while `front` is the window in front.
  func supplier(of interface: InterfaceName, front: FieldID?) -> FieldID? {
    guard let everywhere = session.byInterface[interface]?.first, !Self.withheld.contains(interface) else { return nil }
    return (front.flatMap { windows[$0]?.byInterface[interface]?.first } ?? everywhere).field
  }

  /// All fields, in order, while `front` is the window in front.
  func order(front: FieldID?) -> [FieldID] {
    guard let nearer = front.flatMap({ windows[$0] })?.all.map(\.field) else { return session.all.map(\.field) }
    let those = Set(nearer)
    return nearer + session.all.lazy.map(\.field).filter { !those.contains($0) }
  }

  /// The first active fields, `most` of them.
  func active(most: Int) -> [FieldID] {
    // The one that `Activate` named, which need not be active, comes before them.
    session.all.prefix(most + 1).filter { $0.rank == 1 || $0.field == activated }.prefix(most).map(\.field)
  }

  /// Whether there are no such fields.
  var isEmpty: Bool { session.all.isEmpty }

  /// Adds `field`, which is in `window`.
  mutating func add(_ field: Field, in window: FieldID?) {
    insert(field, window)
    newcomers.insert(field.id)
  }

  /// Removes `field`, as it was added.
  mutating func remove(_ field: Field, from window: FieldID?) {
    take(field, window)
    if newcomers.remove(field.id) == nil { isReordered = true }
  }

  private mutating func insert(_ field: Field, _ window: FieldID?) {
    let (entry, interfaces) = (Entry(field), field.interfaceCounts.interfaces)
    session.add(entry, interfaces)
    if let window { windows[window, default: Fields()].add(entry, interfaces) }
    if field.activity?.isActivated == true { activated = field.id }
    changed.formUnion(interfaces)
  }

  private mutating func take(_ field: Field, _ window: FieldID?) {
    let (entry, interfaces) = (Entry(field), field.interfaceCounts.interfaces)
    session.remove(entry, interfaces)
    if let window {
      windows[window]?.remove(entry, interfaces)
      if windows[window]?.all.isEmpty == true { windows[window] = nil }
    }
    if activated == field.id { activated = nil }
    changed.formUnion(interfaces)
  }

  /// Puts `field` where it belongs after `old`, which was it before, while `front` is the window in front.
  mutating func replace(_ old: Field, with field: Field, in window: FieldID?, front: FieldID?) {
    take(old, window)
    let differs = place(of: old, in: window, front: front) != place(of: field, in: window, front: front)
    if differs, !newcomers.contains(field.id) { isReordered = true }
    insert(field, window)
  }

  /// How many fields would come before `field`, which is not there, among those that are as near.
  private func place(of field: Field, in window: FieldID?, front: FieldID?) -> Int {
    let entry = Entry(field)
    let nearer = front.flatMap { windows[$0] }?.all.position(of: entry) ?? 0
    return front != nil && window == front ? nearer : session.all.position(of: entry) - nearer
  }

  /// Notes that `field`, which is in `window`, has `interface` from now on.
  mutating func add(_ interface: InterfaceName, to field: Field, in window: FieldID?) {
    session.add(Entry(field), to: interface)
    if let window { windows[window]?.add(Entry(field), to: interface) }
    changed.insert(interface)
  }

  /// Notes that `field`, which is in `window`, has `interface` no more.
  mutating func remove(_ interface: InterfaceName, from field: Field, in window: FieldID?) {
    session.remove(Entry(field), from: interface)
    if let window { windows[window]?.remove(Entry(field), from: interface) }
    changed.insert(interface)
  }

  /// Notes that another window is in front.
  mutating func frontChanged(from old: FieldID?, to new: FieldID?) {
    let nearer = [old, new].compactMap { $0.flatMap { windows[$0] } }
    for fields in nearer { changed.formUnion(fields.byInterface.keys) }
    // Those of one window come first already if nothing comes between them.
    if nearer.count == 2 || nearer.contains(where: { !isFirst($0) }) { isReordered = true }
  }

  private func isFirst(_ fields: Fields) -> Bool {
    fields.all.last.map { session.all.position(of: $0) == fields.all.count - 1 } ?? true
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

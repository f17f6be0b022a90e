internal import DBusTypes
internal import FocusContract

/// The session-scoped fields in the order in which they supply what nothing nearer has.
///
/// It makes resolution independent of how many there are.
struct SessionOrder {
  private struct Entry: Hashable, Comparable {
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
  private struct Fields {
    var all: [Entry] = []
    var byInterface: [InterfaceName: [Entry]] = [:]

    mutating func add(_ entry: Entry, _ interfaces: Set<InterfaceName>) {
      Fields.insert(entry, &all)
      for interface in interfaces { Fields.insert(entry, &byInterface[interface, default: []]) }
    }

    mutating func remove(_ entry: Entry, _ interfaces: Set<InterfaceName>) {
      Fields.remove(entry, &all)
      for interface in interfaces {
        Fields.remove(entry, &byInterface[interface, default: []])
        if byInterface[interface]?.isEmpty == true { byInterface[interface] = nil }
      }
    }

    private static func place(_ entry: Entry, _ entries: [Entry]) -> Int {
      var low = 0
      var high = entries.count
      while low < high {
        let middle = (low + high) / 2
        if entries[middle] < entry { low = middle + 1 } else { high = middle }
      }
      return low
    }

    private static func insert(_ entry: Entry, _ entries: inout [Entry]) {
      entries.insert(entry, at: place(entry, entries))
    }

    private static func remove(_ entry: Entry, _ entries: inout [Entry]) {
      let place = place(entry, entries)
      if place < entries.count, entries[place] == entry { entries.remove(at: place) }
    }
  }

  private var session = Fields()
  private var windows: [FieldID: Fields] = [:]
  /// The interfaces whose supplier, or what it supplies, may differ since `takeChanges`.
  private var changed: Set<InterfaceName> = []
  /// Whether the order may differ since `takeChanges`.
  private(set) var hasNewOrder = false
  /// The field that `Activate` named.
  private(set) var activated: FieldID?

  /// Interfaces of what is typed or dictated, which goes to what has focus, or nowhere.
  static let withheld: Set<InterfaceName> = [
    InterfaceName(known: "org.focusd.Text"), InterfaceName(known: "org.focusd.Element"),
    InterfaceName(known: "org.focusd.Shell"),
  ]

  /// The interfaces that some field supplies.
  var interfaces: some Sequence<InterfaceName> { session.byInterface.keys.lazy.filter { !Self.withheld.contains($0) } }

  /// The interfaces that fields in `window` supply.
  func interfaces(in window: FieldID?) -> Set<InterfaceName> {
    window.flatMap { windows[$0] }.map { Set($0.byInterface.keys) } ?? []
  }

  /// The first field that has `interface` while `front` is the window in front.
  func supplier(of interface: InterfaceName, front: FieldID?) -> FieldID? {
    guard let everywhere = session.byInterface[interface]?.first, !Self.withheld.contains(interface) else { return nil }
    return (front.flatMap { windows[$0]?.byInterface[interface]?.first } ?? everywhere).field
  }

  /// All fields, in order, while `front` is the window in front.
  func order(front: FieldID?) -> [FieldID] {
    guard let front, let nearer = windows[front]?.all.map(\.field) else { return session.all.map(\.field) }
    let those = Set(nearer)
    return nearer + session.all.lazy.map(\.field).filter { !those.contains($0) }
  }

  /// Whether there are such fields in `window`.
  func hasFields(in window: FieldID?) -> Bool { window.map { windows[$0] != nil } ?? false }

  mutating func orderIsPublished() { hasNewOrder = false }

  /// Whether there are no such fields.
  var isEmpty: Bool { session.all.isEmpty }

  /// Adds `field`, which is in `window`; `keepsOrder` if it was removed from the same place before.
  mutating func add(_ field: Field, in window: FieldID?, keepsOrder: Bool = false) {
    guard field.scope == .session else { return }
    let (entry, interfaces) = (Entry(field), field.interfaces)
    session.add(entry, interfaces)
    if let window { windows[window, default: Fields()].add(entry, interfaces) }
    if field.activity?.isActivated == true { activated = field.id }
    note(interfaces, newOrder: !keepsOrder)
  }

  /// Removes `field`, as it was added.
  mutating func remove(_ field: Field, from window: FieldID?, keepsOrder: Bool = false) {
    guard field.scope == .session else { return }
    let (entry, interfaces) = (Entry(field), field.interfaces)
    session.remove(entry, interfaces)
    if let window {
      windows[window]?.remove(entry, interfaces)
      if windows[window]?.all.isEmpty == true { windows[window] = nil }
    }
    if activated == field.id { activated = nil }
    note(interfaces, newOrder: !keepsOrder)
  }

  /// Puts `field` where it belongs after `old`, which was it before.
  mutating func replace(_ old: Field, with field: Field, in window: FieldID?) {
    let before = (order(front: nil), order(front: window))
    remove(old, from: window, keepsOrder: true)
    add(field, in: window, keepsOrder: true)
    if before != (order(front: nil), order(front: window)) { hasNewOrder = true }
  }

  /// Notes that fields supply other values than before.
  mutating func note(_ interfaces: Set<InterfaceName>, newOrder: Bool = false) {
    changed.formUnion(interfaces)
    if newOrder { hasNewOrder = true }
  }

  /// Whether anything may differ since `takeChanges`.
  var hasChanges: Bool { hasNewOrder || !changed.isEmpty }

  /// The interfaces whose supplier, or what it supplies, may differ since the last time.
  mutating func takeChanges() -> Set<InterfaceName> {
    defer {
      changed = []
      hasNewOrder = false
    }
    return changed
  }
}

internal import DBusTypes
internal import FocusContract

/// What holds elements, each once.
protocol Gathering {
  associatedtype Element
  init()
  var isEmpty: Bool { get }
  /// Adds `element`, or takes it away; nothing happens if it is so already.
  mutating func set(_ element: Element, isThere: Bool)
}

extension Set: Gathering {
  mutating func set(_ element: Element, isThere: Bool) {
    if isThere { insert(element) } else { remove(element) }
  }
}

extension Dictionary where Value: Gathering {
  /// Adds `element` to the elements of `key`, or takes it away; nothing that is empty is kept.
  mutating func set(_ element: Value.Element, of key: Key, isThere: Bool) {
    if isThere { return self[key, default: Value()].set(element, isThere: true) }
    guard let place = index(forKey: key) else { return }
    values[place].set(element, isThere: false)
    if values[place].isEmpty { remove(at: place) }
  }
}

/// A field among others: the lowest rank comes first, then the lowest moment.
struct RankedField: Comparable {
  var rank: UInt64 = 0
  let moment: UInt64
  let field: FieldID

  static func < (left: RankedField, right: RankedField) -> Bool {
    (left.rank, left.moment, left.field.text) < (right.rank, right.moment, right.field.text)
  }
}

extension Field {
  /// The field among others in the order of their registrations.
  var byRegistration: RankedField { RankedField(moment: registration, field: id) }
}

/// Which fields have each name in each place, in order: resolution does not depend on how many there are.
struct FieldIndex<Place: Hashable, Name: Hashable>: Equatable {
  private var places: [Place: [Name: SortedList<RankedField>]] = [:]

  /// The names that fields have in `place`.
  func names(in place: Place) -> some Collection<Name> { (places[place] ?? [:]).keys }

  /// The fields that have `name` in `place`; nil for none.
  func all(_ name: Name, in place: Place) -> SortedList<RankedField>? { places[place]?[name] }

  /// The last of these.
  func last(_ name: Name, in place: Place) -> FieldID? { places[place]?[name]?.last?.field }

  /// Adds `field` to them, or takes it away.
  mutating func set(_ field: RankedField, _ name: Name, in place: Place, isThere: Bool) {
    places[place, default: [:]].set(field, of: name, isThere: isThere)
    if !isThere, places[place]?.isEmpty == true { places[place] = nil }
  }
}

/// An interface in a scene.
struct SceneInterface: Hashable {
  let scene: FieldID
  let interface: InterfaceName
}

/// What the fields of each scene have that are not scoped to themselves, oldest first.
struct SceneNames: Equatable {
  /// Their keys that are not nil, by interface: what is asked of one does not depend on how much others have.
  private(set) var keys = FieldIndex<SceneInterface, Key>()
  /// Their commands.
  private(set) var commands = FieldIndex<SceneInterface, Key>()
  /// The interfaces of both.
  var interfaces = FieldIndex<FieldID, InterfaceName>()
  /// The interfaces that their objects declare, of which there may be nothing but signals.
  var declared = FieldIndex<FieldID, InterfaceName>()
  /// How many keys and commands they have, nil ones included.
  private(set) var counts: [FieldID: Int] = [:]

  /// The newest field of `scene` that publishes `key`.
  func holder(of key: Key, in scene: FieldID) -> FieldID? {
    keys.last(key, in: SceneInterface(scene: scene, interface: key.interface))
  }

  /// The newest field of `scene` that has the command `key`.
  func holder(ofCommand key: Key, in scene: FieldID) -> FieldID? {
    commands.last(key, in: SceneInterface(scene: scene, interface: key.interface))
  }

  mutating func count(_ more: Int, in scene: FieldID) {
    let count = counts[scene, default: 0] + more
    counts[scene] = count == 0 ? nil : count
  }

  /// Notes that `field` publishes `key` from now on, or no more.
  mutating func set(_ key: Key, of field: RankedField, in scene: FieldID, isThere: Bool) {
    keys.set(field, key, in: SceneInterface(scene: scene, interface: key.interface), isThere: isThere)
  }

  /// Adds what `field` has, or takes it away as it was added.
  mutating func set(_ field: Field, in scene: FieldID, isThere: Bool) {
    let ranked = field.byRegistration
    for key in field.bindings.keys { set(key, of: ranked, in: scene, isThere: isThere) }
    for key in field.commands.keys {
      commands.set(ranked, key, in: SceneInterface(scene: scene, interface: key.interface), isThere: isThere)
    }
    for interface in field.interfaceCounts.interfaces { interfaces.set(ranked, interface, in: scene, isThere: isThere) }
    for interface in field.object?.interfaces ?? [] { declared.set(ranked, interface, in: scene, isThere: isThere) }
    count(isThere ? field.keyCount : -field.keyCount, in: scene)
  }
}

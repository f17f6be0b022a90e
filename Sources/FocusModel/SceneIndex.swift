internal import DBusTypes
internal import FocusContract

/// For each scene, which fields have each key, or interface, with the scope of the scene, oldest first.
///
/// It makes resolution independent of how many fields a scene has.
struct SceneIndex<Name: Hashable & Sendable>: Equatable, Sendable {
  /// The fields that have one name, by their registrations; those that are gone leave gaps, but not at the end.
  private struct Publishers: Equatable, Sendable {
    private struct Publisher: Equatable, Sendable {
      let registration: UInt64
      var field: FieldID?
    }

    private var all: [Publisher] = []
    private var gaps = 0

    var newest: FieldID? { all.last?.field }
    var isEmpty: Bool { all.isEmpty }

    private func place(_ registration: UInt64) -> Int {
      guard let last = all.last, last.registration >= registration else { return all.count }
      return all.partitioningIndex { $0.registration >= registration }
    }

    mutating func add(_ field: FieldID, _ registration: UInt64) {
      let place = place(registration)
      if place < all.count, all[place].registration == registration {
        if all[place].field == nil { gaps -= 1 }
        all[place].field = field
      } else {
        all.insert(Publisher(registration: registration, field: field), at: place)
      }
    }

    mutating func remove(_ registration: UInt64) {
      let place = place(registration)
      guard place < all.count, all[place].registration == registration, all[place].field != nil else { return }
      all[place].field = nil
      gaps += 1
      while let last = all.last, last.field == nil {
        all.removeLast()
        gaps -= 1
      }
      guard gaps * 2 > all.count else { return }
      all.removeAll { $0.field == nil }
      gaps = 0
    }

    static func == (left: Publishers, right: Publishers) -> Bool {
      left.all.filter { $0.field != nil } == right.all.filter { $0.field != nil }
    }
  }

  private var scenes: [FieldID: [Name: Publishers]] = [:]

  /// What scene-scoped fields of `scene` have.
  func names(in scene: FieldID) -> some Collection<Name> { (scenes[scene] ?? [:]).keys }

  /// The newest scene-scoped field of `scene` that has `name`, or nil.
  func newest(_ name: Name, in scene: FieldID) -> FieldID? { scenes[scene]?[name]?.newest }

  mutating func add(_ name: Name, of field: FieldID, _ registration: UInt64, in scene: FieldID) {
    scenes[scene, default: [:]][name, default: Publishers()].add(field, registration)
  }

  mutating func remove(_ name: Name, of registration: UInt64, in scene: FieldID) {
    guard scenes[scene]?[name] != nil else { return }
    scenes[scene]?[name]?.remove(registration)
    if scenes[scene]?[name]?.isEmpty == true { scenes[scene]?[name] = nil }
    if scenes[scene]?.isEmpty == true { scenes[scene] = nil }
  }
}

/// What the scene-scoped fields of each scene have.
struct SceneNames: Equatable, Sendable {
  /// Their keys that are not nil.
  var keys = SceneIndex<Key>()
  /// Their commands.
  var commands = SceneIndex<Key>()
  /// The interfaces of both.
  var interfaces = SceneIndex<InterfaceName>()
  /// The interfaces that their objects declare, of which there may be nothing but signals.
  var declared = SceneIndex<InterfaceName>()
  /// How many keys and commands they have, nil ones included.
  private(set) var counts: [FieldID: Int] = [:]

  mutating func count(_ more: Int, in scene: FieldID) {
    let count = counts[scene, default: 0] + more
    counts[scene] = count == 0 ? nil : count
  }

  /// Adds what `field` has, which is not scoped to itself.
  mutating func add(_ field: Field, in scene: FieldID) {
    let (id, registration) = (field.id, field.registration)
    for key in field.bindings.keys { keys.add(key, of: id, registration, in: scene) }
    for key in (field.object?.commands ?? [:]).keys { commands.add(key, of: id, registration, in: scene) }
    for interface in field.interfaceCounts.interfaces { interfaces.add(interface, of: id, registration, in: scene) }
    for interface in field.object?.interfaces ?? [] { declared.add(interface, of: id, registration, in: scene) }
    count(field.keyCount, in: scene)
  }

  /// Removes what `field` has, as it was added.
  mutating func remove(_ field: Field, from scene: FieldID) {
    let registration = field.registration
    for key in field.bindings.keys { keys.remove(key, of: registration, in: scene) }
    for key in (field.object?.commands ?? [:]).keys { commands.remove(key, of: registration, in: scene) }
    for interface in field.interfaceCounts.interfaces { interfaces.remove(interface, of: registration, in: scene) }
    for interface in field.object?.interfaces ?? [] { declared.remove(interface, of: registration, in: scene) }
    count(-field.keyCount, in: scene)
  }
}

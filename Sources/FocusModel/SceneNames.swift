internal import DBusTypes
internal import FocusContract

/// What the fields of each scene have that are not scoped to themselves, oldest first.
struct SceneNames: Equatable {
  /// Their keys that are not nil.
  var keys = FieldIndex<FieldID, Key>()
  /// Their commands.
  var commands = FieldIndex<FieldID, Key>()
  /// The interfaces of both.
  var interfaces = FieldIndex<FieldID, InterfaceName>()
  /// The interfaces that their objects declare, of which there may be nothing but signals.
  var declared = FieldIndex<FieldID, InterfaceName>()
  /// How many keys and commands they have, nil ones included.
  private(set) var counts: [FieldID: Int] = [:]

  mutating func count(_ more: Int, in scene: FieldID) {
    let count = counts[scene, default: 0] + more
    counts[scene] = count == 0 ? nil : count
  }

  /// Adds what `field` has, or takes it away as it was added.
  mutating func set(_ field: Field, in scene: FieldID, isThere: Bool) {
    let ranked = field.byRegistration
    for key in field.bindings.keys { keys.set(ranked, key, in: scene, isThere: isThere) }
    for key in field.commands.keys { commands.set(ranked, key, in: scene, isThere: isThere) }
    for interface in field.interfaceCounts.interfaces { interfaces.set(ranked, interface, in: scene, isThere: isThere) }
    for interface in field.object?.interfaces ?? [] { declared.set(ranked, interface, in: scene, isThere: isThere) }
    count(isThere ? field.keyCount : -field.keyCount, in: scene)
  }
}

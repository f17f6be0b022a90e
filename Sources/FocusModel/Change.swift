public import DBusTypes
public import FocusContract

/// The objects that show bindings.
public enum Place: Hashable, Sendable {
  /// The mirror of what has focus.
  case focused
  /// One field.
  case field(FieldID)
}

/// What an operation changed in what everyone is shown; values of sensitive fields are never among it.
public enum Change: Hashable, Sendable {
  /// A field was registered.
  case fieldAdded(FieldID)
  /// A field is gone, with the interfaces of its keys.
  case fieldRemoved(FieldID, interfaces: [InterfaceName])
  /// A field outlived its owner.
  case ownerChanged(FieldID)
  /// A field moved up, since its parent is gone.
  case parentChanged(FieldID)
  /// A session-scoped field became active, or stopped being so.
  case activeChanged(FieldID)
  /// A window has other connections' scenes than before.
  case adoptedChanged(FieldID)
  /// The session-scoped fields have another order.
  case sessionFieldsChanged
  /// A field belongs to another process, as far as is known.
  case processChanged(FieldID)
  /// A field gained or lost focus.
  case focusedChanged(FieldID)
  /// The focused field, the focus path or the history changed.
  case focusChanged(focusedField: Bool, focusPath: Bool, history: Bool)
  /// An object has keys of these interfaces and had none before.
  case interfacesAdded(Place, [InterfaceName])
  /// An object has no keys of these interfaces any more.
  case interfacesRemoved(Place, [InterfaceName])
  /// Keys of one interface have new values, or none any more.
  case valuesChanged(Place, InterfaceName, changed: [NamedValue], invalidated: [MemberName])
  /// An object has other keys than before; or other commands, or other ones are enabled.
  case membersChanged(Place, keys: Bool, commands: Bool)
}

/// What everyone is shown at one place.
struct Shown: Hashable {
  var values: [Key: MarshalledValue] = [:]
  /// The keys that can only be written.
  var writeOnly: Set<Key> = []
  var commands: [Key: Bool] = [:]

  /// Adds what `other` shows of other interfaces.
  mutating func merge(_ other: Shown) {
    values.merge(other.values) { $1 }
    writeOnly.formUnion(other.writeOnly)
    commands.merge(other.commands) { $1 }
  }

  var interfaces: Set<InterfaceName> {
    Set(values.keys.lazy.map(\.interface)).union(writeOnly.lazy.map(\.interface))
      .union(commands.keys.lazy.map(\.interface))
  }

  mutating func add(_ key: Key, _ binding: FieldBinding) {
    if binding.isWriteOnly { writeOnly.insert(key) } else { values[key] = binding.value }
  }
}

/// A member and its value.
public struct NamedValue: Hashable, Sendable {
  /// The member's name.
  public var name: MemberName
  /// The value.
  public var value: MarshalledValue
}

extension Change {
  /// What must be said of `place` that showed `old` and shows `new`: interfaces that appear, values by interface,
  /// interfaces that disappear, keys, commands.
  static func difference(_ place: Place, from old: Shown, to new: Shown) -> [Change] {
    guard old != new else { return [] }
    var changes: [Change] = []
    let before = old.interfaces
    let after = new.interfaces
    let added = after.subtracting(before).sorted()
    if !added.isEmpty { changes.append(.interfacesAdded(place, added)) }
    changes += values(place, from: old.values, to: new.values)
    let removed = before.subtracting(after).sorted()
    if !removed.isEmpty { changes.append(.interfacesRemoved(place, removed)) }
    let keysChanged = old.values.keys != new.values.keys || old.writeOnly != new.writeOnly
    let commandsChanged = old.commands != new.commands
    if keysChanged || commandsChanged {
      changes.append(.membersChanged(place, keys: keysChanged, commands: commandsChanged))
    }
    return changes
  }

  private static func values(_ place: Place, from old: [Key: MarshalledValue], to new: [Key: MarshalledValue])
    -> [Change]
  {
    let changed = new.filter { old[$0.key] != $0.value }
    let invalidated = old.keys.filter { new[$0] == nil }
    let changedByInterface = Dictionary(grouping: changed.keys.sorted(), by: \.interface)
    let invalidatedByInterface = Dictionary(grouping: invalidated.sorted(), by: \.interface)
    return Set(changedByInterface.keys).union(invalidatedByInterface.keys).sorted().map { interface in
      let values = changedByInterface[interface, default: []].compactMap { key in
        changed[key].map { NamedValue(name: key.member, value: $0) }
      }
      return .valuesChanged(
        place, interface, changed: values, invalidated: invalidatedByInterface[interface, default: []].map(\.member))
    }
  }
}

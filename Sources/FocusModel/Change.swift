public import DBusTypes

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
  /// An object has other keys than before.
  case keysChanged(Place)
}

/// A member and its value.
public struct NamedValue: Hashable, Sendable {
  /// The member's name.
  public var name: MemberName
  /// The value.
  public var value: DBusValue
}

extension Change {
  /// What must be said of `place` whose values were `old` and are `new`: interfaces that appear, values by interface,
  /// interfaces that disappear, keys.
  static func difference(_ place: Place, from old: [Key: DBusValue], to new: [Key: DBusValue]) -> [Change] {
    var changed: [Key: DBusValue] = [:]
    for (key, value) in new where old[key] != value { changed[key] = value }
    let invalidated = old.keys.filter { new[$0] == nil }
    guard !changed.isEmpty || !invalidated.isEmpty else { return [] }

    var changes: [Change] = []
    let before = Set(old.keys.lazy.map(\.interface))
    let after = Set(new.keys.lazy.map(\.interface))
    let added = after.subtracting(before).sorted()
    if !added.isEmpty { changes.append(.interfacesAdded(place, added)) }

    let changedByInterface = Dictionary(grouping: changed.keys.sorted(), by: \.interface)
    let invalidatedByInterface = Dictionary(grouping: invalidated.sorted(), by: \.interface)
    for interface in Set(changedByInterface.keys).union(invalidatedByInterface.keys).sorted() {
      let values = changedByInterface[interface, default: []].compactMap { key in
        changed[key].map { NamedValue(name: key.member, value: $0) }
      }
      changes.append(
        .valuesChanged(
          place, interface, changed: values, invalidated: invalidatedByInterface[interface, default: []].map(\.member)))
    }

    let removed = before.subtracting(after).sorted()
    if !removed.isEmpty { changes.append(.interfacesRemoved(place, removed)) }
    if !invalidated.isEmpty || changed.keys.contains(where: { old[$0] == nil }) { changes.append(.keysChanged(place)) }
    return changes
  }
}

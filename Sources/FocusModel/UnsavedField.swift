public import FocusContract

/// A field that may have changed since the last save, or one of its bindings.
public struct UnsavedField: Sendable {
  /// The field's name.
  public let id: FieldID
  /// What may have changed.
  private enum Part {
    /// Everything: the field as it was saved last, and as it is now; nil: not there.
    case whole(saved: Field?, present: Field?)
    /// A stored binding as it was saved last, and as it is now.
    case binding(Key, saved: FieldBinding, present: FieldBinding?)
  }

  private let part: Part

  init(id: FieldID, saved: Field?, present: Field?) { (self.id, part) = (id, .whole(saved: saved, present: present)) }

  init(written place: Before.BindingID, saved: FieldBinding, present: FieldBinding?) {
    (id, part) = (place.field, .binding(place.key, saved: saved, present: present))
  }

  /// The field as it is now; nil: not there, or only a binding may have changed.
  public var now: Field? {
    guard case .whole(_, let present) = part else { return nil }
    return present
  }

  /// Whether nothing of this field was saved: one that was removed and registered again is another.
  public var isNew: Bool {
    guard case .whole(let saved, let present) = part else { return false }
    return saved?.registration != present?.registration
  }

  /// Whether anything but the bindings differs from what was saved.
  public var hasChanged: Bool {
    guard case .whole(let saved, let present) = part else { return false }
    guard let saved, let present, !isNew else { return saved != nil || present != nil }
    return saved.owner != present.owner || saved.savedParent != present.savedParent
      || saved.window != present.window || saved.lastFocused != present.lastFocused
      || saved.activity != present.activity || saved.savedObject != present.savedObject
  }

  /// The stored bindings that differ from what was saved; nil: there no more.
  public var changedBindings: [(key: Key, binding: FieldBinding?)] {
    switch part {
    case .binding(let key, let old, let present):
      guard let present, !Self.isSame(present, as: old) else { return [] }
      return [(key, present)]
    case .whole(let saved, let present):
      let old = isNew ? [:] : saved?.bindings ?? [:]
      let new = present?.bindings ?? [:]
      var changed: [(key: Key, binding: FieldBinding?)] = []
      for (key, binding) in new where !binding.isBound && !Self.isSame(binding, as: old[key]) {
        changed.append((key, binding))
      }
      for (key, binding) in old where !binding.isBound && new[key]?.isBound != false { changed.append((key, nil)) }
      return changed
    }
  }

  private static func isSame(_ binding: FieldBinding, as old: FieldBinding?) -> Bool {
    old.map { !$0.isBound && $0.revision == binding.revision && $0.isReadOnly == binding.isReadOnly } ?? false
  }
}

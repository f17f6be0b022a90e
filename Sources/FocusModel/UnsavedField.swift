public import FocusContract

/// A field that may have changed since the last save, or one of its bindings.
public struct UnsavedField: Sendable {
  /// What may have changed, as it was saved last and as it is now.
  enum Part {
    /// Everything; nil: not there.
    indirect case whole(saved: Field?, now: Field?)
    /// A stored binding.
    case binding(Key, saved: FieldBinding, now: FieldBinding?)
  }

  /// The field's name.
  public let id: FieldID
  let part: Part

  /// The field as it is now; nil: not there, or only a binding may have changed.
  public var now: Field? { if case .whole(_, let now) = part { now } else { nil } }

  /// Whether nothing of this field was saved: one that was removed and registered again is another.
  public var isNew: Bool {
    guard case .whole(let saved, let now) = part else { return false }
    return saved?.registration != now?.registration
  }

  /// Whether anything but the bindings differs from what was saved.
  public var hasChanged: Bool {
    guard case .whole(let saved, let now) = part else { return false }
    guard let saved, let now, !isNew else { return saved != nil || now != nil }
    return saved.owner != now.owner || saved.savedParent != now.savedParent || saved.window != now.window
      || saved.lastFocused != now.lastFocused || saved.activity != now.activity || saved.savedObject != now.savedObject
  }

  /// The stored bindings that differ from what was saved; nil: there no more.
  public var changedBindings: [(key: Key, binding: FieldBinding?)] {
    switch part {
    case .binding(let key, let old, let now):
      guard let now, !Self.isSame(now, as: old) else { return [] }
      return [(key, now)]
    case .whole(let saved, let now):
      let old = isNew ? [:] : saved?.bindings ?? [:]
      let new = now?.bindings ?? [:]
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

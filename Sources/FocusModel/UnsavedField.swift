public import FocusContract

/// A field that may have changed since the last save, or one of its bindings.
public struct UnsavedField: Sendable {
  /// The field's name.
  public let id: FieldID
  /// What may have changed.
  private enum Part {
    /// Everything; the field as it was saved last, nil: not there.
    case whole(saved: Field?)
    /// A stored binding as it was saved last.
    case binding(Key, saved: FieldBinding)
  }

  private let part: Part
  private let present: Field?

  init(id: FieldID, saved: Field?, present: Field?) {
    (self.id, part, self.present) = (id, .whole(saved: saved), present)
  }

  init(written place: Before.BindingID, saved: FieldBinding, present: Field?) {
    (id, part, self.present) = (place.field, .binding(place.key, saved: saved), present)
  }

  /// The field as it is now; nil: not there.
  public var now: SavedField? { present.map { SavedField($0) } }

  /// Whether nothing of this field was saved: one that was removed and registered again is another.
  public var isNew: Bool {
    guard case .whole(let saved) = part else { return false }
    return saved?.registration != present?.registration
  }

  /// Whether anything but the bindings differs from what was saved.
  public var hasChanged: Bool {
    guard case .whole(let saved) = part else { return false }
    guard let saved, let present, !isNew else { return saved != nil || present != nil }
    return saved.owner != present.owner || saved.savedParent != present.savedParent
      || saved.window != present.window || saved.lastFocused != present.lastFocused
      || saved.activity != present.activity
      || SavedField.SavedObject(of: saved) != SavedField.SavedObject(of: present)
  }

  /// The stored bindings that differ from what was saved; nil: there no more.
  public var changedBindings: [(key: Key, binding: SavedField.SavedBinding?)] {
    switch part {
    case .binding(let key, let old):
      guard let binding = present?.bindings[key], !Self.isSame(binding, as: old) else { return [] }
      return [(key, SavedField.SavedBinding(binding))]
    case .whole(let saved):
      let old = isNew ? [:] : saved?.bindings ?? [:]
      let new = present?.bindings ?? [:]
      var changed: [(key: Key, binding: SavedField.SavedBinding?)] = []
      for (key, binding) in new where !binding.isBound && !Self.isSame(binding, as: old[key]) {
        changed.append((key, SavedField.SavedBinding(binding)))
      }
      for (key, binding) in old where !binding.isBound && new[key]?.isBound != false { changed.append((key, nil)) }
      return changed
    }
  }

  private static func isSame(_ binding: FieldBinding, as old: FieldBinding?) -> Bool {
    old.map { !$0.isBound && $0.revision == binding.revision && $0.isReadOnly == binding.isReadOnly } ?? false
  }
}

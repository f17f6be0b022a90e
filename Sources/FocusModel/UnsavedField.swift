public import FocusContract

/// A field that may have changed since the last save, without a copy of what has not.
public struct UnsavedField: Sendable {
  /// The field's name.
  public let id: FieldID
  /// The field as it was saved last; nil: not there.
  let saved: Field?
  private let present: Field?

  init(id: FieldID, saved: Field?, present: Field?) {
    self.id = id
    self.saved = saved
    self.present = present
  }

  /// The field as it is now; nil: not there.
  public var now: SavedField? { present.map { SavedField($0) } }

  /// Whether nothing of this field was saved: one that was removed and registered again is another.
  public var isNew: Bool { saved?.registration != present?.registration }

  /// Whether anything but the bindings differs from what was saved.
  public var hasChanged: Bool {
    guard let saved, let present, !isNew else { return saved != nil || present != nil }
    return saved.owner != present.owner || saved.parent != present.parent || saved.isAdopted != present.isAdopted
      || saved.window != present.window || saved.memory != present.memory || saved.activity != present.activity
      || SavedField.SavedObject(of: saved) != SavedField.SavedObject(of: present)
  }

  /// The stored bindings that differ from what was saved; nil: there no more.
  public var changedBindings: [(key: Key, binding: SavedField.SavedBinding?)] {
    let old = isNew ? [:] : saved?.bindings ?? [:]
    let new = present?.bindings ?? [:]
    var changed: [(key: Key, binding: SavedField.SavedBinding?)] = []
    for (key, binding) in new where !binding.isBound {
      if let old = old[key], !old.isBound, old.revision == binding.revision, old.isReadOnly == binding.isReadOnly {
        continue
      }
      changed.append((key, SavedField.SavedBinding(binding)))
    }
    for (key, binding) in old where !binding.isBound && new[key]?.isBound != false { changed.append((key, nil)) }
    return changed
  }
}

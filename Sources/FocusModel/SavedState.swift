internal import DBusTypes
public import FocusContract

/// What outlives the daemon beside the fields.
public struct SavedState: Hashable, Sendable {
  /// The field that holds focus, or nil.
  public var focusedField: FieldID?
  /// The fields that held focus before, newest first.
  public var history: [FieldID] = []
  /// The window in front, or nil.
  public var front: FieldID?
  /// A number that no binding's revision has passed.
  public var revision: UInt64 = 0

  /// Creates the state of a model without fields.
  public init() {}
}

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

extension FocusModel {
  /// The fields that may have changed since the last save.
  public var unsavedFields: [UnsavedField] {
    let changed = changed
    var all = changed.fields.map { UnsavedField(id: $0, part: .whole(saved: $1, now: fields[$0])) }
    for (place, binding) in changed.bindings {
      let now = fields[place.field]?.bindings[place.key]
      all.append(UnsavedField(id: place.field, part: .binding(place.key, saved: binding, now: now)))
    }
    return all
  }

  /// When other fields were focused of which that has changed since the last save.
  public var unsavedMemories: [(id: FieldID, lastFocused: UInt64)] {
    changed.moments.keys.compactMap { id in fields[id].map { (id, $0.lastFocused) } }
  }

  /// Every field, as if none had been saved.
  public var allFieldsUnsaved: [UnsavedField] { fields.map { UnsavedField(id: $0, part: .whole(saved: nil, now: $1)) } }

  /// Whether the turn has changed anything that is saved.
  public var hasTurnChanges: Bool { !turnStart.before.isEmpty || hasMovedFocus }

  /// Whether anything may have changed since the last save.
  public var hasUnsavedChanges: Bool { !unsaved.isEmpty || hasTurnChanges }

  private var hasMovedFocus: Bool {
    focus.field != turnStart.focus.field || focus.history != turnStart.focus.history
      || focus.front != turnStart.focus.front
  }

  /// What there is, as changes of what a model without fields shows.
  public var everything: [Change] {
    var changes = fields.values.sorted { $0.registration < $1.registration }.map { Change.fieldAdded($0.id) }
    if focusedField != nil || !history.isEmpty {
      changes.append(
        .focusChanged(focusedField: focusedField != nil, focusPath: !focusPath.isEmpty, history: !history.isEmpty))
    }
    let shown = published.members.values.joined().map { ShownDifference(key: $0, before: .none, after: $1) }
    Change.tell(of: .focused, shown, &changes) { _, _ in (before: false, after: true) }
    if !table.session.isEmpty { changes.append(.sessionFieldsChanged) }
    return changes
  }

  /// The fields whose owners' objects were saved and are not bound again yet.
  public var fieldsAwaitingObjects: [Field] { fields.values.filter(\.isAwaitingObject) }
}

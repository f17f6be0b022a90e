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
  /// The field's name.
  public let id: FieldID
  /// The field as it is now; nil: not there, or only a binding may have changed.
  public let now: Field?
  /// Whether bindings are saved of which none stays: one that was removed and registered again is another field.
  public let losesBindings: Bool
  /// Whether anything but the bindings differs from what was saved.
  public let hasChanged: Bool
  /// The stored bindings that differ from what was saved; nil: there no more.
  public let changedBindings: [(key: Key, binding: FieldBinding?)]

  /// A field that was saved as `saved`, and is `now`; nil: not there.
  init(_ id: FieldID, saved: Field?, now: Field?) {
    (self.id, self.now) = (id, now)
    let isNew = saved?.registration != now?.registration
    losesBindings = isNew && saved?.bindings.values.contains { !$0.isBound } == true
    guard let now else {
      (hasChanged, changedBindings) = (saved != nil, [])
      return
    }
    guard let saved, !isNew else {
      (hasChanged, changedBindings) = (true, now.bindings.compactMap { $1.isBound ? nil : ($0, $1) })
      return
    }
    hasChanged =
      saved.owner != now.owner || saved.savedParent != now.savedParent || saved.window != now.window
      || saved.lastFocused != now.lastFocused || saved.activity != now.activity || saved.savedObject != now.savedObject
    var changed: [(key: Key, binding: FieldBinding?)] = []
    for (key, binding) in now.bindings where !binding.isBound && !Self.isSame(binding, as: saved.bindings[key]) {
      changed.append((key, binding))
    }
    for (key, binding) in saved.bindings where !binding.isBound && now.bindings[key]?.isBound != false {
      changed.append((key, nil))
    }
    changedBindings = changed
  }

  /// A field of which the stored binding `key` was saved as `saved`, and is `now`.
  init(_ id: FieldID, _ key: Key, saved: FieldBinding, now: FieldBinding?) {
    (self.id, self.now, losesBindings, hasChanged) = (id, nil, false, false)
    changedBindings = now.flatMap { Self.isSame($0, as: saved) ? nil : [(key, $0)] } ?? []
  }

  private static func isSame(_ binding: FieldBinding, as old: FieldBinding?) -> Bool {
    old.map { !$0.isBound && $0.revision == binding.revision && $0.isReadOnly == binding.isReadOnly } ?? false
  }
}

extension FocusModel {
  /// The fields that may have changed since the last save.
  public var unsavedFields: [UnsavedField] {
    let changed = changed
    var all = changed.fields.map { UnsavedField($0, saved: $1, now: fields[$0]) }
    for (place, binding) in changed.bindings {
      let now = fields[place.field]?.bindings[place.key]
      all.append(UnsavedField(place.field, place.key, saved: binding, now: now))
    }
    return all
  }

  /// When other fields were focused of which that has changed since the last save.
  public var unsavedMemories: [(id: FieldID, lastFocused: UInt64)] {
    changed.moments.keys.compactMap { id in fields[id].map { (id, $0.lastFocused) } }
  }

  /// Every field, as if none had been saved.
  public var allFieldsUnsaved: [UnsavedField] { fields.map { UnsavedField($0, saved: nil, now: $1) } }

  /// Whether the turn has changed anything that is saved.
  public var hasTurnChanges: Bool { !turnStart.before.isEmpty || hasMovedFocus }

  /// Whether anything may have changed since the last save.
  public var hasUnsavedChanges: Bool { !unsaved.isEmpty || hasTurnChanges }

  private var hasMovedFocus: Bool {
    focus.field != turnStart.focus.field || focus.history != turnStart.focus.history
      || focus.front != turnStart.focus.front
  }

  /// The changes that lead from a model without fields to this one, as far as others can observe them.
  public var everything: [Change] {
    var changes = fields.values.sorted { $0.registration < $1.registration }.map { Change.fieldAdded($0.id) }
    if focusedField != nil || !history.isEmpty {
      changes.append(
        .focusChanged(focusedField: focusedField != nil, focusPath: !focusPath.isEmpty, history: !history.isEmpty))
    }
    let shown = published.members.values.joined().map { ShownDifference(key: $0, before: .none, after: $1) }
    Change.tell(of: .focused, shown.byInterface, &changes) { _, _ in (before: false, after: true) }
    if !table.session.isEmpty { changes.append(.sessionFieldsChanged) }
    return changes
  }

  /// The fields whose owners' objects were saved and are not bound again yet.
  public var fieldsAwaitingObjects: [Field] { fields.values.filter(\.isAwaitingObject) }
}

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
  public var allFieldsUnsaved: [UnsavedField] {
    fields.map { UnsavedField(id: $0, part: .whole(saved: nil, now: $1)) }
  }

  /// Whether the turn has changed anything that is saved.
  public var hasTurnChanges: Bool {
    !turnStart.before.isEmpty || hasMovedFocus
  }

  /// Whether anything may have changed since the last save.
  public var hasUnsavedChanges: Bool {
    !unsaved.isEmpty || hasTurnChanges
  }

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

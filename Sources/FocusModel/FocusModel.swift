internal import DBusTypes
public import FocusContract

/// The rules of focus: which fields there are, which of them holds focus, and what each key resolves to.
///
/// Every operation either throws and has changed nothing, or returns what it changed in what everyone is shown, in order.
/// Moves of focus, and what owners tell of their objects, are published with the operation that follows them, or when
/// `settle` is called: a blur with the focus that follows it is one change.
///
/// It is an object because a value would be copied, all its parts retained, for each question to it. Its state is changed in
/// this file alone: fields by an `Operation`, or by `amend` for what is published later.
public final class FocusModel {
  /// The fields, and what follows from them.
  private(set) var table = FieldTable()
  /// What has focus.
  private(set) var focus = Focus()
  /// What everyone has been shown so far.
  private(set) var published = Published()
  /// What fields showed before changes that have not been published yet.
  private var unpublished: [FieldID: Shown] = [:]
  /// What was there when the turn began.
  private(set) var turnStart = TurnStart()
  /// The fields that have changed since the last save, as they were then; nil: not there.
  private(set) var unsaved: [FieldID: Field?] = [:]
  /// The number of the last change of any binding.
  public private(set) var revision: UInt64 = 0
  /// The number of the last registration.
  private(set) var lastRegistration: UInt64 = 0
  /// The processes of connections, as far as they are known; no part of a turn.
  private(set) var processes: [BusName: UInt32] = [:]
  /// The ids that registrations under way are to have.
  private(set) var reserved: Set<FieldID> = []

  /// What everyone has been shown of focus.
  struct Published {
    var focus = Focus()
    var shown = Shown()
  }

  /// Creates a model without fields.
  public init() {}

  func nextRevision() -> UInt64 {
    revision += 1
    return revision
  }

  func nextRegistration() -> UInt64 {
    lastRegistration += 1
    return lastRegistration
  }

  /// Keeps `id` for a field that is yet to be registered.
  /// - Throws: `ModelError.fieldExists`.
  public func reserve(_ id: FieldID) throws(ModelError) {
    guard fields[id] == nil, reserved.insert(id).inserted else { throw .fieldExists(id) }
  }

  /// Takes over from `other`, whose place this model takes, what is kept for registrations, and the processes.
  public func takeOver(from other: FocusModel) { (reserved, processes) = (other.reserved, other.processes) }

  /// - Returns: whether it was another.
  @discardableResult
  func setProcess(_ process: UInt32?, of connection: BusName) -> Bool {
    guard processes[connection] != process else { return false }
    processes[connection] = process
    return true
  }

  /// Undoes `reserve`.
  public func release(_ id: FieldID) { reserved.remove(id) }

  /// Runs one operation, whose checks have passed.
  ///
  /// What was changed before and is not published yet comes first; what else follows from the operation comes last.
  /// - Returns: all of it, in order.
  func operate(_ body: (inout Operation) -> Void) -> [Change] {
    var operation = Operation(on: self, after: settle())
    body(&operation)
    return operation.end()
  }

  /// Changes the field `id` by what its owner sends; `settle` publishes it, so that a flood of changes is published once a
  /// turn.
  ///
  /// Only what `isSaved` can be taken back; what `renews` the field's object stays then too.
  func amend(_ id: FieldID, isSaved: Bool = false, renews: Bool = false, _ body: (inout FieldTable) -> Void) {
    guard let field = table.fields[id] else { return }
    if isSaved { touch(field) }
    if unpublished[id] == nil { unpublished[id] = field.shown }
    turnStart.keep(shownBy: field)
    body(&table)
    guard let field = table.fields[id] else { return }
    if renews { turnStart.keep(objectOf: field) }
    turnStart.keep(boundBindingsOf: field)
  }

  /// Moves focus to `id`, or to nothing; `settle` publishes that.
  func moveFocus(to id: FieldID?) {
    focus.move(to: id, path: table.path(from: id))
  }

  /// Publishes what has not been published yet: moves of focus, and new values of bound bindings.
  public func settle() -> [Change] { settle(focusedMayDiffer: false) }

  private func settle(focusedMayDiffer: Bool) -> [Change] {
    var changes = published.focus == focus ? [] : focus.changes(from: published.focus, fields)
    let pathChanged = published.focus.path != focus.path
    published.focus = focus
    let hasAmendments = !unpublished.isEmpty
    if hasAmendments { changes += publishAmendments() }
    if pathChanged || focusedMayDiffer || hasAmendments { changes += publishFocusedValues() }
    return changes
  }

  private func publishAmendments() -> [Change] {
    let amended = unpublished.sorted { $0.key < $1.key }
    unpublished = [:]
    return amended.flatMap { id, before in
      fields[id].map { Change.difference(.field(id), from: before, to: $0.shown) } ?? []
    }
  }

  private func publishFocusedValues() -> [Change] {
    let shown = shownByFocused
    let changes = Change.difference(.focused, from: published.shown, to: shown)
    if !changes.isEmpty { published.shown = shown }
    return changes
  }

  /// Remembers `field` as it is, before it is changed the first time.
  private func touch(_ field: Field) {
    turnStart.touch(field.id, field)
    if unsaved[field.id] == nil { unsaved.updateValue(field, forKey: field.id) }
  }

  private func touch(_ id: FieldID) {
    if let field = table.fields[id] { return touch(field) }
    turnStart.touch(id, nil)
    if unsaved[id] == nil { unsaved.updateValue(nil, forKey: id) }
  }

  /// Ends a turn: what it has changed stays, whether it is saved or not.
  public func endTurn() { turnStart.begin(focus, published) }

  /// Forgets what was changed since the last save, which has succeeded.
  public func saved() {
    if !unsaved.isEmpty { unsaved.removeAll(keepingCapacity: true) }
  }

  /// Takes back what the turn has changed, since it cannot be saved; only revisions stay used.
  ///
  /// New values of bound objects stay: they are never saved, so a failed save does not undo them.
  public func rollBack() {
    table = FieldTable(turnStart.restored(fields))
    focus = turnStart.focus
    published = turnStart.published
    unpublished = turnStart.shown.filter { fields[$0.key] != nil }
    turnStart.begin(focus, published)
  }

  /// Makes this the model of the saved state, which no client has seen.
  func load(_ fields: [FieldID: Field], _ state: SavedState) {
    table = FieldTable(fields)
    revision = state.revision
    for field in fields.values {
      lastRegistration = max(lastRegistration, field.registration)
      for binding in field.bindings.values { revision = max(revision, binding.revision) }
    }
    let focused = state.focusedField.flatMap { fields[$0]?.id }
    focus = Focus(
      field: focused, path: table.path(from: focused),
      history: state.history.filter { fields[$0] != nil && $0 != focused })
    _ = settle(focusedMayDiffer: true)
    endTurn()
  }
}

extension FocusModel {
  /// One operation on fields, which the model has settled before: it collects what the operation changes.
  struct Operation {
    private let model: FocusModel
    private var changes: [Change]
    private var focusedMayDiffer = false
    private var hasRemoved = false

    fileprivate init(on model: FocusModel, after changes: [Change]) {
      self.model = model
      self.changes = changes
    }

    fileprivate consuming func end() -> [Change] {
      guard focusedMayDiffer || hasRemoved else { return changes }
      return changes + model.settle(focusedMayDiffer: true)
    }

    /// Adds `field` to its parent's children.
    mutating func insert(_ field: Field) {
      model.touch(field.id)
      if let parent = field.parent { model.touch(parent) }
      model.table.insert(field)
      changes.append(.fieldAdded(field.id))
      note(field.id)
    }

    /// Removes fields in one step: nothing that lies between is published.
    mutating func remove(_ ids: [FieldID]) {
      var moved: Set<FieldID> = []
      for id in ids {
        guard let field = model.table.fields[id] else { continue }
        model.touch(field)
        if let parent = field.parent { model.touch(parent) }
        for child in field.children { model.touch(child) }
        model.table.remove(id)
        model.unpublished[id] = nil
        model.focus.leave(id, for: field.parent)
        moved.formUnion(field.children)
        changes.append(.fieldRemoved(id, interfaces: field.shown.interfaces.sorted()))
        hasRemoved = true
      }
      changes += moved.filter { model.fields[$0] != nil }.sorted().map { .parentChanged($0) }
      if hasRemoved { model.focus.path = model.table.path(from: model.focus.field) }
    }

    /// Leaves the field `id` without its owner.
    mutating func disown(_ id: FieldID) {
      let hadProcess = model.table.fields[id].map { model.process(of: $0) != 0 } ?? false
      model.touch(id)
      model.table.disown(id)
      changes.append(.ownerChanged(id))
      if hadProcess { changes.append(.processChanged(id)) }
    }

    /// Changes what the field `id` shows, in any way.
    mutating func edit(_ id: FieldID, _ body: (inout FieldTable) -> Void) {
      guard let before = model.table.fields[id] else { return }
      model.touch(before)
      body(&model.table)
      guard let after = model.table.fields[id] else { return }
      changes += Change.difference(.field(id), from: before.shown, to: after.shown)
      note(id)
    }

    /// Sets the binding that `field` has of `key`, whose value is another; with less effort than `edit` takes.
    mutating func write(_ binding: FieldBinding, for key: Key, in field: Field) {
      model.touch(field)
      model.table.set(binding, for: key, in: field.id)
      guard !field.isSensitive else { return }
      let changed = [NamedValue(name: key.member, value: binding.value)]
      changes.append(.valuesChanged(.field(field.id), key.interface, changed: changed, invalidated: []))
      guard model.resolve(key) == field.id else { return }
      model.published.shown.values[key] = binding.value
      changes.append(.valuesChanged(.focused, key.interface, changed: changed, invalidated: []))
    }

    /// Notes that the field `id` shows something else, and so may the focused values.
    private mutating func note(_ id: FieldID) {
      guard let field = model.fields[id], let scene = model.focusPath.last else { return }
      guard model.focusPath.contains(id) || (field.scope == .scene && model.table.scene(of: id) == scene) else {
        return
      }
      focusedMayDiffer = true
    }
  }
}

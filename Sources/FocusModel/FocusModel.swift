public import DBusTypes
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
  /// What everyone has been shown at `focused` of session-scoped fields, by interface.
  ///
  /// It may be large, so a turn remembers what it changes of it instead of all.
  private(set) var publishedSession: [InterfaceName: Shown] = [:]
  /// What fields showed before changes that have not been published yet.
  private var unpublished: [FieldID: Shown] = [:]
  /// What was there when the turn began.
  private(set) var turnStart = TurnStart()
  /// The fields that have changed since the last save.
  private(set) var unsaved = Before()
  /// The fields that owners have focused, or not any more, since the last save.
  private(set) var unsavedMemory: Set<FieldID> = []
  /// The number of the last change of any binding.
  public private(set) var revision: UInt64 = 0
  /// The number of the last registration.
  private(set) var lastRegistration: UInt64 = 0
  /// The processes of connections, as far as they are known; no part of a turn.
  private(set) var processes: [BusName: UInt32] = [:]
  /// The ids that registrations under way are to have.
  private(set) var reserved: Set<FieldID> = []
  /// The connection that owns the name of the window bridge, or nil.
  public internal(set) var windowBridge: BusName?
  /// The number of the last event that others are compared with: what was focused, adopted or active when.
  private(set) var lastMoment: UInt64 = 0
  /// The parents of fields that have moved since that was published last, before they did.
  var unpublishedParents: [FieldID: FieldID?] = [:]
  /// Whether fields were active before that changed, since it was published last.
  var unpublishedActivity: [FieldID: Bool] = [:]

  /// Creates a model without fields.
  public init() {}

  func nextRevision() -> UInt64 {
    revision += 1
    return revision
  }

  func nextMoment() -> UInt64 {
    lastMoment += 1
    return lastMoment
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
    // An object that is new to the field has no values before `update`.
    if !isSaved, !renews { updateActivity(of: id) }
    guard let field = table.fields[id] else { return }
    if renews { turnStart.keep(objectOf: field) }
    turnStart.keep(boundBindingsOf: field)
  }

  /// Changes what focus follows from; `refocus` comes after it.
  func arrange(_ body: (inout Focus, inout FieldTable) -> Void) { body(&focus, &table) }

  /// Finds what has focus, as follows from the window in front and from what owners focused when; `settle` publishes it.
  func refocus() {
    if let id = focus.outside, table.fields[id] == nil || table.window(of: id) != nil { focus.outside = nil }
    focus.move(to: focus.outside ?? focus.front.map { table.memory.newest(in: .window($0)) ?? $0 }, in: table)
  }

  /// Publishes what has not been published yet: moves of focus, and new values of bound bindings.
  public func settle() -> [Change] { settle(focusedMayDiffer: false) }

  private func settle(focusedMayDiffer: Bool) -> [Change] {
    var changes = unpublishedParents.isEmpty ? [] : publishParents()
    changes += published.focus == focus ? [] : focus.changes(from: published.focus, fields)
    let pathChanged = published.focus.path != focus.path
    if published.focus != focus {
      turnStart.keep(published)
      published.focus = focus
    }
    let hasAmendments = !unpublished.isEmpty
    if hasAmendments { changes += publishAmendments() }
    let hasNewOrder = table.session.hasNewOrder
    let session = table.session.hasChanges ? table.takeSessionChanges() : []
    let nearMayDiffer = pathChanged || focusedMayDiffer || hasAmendments
    if nearMayDiffer || !session.isEmpty { changes += publishFocusedValues(session, nearMayDiffer: nearMayDiffer) }
    if !unpublishedActivity.isEmpty { changes += publishActivity() }
    if hasNewOrder { changes.append(.sessionFieldsChanged) }
    return changes
  }

  private func publishAmendments() -> [Change] {
    let amended = unpublished.sorted { $0.key < $1.key }
    unpublished = [:]
    return amended.flatMap { id, before in
      fields[id].map { Change.difference(.field(id), from: before, to: $0.shown) } ?? []
    }
  }

  /// Publishes what `focused` shows; `session` are the interfaces of which session-scoped fields may show something else.
  private func publishFocusedValues(_ session: Set<InterfaceName>, nearMayDiffer: Bool) -> [Change] {
    turnStart.keep(published)
    let near = nearMayDiffer ? shownNear : published.shown
    var (before, after) = nearMayDiffer ? (published.shown, near) : (Shown(), Shown())
    if table.session.isEmpty, publishedSession.isEmpty {
      published.nearInterfaces = nil
    } else {
      let known = published.nearInterfaces
      let interfaces = nearMayDiffer ? nearInterfaces : known ?? nearInterfaces
      let differing = known.map { interfaces.symmetricDifference($0) } ?? interfaces.union(table.session.interfaces)
      for interface in differing.union(session) {
        let old = publishedSession[interface]
        let new = interfaces.contains(interface) ? nil : shownBySession(interface)
        if let old { before.merge(old) }
        if let new { after.merge(new) }
        turnStart.keep(old, publishedOf: interface)
        publishedSession[interface] = new
      }
      published.nearInterfaces = interfaces
    }
    published.shown = near
    return Change.difference(.focused, from: before, to: after)
  }

  /// Remembers `field` as it is, before it is changed the first time.
  func touch(_ field: Field) {
    turnStart.touch(field.id, field)
    unsaved.keep(field.id, field)
  }

  /// As `touch`, before a change of who has focused the field.
  func touchMemory(of field: Field) {
    turnStart.touch(field.id, field)
    unsavedMemory.insert(field.id)
  }

  func touch(_ id: FieldID) {
    if let field = table.fields[id] { return touch(field) }
    turnStart.touch(id, nil)
    unsaved.keep(id, nil)
  }

  /// Remembers the stored binding at `place` as it is, before it is written the first time.
  private func touch(_ binding: FieldBinding, at place: Before.Place) {
    turnStart.touch(binding, at: place)
    unsaved.keep(binding, at: place)
  }

  /// Ends a turn: what it has changed stays, whether it is saved or not.
  public func endTurn() { turnStart.begin(focus) }

  /// Forgets what was changed since the last save, which has succeeded.
  public func saved() {
    unsaved.removeAll()
    if !unsavedMemory.isEmpty { unsavedMemory.removeAll(keepingCapacity: true) }
  }

  /// Takes back what the turn has changed, since it cannot be saved; only revisions stay used.
  ///
  /// New values of bound objects stay: they are never saved, so a failed save does not undo them.
  public func rollBack() {
    table = FieldTable(turnStart.before.restored(fields))
    focus = turnStart.focus
    published = turnStart.restored(published)
    for (interface, shown) in turnStart.session { publishedSession[interface] = shown }
    unpublished = turnStart.shown.filter { fields[$0.key] != nil }
    unpublishedParents = [:]
    unpublishedActivity = [:]
    table.orderIsPublished()
    // What objects' owners have sent stays, and with it who is active.
    for id in turnStart.shown.keys.sorted() { updateActivity(of: id) }
    turnStart.begin(focus)
  }

  /// Makes this the model of the saved state, which no client has seen.
  func load(_ fields: [FieldID: Field], _ state: SavedState) {
    table = FieldTable(fields)
    revision = state.revision
    for field in fields.values {
      lastRegistration = max(lastRegistration, field.registration)
      lastMoment = max(lastMoment, field.lastMoment)
      for binding in field.bindings.values { revision = max(revision, binding.revision) }
    }
    focus = Focus(
      field: state.focusedField.flatMap { fields[$0]?.id }, history: state.history.filter { fields[$0] != nil })
    focus.front = state.front.flatMap { fields[$0]?.window == nil ? nil : $0 }
    moveHome(Array(table.scenes.keys))
    // What has focus is the window in front, in that, or in none.
    focus.outside = focus.field == focus.front ? nil : focus.field
    refocus()
    unpublishedParents = [:]
    _ = settle(focusedMayDiffer: true)
    saved()
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
      guard focusedMayDiffer || hasRemoved || model.table.session.hasChanges else { return changes }
      return changes + model.settle(focusedMayDiffer: focusedMayDiffer || hasRemoved)
    }

    /// Adds `field` to its parent's children.
    mutating func insert(_ field: Field) {
      model.touch(field.id)
      if let parent = field.parent { model.touch(parent) }
      model.table.insert(field)
      model.updateActivity(of: field.id)
      changes.append(.fieldAdded(field.id))
      note(field.id)
    }

    /// Removes fields in one step: nothing that lies between is published.
    mutating func remove(_ ids: [FieldID]) {
      moveOut(of: ids)
      for id in ids {
        guard let field = model.table.fields[id] else { continue }
        model.touch(field)
        if let parent = field.parent { model.touch(parent) }
        for child in field.children { model.noteMove(of: child) }
        model.forgetFocus(of: field)
        model.table.remove(id)
        model.unpublished[id] = nil
        if model.focus.outside == id { model.focus.outside = field.parent }
        if model.focus.front == id { model.focus.front = nil }
        changes.append(.fieldRemoved(id, interfaces: field.shown.interfaces.sorted()))
        hasRemoved = true
      }
      if hasRemoved { model.refocus() }
    }

    /// Moves what remains out of the fields `ids`, which go, in one step for each.
    private func moveOut(of ids: [FieldID]) {
      let gone = Set(ids)
      for id in ids where model.table.fields[id]?.window != nil {
        model.touch(id)
        model.table.setAdopted([:], by: id)
      }
      for id in ids {
        let remaining = (model.table.fields[id]?.children ?? []).filter { !gone.contains($0) }.sorted()
        guard !remaining.isEmpty else { continue }
        var parent = model.table.fields[id]?.parent
        while let ancestor = parent, gone.contains(ancestor) { parent = model.table.fields[ancestor]?.parent }
        for child in remaining {
          let home = parent == nil ? model.table.home(of: model.fields[child]?.connection) : nil
          model.relocate(child, to: parent ?? home, isAdopted: home != nil)
        }
      }
    }

    /// Takes the connection `owner`, which has left, from the window `id`.
    mutating func dropAdopted(_ owner: BusName, from id: FieldID) {
      model.touch(id)
      model.table.dropAdopted(owner, by: id)
      changes.append(.adoptedChanged(id))
    }

    /// Lets the window `id` adopt the scenes of these connections, and only them.
    mutating func adopt(_ adopted: [BusName: UInt64], into id: FieldID) {
      guard let old = model.fields[id]?.window?.adopted else { return }
      model.touch(id)
      model.table.setAdopted(adopted, by: id)
      changes.append(.adoptedChanged(id))
      model.moveHome(Set(old.keys).union(adopted.keys).sorted())
      model.refocus()
      focusedMayDiffer = true
    }

    /// Leaves the field `id` without its owner.
    mutating func disown(_ id: FieldID) {
      guard let field = model.fields[id] else { return }
      let hadProcess = model.process(of: field) != 0
      if field.isAdopted { model.noteMove(of: id) } else { model.touch(field) }
      model.table.disown(id)
      changes.append(.ownerChanged(id))
      if hadProcess { changes.append(.processChanged(id)) }
    }

    /// Gives what `owner`, who is not on the bus any more, has focused to the owners of these fields.
    mutating func passOnMemory(of owner: BusName) {
      for id in (model.table.memory.fields[owner] ?? []).sorted() {
        guard let field = model.fields[id], let moment = field.memory[owner] else { continue }
        model.touchMemory(of: field)
        model.table.forget(id, by: owner)
        model.table.remember(id, by: field.owner, at: moment)
      }
      model.refocus()
      focusedMayDiffer = true
    }

    /// Changes what the field `id` shows, in any way.
    mutating func edit(_ id: FieldID, _ body: (inout FieldTable) -> Void) {
      guard let before = model.table.fields[id] else { return }
      model.touch(before)
      body(&model.table)
      model.updateActivity(of: id)
      guard let after = model.table.fields[id] else { return }
      changes += Change.difference(.field(id), from: before.shown, to: after.shown)
      note(id)
    }

    /// Sets the stored binding at `place`, whose value differs from that of `old`; with less effort than `edit` takes.
    mutating func write(_ binding: FieldBinding, at place: Before.Place, of old: FieldBinding, isShown: Bool) {
      let (id, key) = (place.field, place.key)
      model.touch(old, at: place)
      model.table.set(binding, for: key, in: id)
      model.updateActivity(of: id)
      guard isShown else { return }
      let changed = [NamedValue(name: key.member, value: binding.value)]
      changes.append(.valuesChanged(.field(id), key.interface, changed: changed, invalidated: []))
      guard model.resolveNear(key) == id else { return }
      model.turnStart.keep(model.published.shown.values[key], publishedOf: key)
      model.published.shown.values[key] = binding.value
      changes.append(.valuesChanged(.focused, key.interface, changed: changed, invalidated: []))
    }

    /// Notes that the field `id` shows something else, and so may the focused values.
    private mutating func note(_ id: FieldID) {
      guard let field = model.fields[id], !model.focusPath.isEmpty else { return }
      focusedMayDiffer =
        focusedMayDiffer || model.focusPath.contains(id)
        || (field.scope != .field && model.nearScenes.contains(model.table.scene(of: id)))
    }
  }
}

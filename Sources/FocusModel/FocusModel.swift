public import DBusTypes
public import FocusContract

/// The rules of focus: which fields there are, which of them holds focus, and what each key resolves to.
///
/// Every operation either throws and has changed nothing, or is done at once; what everyone must be told of it collects until
/// `settle` is called, so that what came and went before is never told: a blur with the focus that follows it is one change.
/// Changes of values by several clients are told one by one if `settle` is called where `hasWrites(byOthersThan:)` says so.
///
/// It is an object because a value would be copied, all its parts retained, for each question to it. Each change of
/// its fields notes what it was before, for those who were told of it, for the turn and for the save.
public final class FocusModel {
  /// The fields, and what follows from them.
  private(set) var table = FieldTable()
  /// What has focus.
  private(set) var focus = Focus()
  /// What everyone has been shown so far.
  private(set) var published = Published()
  /// What was there when the turn began.
  private(set) var turnStart = TurnStart()
  /// The fields that earlier turns have changed since the last save.
  private(set) var unsaved = Before()
  /// The fields that are gone since `takeRemoved`.
  private var removed: [FieldID] = []
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
  /// How many names have been resolved to find out what `focused` shows.
  var resolutions = 0

  /// Creates a model without fields.
  public init() {}

  func nextRevision() -> UInt64 { revision.next() }
  func nextMoment() -> UInt64 { lastMoment.next() }

  /// Keeps `id` for a field that is yet to be registered.
  /// - Throws: `ModelError.fieldExists`.
  public func reserve(_ id: FieldID) throws(ModelError) {
    guard fields[id] == nil, reserved.insert(id).inserted else { throw .fieldExists(id) }
  }

  /// Undoes `reserve`.
  public func release(_ id: FieldID) { reserved.remove(id) }

  /// Takes over from `other`, whose place this model takes, what is kept for registrations, and the processes.
  public func takeOver(from other: FocusModel) { (reserved, processes) = (other.reserved, other.processes) }

  /// Takes note of the process of `connection`, which is told if its fields are shown; nil: it has left the bus.
  public func found(_ process: UInt32?, of connection: BusName, isShown: Bool = true) {
    guard processes[connection] != process else { return }
    processes[connection] = process
    guard isShown else { return }
    for id in fields(at: connection) where fields[id]?.claimedProcess == nil { table.untold.noteProcess(of: id) }
  }

  /// The fields that are gone since the last time, whether anyone was told of them or not.
  public func takeRemoved() -> [FieldID] {
    guard !removed.isEmpty else { return [] }
    defer { removed = [] }
    return removed
  }

  /// Whether somebody but `client` has changed values that are not published yet.
  public func hasWrites(byOthersThan client: BusName?) -> Bool { table.untold.writer.map { $0 != client } ?? false }

  /// Publishes what has changed and was not published yet.
  public func settle() -> [Change] {
    guard !table.untold.isEmpty || published.focus != focus || table.session.hasChanges else { return [] }
    let hasNewOrder = table.session.hasNewOrder
    var changes: [Change] = []
    var values: [Change] = []
    table.untold.tell(of: fields, &changes, values: &values)
    focus.tell(since: published.focus, &changes) { fields[$0] != nil && !table.untold.isNew($0) }
    changes += values
    publishFocused(&changes)
    turnStart.keep(processesOf: table.untold.processes)
    table.untold.removeAll()
    if hasNewOrder { changes.append(.sessionFieldsChanged) }
    return changes
  }

  /// Publishes at `focused` what follows from where focus is, and adds to `changes` what everyone must be told of that.
  private func publishFocused(_ changes: inout [Change]) {
    let session = table.session.takeChanges()
    let nearby = nearby
    var names = namesMoved(nearby.scenes)
    if names.isEmpty { names = table.untold.names } else { names.formUnion(table.untold.names) }
    if published.focus != focus || published.scenes != nearby.scenes {
      turnStart.keep(published.focus, published.scenes)
      (published.focus, published.scenes) = (focus, nearby.scenes)
      table.toldPath = Set(focus.path)
    }
    guard !names.isEmpty || !session.isEmpty else { return }
    let suppliers = newSuppliers(of: names, session, nearby)
    for (interface, supplier) in suppliers {
      turnStart.keep(published.suppliers[interface], suppliedOf: interface)
      published.suppliers[interface] = supplier.now
    }
    let differences = self.differences(of: suppliers.reduce(into: names) { $0.formUnion($1.value.names) }, nearby)
    Change.tell(of: .focused, differences, &changes) { interface, differences in
      let count = published.members[interface]?.count ?? 0
      return (count != 0, differences.reduce(count) { $0 + $1.growth } != 0)
    }
    turnStart.keep(differences)
    for (interface, names) in differences { published.show(names, of: interface) }
  }

  /// Changes names of the field `id` for `client`.
  func edit(_ id: FieldID, by client: BusName, _ body: (inout FieldTable) -> Void) {
    touch(id)
    body(&table)
    table.untold.writer = client
    updateActivity(of: id)
  }

  /// Sets the stored binding at `place`, whose value differs from that of `old`; with less effort than `edit` takes.
  func write(_ binding: FieldBinding, at place: Before.BindingID, of old: FieldBinding, by client: BusName) {
    turnStart.before.keep(old, at: place)
    table.set(binding, for: place.key, in: place.field)
    table.untold.writer = client
    updateActivity(of: place.field)
  }

  /// Changes the names `keys` of the field `id` by what its owner's object tells, which a roll-back keeps.
  func amend(_ id: FieldID, _ keys: some Sequence<Key>, _ body: (inout FieldTable) -> Void) {
    guard let field = table.fields[id] else { return }
    turnStart.keep(keys, shownBy: field)
    body(&table)
  }

  /// Changes what focus follows from; `refocus` comes after it.
  func arrange(_ body: (inout Focus, inout FieldTable) -> Void) { body(&focus, &table) }

  /// Finds what has focus, as follows from the window in front and from what owners focused when.
  func refocus() {
    if let id = focus.outside, table.fields[id] == nil || table.window(of: id) != nil { focus.outside = nil }
    focus.move(to: focus.outside ?? focus.front.map { table.memory.newest(in: .window($0)) ?? $0 }, in: table)
  }

  /// Adds `field`, whose registration is the last.
  func insert(_ field: Field) {
    lastRegistration = field.registration
    touch(field.id)
    table.insert(field)
    updateActivity(of: field.id)
  }

  /// Removes fields, newest first, each by the rule of its own.
  func remove(_ ids: some Collection<FieldID>) {
    let going = Set(ids)
    var newestFirst: [(id: FieldID, registration: UInt64)] = []
    for id in going {
      guard let field = table.fields[id] else { continue }
      newestFirst.append((id, field.registration))
      guard field.window != nil else { continue }
      touch(id)
      table.set(Window(), of: id)
    }
    newestFirst.sort { $0.registration > $1.registration }
    for (id, _) in newestFirst {
      guard let field = table.fields[id] else { continue }
      if !turnStart.before.keep(id, field) { turnStart.keep(toldBy: field) }
      forgetFocus(of: field)
      moveUp(field.children, from: field, going)
      if focus.outside == id { focus.outside = field.parent }
      if focus.front == id { focus.front = nil }
      table.remove(id)
      removed.append(id)
    }
    refocus()
  }

  /// Moves `children` out of `field`, which goes as `going` do: into the nearest field that stays, but not out of their scene;
  /// those of a scene become scenes.
  private func moveUp(_ children: Set<FieldID>, from field: Field, _ going: Set<FieldID>) {
    guard !children.isEmpty else { return }
    guard let parent = field.parent, !field.isAdopted else {
      for child in children {
        let home = table.home(of: fields[child]?.connection)
        relocate(child, to: home, isAdopted: home != nil)
      }
      return
    }
    var nearest = parent
    while going.contains(nearest), let next = fields[nearest], !next.isAdopted, let above = next.parent {
      nearest = above
    }
    for child in children { relocate(child, to: nearest, isAdopted: false) }
  }

  /// Leaves the field `id` without its owner.
  func disown(_ id: FieldID) {
    guard let field = table.fields[id] else { return }
    touch(id)
    if process(of: field) != 0 { table.untold.noteProcess(of: id) }
    table.disown(id)
  }

  /// Remembers the field `id` as it is, before it is changed the first time.
  func touch(_ id: FieldID) { turnStart.before.keep(id, table.fields[id]) }

  /// As `touch`, before a change of when the field was focused, and of nothing else.
  func touchMemory(of field: Field) { turnStart.before.keep(lastFocused: field.lastFocused, of: field.id) }

  /// What has changed since the last save, as it was then.
  var changed: Before {
    guard !unsaved.isEmpty else { return turnStart.before }
    var changed = unsaved
    changed.merge(turnStart.before)
    return changed
  }

  /// Ends a turn: what it has changed stays, whether it is saved or not.
  public func endTurn() {
    unsaved.merge(turnStart.before)
    turnStart.begin(focus)
  }

  /// Forgets what was changed since the last save, which has succeeded; the turn is to end.
  public func saved() {
    unsaved.removeAll()
    turnStart.before.removeAll()
  }

  /// Takes back what the turn has changed, since it cannot be saved; but for revisions, and values of bound objects, which
  /// are never saved.
  public func rollBack() {
    for id in turnStart.before.fields.keys { fields[id].map { turnStart.keep(toldBy: $0) } }
    table.restore(turnStart.before)
    if focus.front != turnStart.focus.front { table.session.frontChanged(from: focus.front, to: turnStart.focus.front) }
    focus = turnStart.focus
    turnStart.restore(&published)
    table.toldPath = Set(published.focus.path)
    table.untold.takeBack()
    for id in turnStart.processes where fields[id] != nil { table.untold.noteProcess(of: id) }
    for (id, members) in turnStart.shown where fields[id] != nil {
      for (key, member) in members { table.untold.note(key, of: id, told: member) }
    }
    table.session.orderIsPublished()
    let told = turnStart.shown.keys.sorted()
    turnStart.begin(focus)
    // What objects' owners have sent stays, and with it who is active.
    for id in told { updateActivity(of: id) }
  }

  /// Makes this the model of the saved state, which no client has seen.
  func load(_ loaded: consuming [FieldID: Field], _ state: SavedState) {
    revision = state.revision
    for field in loaded.values {
      lastRegistration = max(lastRegistration, field.registration)
      lastMoment = max(lastMoment, field.lastMoment)
      for binding in field.bindings.values { revision = max(revision, binding.revision) }
    }
    table = FieldTable(loaded)
    // What the file has may be damaged.
    var known: Set<FieldID> = []
    let history = state.history.filter { fields[$0] != nil && known.insert($0).inserted }.prefix(Limits.historyLength)
    focus = Focus(field: state.focusedField.flatMap { fields[$0]?.id }, history: Array(history))
    focus.front = state.front.flatMap { fields[$0]?.window == nil ? nil : $0 }
    moveHome(Array(table.scenes.keys))
    // What has focus is the window in front, in that, or in none.
    focus.outside = focus.field == focus.front ? nil : focus.field
    refocus()
    _ = settle()
    saved()
    endTurn()
  }
}

extension UInt64 {
  /// Counts up.
  fileprivate mutating func next() -> UInt64 {
    self += 1
    return self
  }
}

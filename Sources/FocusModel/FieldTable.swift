internal import DBusTypes
internal import FocusContract

/// The fields, and what follows from them: who publishes each key and command, in which scene, what each owner takes up, and
/// what everyone has not been told; nothing else changes a field or an index, so that neither is forgotten for the other.
struct FieldTable {
  /// Every field by its name.
  private(set) var fields: [FieldID: Field] = [:]
  /// What scene-scoped fields have.
  private(set) var names = SceneNames()
  /// What owners have taken up.
  private(set) var allowances = Allowances()
  /// The fields that each connection has registered, or has the objects of.
  private(set) var connections: [BusName: Set<FieldID>] = [:]
  /// The scenes of each connection, but for windows.
  private(set) var scenes: [BusName: Set<FieldID>] = [:]
  /// The windows that have adopted each connection, that of its scenes first: in front last, at first the earliest adopter.
  private(set) var adoptions: [BusName: SortedList<RankedField>] = [:]
  /// Which fields owners focused.
  private(set) var memory = FocusMemory()
  /// The session-scoped fields.
  var session = SessionOrder()
  /// What everyone has not been told.
  var untold = Untold()
  /// The focus path that everyone has been told: of other fields and scenes, `focused` shows nothing.
  var toldPath: Set<FieldID> = []

  /// Creates a table of `fields`, which know their children and have counted their names already.
  init(_ fields: consuming [FieldID: Field] = [:]) {
    self.fields = fields
    for field in self.fields.values { index(field, isThere: true) }
  }
}

/// Where fields are.
extension FieldTable {
  /// Adds `field`, which has no children yet, to its parent's.
  mutating func insert(_ field: Field) {
    var field = field
    field.countInterfaces()
    fields[field.id] = field
    if let parent = field.parent { fields[parent]?.parts.children.insert(field.id) }
    index(field, isThere: true)
    untold.added(field)
  }

  /// Takes the field `id` out, whose children have moved up; a window has adopted nobody any more.
  mutating func remove(_ id: FieldID) {
    guard let place = fields.index(forKey: id) else { return }
    let field = fields.values[place]
    untold.removed(field)
    index(field, isThere: false)
    if let parent = field.parent { fields[parent]?.parts.children.remove(id) }
    fields.remove(at: place)
  }

  /// Moves the field `id`, with what lies below it, out of all or into `parent`, a window that adopts the scene if `isAdopted`.
  mutating func move(_ id: FieldID, to parent: FieldID?, isAdopted: Bool = false) {
    guard let moved = fields[id], moved.parent != parent || moved.isAdopted != isAdopted else { return }
    untold.noteFacts(of: moved)
    let newScene = isAdopted ? id : parent.map { scene(of: $0) } ?? id
    let newRoot = parent.map { root(of: $0) } ?? id
    // What lies below a field that stays in its scene and window is found where it was.
    let below = newScene == scene(of: id) && newRoot == root(of: id) ? [] : descendants(of: id)
    place(below, isThere: false)
    if let before = moved.parent { fields[before]?.parts.children.remove(id) }
    fields[id]?.parts.parent = parent
    fields[id]?.parts.isAdopted = isAdopted
    if let parent { fields[parent]?.parts.children.insert(id) }
    place(below, isThere: true)
  }

  /// Sets what the field `id` is as a window; the scenes that it adopts are for `move`.
  mutating func set(_ window: Window, of id: FieldID) {
    guard let field = fields[id] else { return }
    untold.noteFacts(of: field)
    setAdoptions(field.window, by: id, isThere: false, unlessIn: window)
    fields[id]?.window = window
    setAdoptions(window, by: id, isThere: true, unlessIn: field.window)
  }

  /// Remembers when the field `id` was focused last; 0 forgets it.
  mutating func setFocused(_ id: FieldID, at moment: UInt64) {
    guard let field = fields[id] else { return }
    let group = group(of: id)
    memory.set(field, in: group, isThere: false)
    fields[id]?.parts.lastFocused = moment
    if let field = fields[id] { memory.set(field, in: group, isThere: true) }
  }

  /// Leaves the field `id` without its owner.
  mutating func disown(_ id: FieldID) {
    guard let field = fields[id], field.owner != nil else { return }
    untold.noteFacts(of: field)
    // Without an owner the field is in no window, and its owner's memory is that of all without one.
    if field.isAdopted { move(id, to: nil) }
    let below = field.parent == nil || field.isAdopted ? descendants(of: id) : [id]
    place(below, isThere: false)
    indexOwner(of: field, isThere: false)
    fields[id]?.parts.owner = nil
    fields[id].map { indexOwner(of: $0, isThere: true) }
    place(below, isThere: true)
  }

  /// Makes the fields what they were before.
  mutating func restore(_ before: Before) {
    for (place, binding) in before.bindings { set(binding, for: place.key, in: place.field) }
    for (id, moment) in before.moments { setFocused(id, at: moment) }
    let old = before.fields
    var affected = Set(old.keys)
    for (id, was) in old {
      guard let now = fields[id] else { continue }
      let stays = was.map { ($0.parent, $0.owner) == (now.parent, now.owner) && $0.isAdopted == now.isAdopted } ?? false
      if !stays { affected.formUnion(descendants(of: id)) }
    }
    place(affected, isThere: false)
    for id in old.keys {
      guard let now = fields[id] else { continue }
      indexOwner(of: now, isThere: false)
      if let parent = now.parent { fields[parent]?.parts.children.remove(id) }
    }
    for (id, was) in old {
      let children = fields[id]?.children ?? []
      fields[id] = was
      fields[id]?.parts.children = children
      fields[id]?.countInterfaces()
    }
    for (id, was) in old { was?.parent.map { _ = fields[$0]?.parts.children.insert(id) } }
    for id in old.keys { fields[id].map { indexOwner(of: $0, isThere: true) } }
    place(affected, isThere: true)
  }

  /// Adds what follows from `field`, or takes it away as it was added.
  private mutating func index(_ field: Field, isThere: Bool) {
    indexOwner(of: field, isThere: isThere)
    place(field, isThere: isThere)
  }

  /// Likewise of what depends on whose the field is.
  private mutating func indexOwner(of field: Field, isThere: Bool) {
    allowances.add(isThere ? field.extent : -field.extent, fields: isThere ? 1 : -1, of: field)
    for connection in [field.owner, field.service] {
      if let connection { connections.set(field.id, of: connection, isThere: isThere) }
    }
    setAdoptions(field.window, by: field.id, isThere: isThere)
  }

  private mutating func setAdoptions(_ window: Window?, by id: FieldID, isThere: Bool, unlessIn other: Window? = nil) {
    guard let window else { return }
    let same = other?.lastInFront == window.lastInFront ? other?.adopted : nil
    for (connection, moment) in window.adopted where same?[connection] != moment {
      let ranked = RankedField(rank: ~window.lastInFront, moment: moment, field: id)
      adoptions.set(ranked, of: connection, isThere: isThere)
    }
  }

  /// Likewise of what depends on where fields are.
  private mutating func place(_ ids: some Sequence<FieldID>, isThere: Bool) {
    for id in ids { fields[id].map { place($0, isThere: isThere) } }
  }

  private mutating func place(_ field: Field, isThere: Bool) {
    if field.lastFocused > 0 { memory.set(field, in: group(of: field.id), isThere: isThere) }
    if mayShow(field) { for key in field.names { untold.note(key) } }
    if field.scope != .field { names.set(field, in: scene(of: field.id), isThere: isThere) }
    if field.scope == .session { session.set(field, in: window(of: field.id), isThere: isThere) }
    guard let connection = field.connection, field.window == nil, field.parent == nil || field.isAdopted else { return }
    scenes.set(field.id, of: connection, isThere: isThere)
  }
}

/// What fields have.
extension FieldTable {
  /// Whether the field `id` has a binding of `key`.
  func publishes(_ key: Key, _ id: FieldID) -> Bool { fields[id]?.bindings[key] != nil }

  /// Sets the binding of `key` in the field `id`; nil takes it away.
  mutating func set(_ binding: FieldBinding?, for key: Key, in id: FieldID) {
    guard let place = fields.index(forKey: id) else { return }
    note(key, of: fields.values[place])
    let old =
      if let binding {
        fields.values[place].bindings.updateValue(binding, forKey: key)
      } else {
        fields.values[place].bindings.removeValue(forKey: key)
      }
    allowances.add((binding?.extent ?? .zero) - (old?.extent ?? .zero), of: fields.values[place])
    let isThere = binding != nil
    guard isThere != (old != nil) else { return }
    let isOther = fields.values[place].parts.interfaceCounts.add(isThere ? 1 : -1, to: key.interface)
    let field = fields.values[place]
    guard field.scope != .field else { return }
    let scene = scene(of: id)
    names.set(key, of: field.byRegistration, in: scene, isThere: isThere)
    if (binding ?? old)?.isBound == false { names.count(isThere ? 1 : -1, in: scene) }
    guard isOther else { return }
    names.interfaces.set(field.byRegistration, key.interface, in: scene, isThere: isThere)
    if field.scope == .session { session.set(key.interface, of: field, in: window(of: id), isThere: isThere) }
  }

  /// Puts `object` behind the field `id`, in place of what is there; its values are for `set` to add.
  mutating func bind(_ object: BoundObject, to id: FieldID) {
    guard let old = fields[id] else { return }
    for key in Set(old.commands.keys).union(object.commands.keys) { note(key, of: old) }
    allowances.add(Extent(bytes: object.size - (old.object?.size ?? 0)), of: old)
    fields[id]?.awaited = nil
    fields[id]?.parts.object = object
    fields[id]?.parts.object?.values = [:]
    fields[id]?.countInterfaces()
    guard old.scope != .field, let new = fields[id] else { return }
    names.set(old, in: scene(of: id), isThere: false)
    names.set(new, in: scene(of: id), isThere: true)
    if old.scope == .session { session.replace(old, with: new, in: window(of: id), front: nil) }
  }

  /// Turns the command `key` of the field `id` off or on.
  mutating func enable(_ key: Key, _ isEnabled: Bool, in id: FieldID) {
    guard let place = fields.index(forKey: id) else { return }
    note(key, of: fields.values[place])
    fields.values[place].parts.object?.commands[key]?.isEnabled = isEnabled
    if isEnabled { fields.values[place].awaited?.disabled.remove(key) }
  }

  /// Changes where a session-scoped field stands among the others while `front` is the window in front.
  mutating func setActivity(_ activity: Activity, of id: FieldID, front: FieldID?) {
    guard let field = fields[id], field.activity != activity else { return }
    untold.noteFacts(of: field)
    fields[id]?.parts.activity = activity
    if let changed = fields[id] { session.replace(field, with: changed, in: window(of: id), front: front) }
  }

  private mutating func note(_ key: Key, of field: Field) {
    untold.note(key, of: field)
    if mayShow(field) { untold.note(key) }
  }
}

internal import DBusTypes
internal import FocusContract

/// The fields, and everything that follows from them: who publishes each key and command, in which scene, what each owner
/// takes up, and what of it everyone has not been told.
///
/// Nothing else changes a field or an index, so that neither can be forgotten for the other.
struct FieldTable {
  /// Every field by its name.
  private(set) var fields: [FieldID: Field] = [:]
  /// What scene-scoped fields have.
  private(set) var names = SceneNames()
  /// What owners have taken up.
  private(set) var allowances = Allowances()
  /// The fields of each owner.
  private(set) var owned: [BusName: Set<FieldID>] = [:]
  /// The fields whose objects each connection has for others.
  private(set) var served: [BusName: Set<FieldID>] = [:]
  /// The scenes of each connection, but for windows.
  private(set) var scenes: [BusName: Set<FieldID>] = [:]
  /// Which windows have adopted each connection.
  private(set) var adoptions = Adoptions()
  /// Which fields owners focused.
  private(set) var memory = FocusMemory()
  /// The session-scoped fields.
  private(set) var session = SessionOrder()
  /// What everyone has not been told.
  var untold = Untold()
  /// The focus path that everyone has been told: of other fields and scenes, `focused` shows nothing.
  var toldPath: Set<FieldID> = []

  /// Creates a table without fields.
  init() {}

  /// Creates a table of `fields`, which know their children and have counted their names already.
  init(_ fields: consuming [FieldID: Field]) {
    self.fields = fields
    for field in self.fields.values { index(field) }
  }
}

/// Where fields are.
extension FieldTable {
  /// Adds `field`, which has no children yet, to its parent's.
  mutating func insert(_ field: Field) {
    var field = field
    field.countInterfaces()
    fields[field.id] = field
    if let parent = field.parent { fields[parent]?.children.insert(field.id) }
    index(field)
    untold.added(field)
  }

  /// Takes the field `id` out, whose children have moved up; a window has adopted nobody any more.
  mutating func remove(_ id: FieldID) {
    guard let field = fields[id] else { return }
    untold.removed(field)
    unplace(field)
    unindex(field)
    if let parent = field.parent { fields[parent]?.children.remove(id) }
    fields[id] = nil
  }

  /// Moves the field `id`, with what lies below it, into `parent`, as a scene that this window adopts if `isAdopted`; nil
  /// makes it a scene.
  mutating func move(_ id: FieldID, to parent: FieldID?, isAdopted: Bool = false) {
    guard let moved = fields[id], moved.parent != parent || moved.isAdopted != isAdopted else { return }
    untold.noteFacts(of: moved)
    let newScene = isAdopted ? id : parent.map { scene(of: $0) } ?? id
    let newRoot = parent.map { root(of: $0) } ?? id
    // What lies below a field that stays in its scene and window is found where it was.
    let below = newScene == scene(of: id) && newRoot == root(of: id) ? [] : descendants(of: id)
    for id in below { fields[id].map { unplace($0) } }
    if let before = moved.parent { fields[before]?.children.remove(id) }
    fields[id]?.parent = parent
    fields[id]?.isAdopted = isAdopted
    if let parent { fields[parent]?.children.insert(id) }
    for id in below { fields[id].map { place($0) } }
  }

  /// Sets the connections whose scenes the window `id` adopts, each with the moment of that; the scenes are for `move`.
  mutating func setAdopted(_ adopted: [BusName: UInt64], by id: FieldID) {
    guard let field = fields[id], let old = field.window else { return }
    untold.noteFacts(of: field)
    fields[id]?.window?.adopted = adopted
    for connection in old.adopted.keys where adopted[connection] == nil { adoptions.remove(connection, by: id, fields) }
    for connection in adopted.keys where old.adopted[connection] == nil { adoptions.add(connection, by: id, fields) }
  }

  /// Notes that the window `id` came to the front.
  mutating func cameToFront(_ id: FieldID, at moment: UInt64) {
    fields[id]?.window?.lastInFront = moment
    for connection in (fields[id]?.window?.adopted ?? [:]).keys { adoptions.moveHome(of: connection, to: id) }
  }

  /// Remembers when the field `id` was focused last; 0 forgets it.
  mutating func setFocused(_ id: FieldID, at moment: UInt64) {
    guard let field = fields[id] else { return }
    let group = group(of: id)
    memory.remove(field, from: group)
    fields[id]?.lastFocused = moment
    if let field = fields[id] { memory.add(field, in: group) }
  }

  /// Leaves the field `id` without its owner.
  mutating func disown(_ id: FieldID) {
    guard let field = fields[id], field.owner != nil else { return }
    untold.noteFacts(of: field)
    // Without an owner the field is in no window, and its owner's memory is that of all without one.
    if field.isAdopted { move(id, to: nil) }
    let below = field.parent == nil || field.isAdopted ? descendants(of: id) : [id]
    for id in below { fields[id].map { unplace($0) } }
    unindex(field)
    fields[id]?.owner = nil
    fields[id].map { indexOwner($0) }
    for id in below { fields[id].map { place($0) } }
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
    for id in affected { fields[id].map { unplace($0) } }
    for id in old.keys {
      guard let now = fields[id] else { continue }
      unindex(now)
      if let parent = now.parent { fields[parent]?.children.remove(id) }
    }
    for (id, was) in old {
      let children = fields[id]?.children ?? []
      fields[id] = was
      fields[id]?.children = children
      fields[id]?.countInterfaces()
    }
    for (id, was) in old { was?.parent.map { _ = fields[$0]?.children.insert(id) } }
    for id in old.keys { fields[id].map { indexOwner($0) } }
    for id in affected { fields[id].map { place($0) } }
  }

  private mutating func index(_ field: Field) {
    indexOwner(field)
    place(field)
  }

  /// Adds what depends on whose `field` is.
  private mutating func indexOwner(_ field: Field) {
    allowances.add(field.owner, lingers: field.lingers, fields: 1, field.extent)
    if let owner = field.owner { owned[owner, default: []].insert(field.id) }
    if let service = field.service { served[service, default: []].insert(field.id) }
    for connection in (field.window?.adopted ?? [:]).keys { adoptions.add(connection, by: field.id, fields) }
  }

  /// Removes what depends on whose `field` is.
  private mutating func unindex(_ field: Field) {
    allowances.add(field.owner, lingers: field.lingers, fields: -1, -field.extent)
    if let owner = field.owner { owned.forget(field.id, of: owner) }
    if let service = field.service { served.forget(field.id, of: service) }
    for connection in (field.window?.adopted ?? [:]).keys { adoptions.remove(connection, by: field.id, fields) }
  }

  /// Adds what depends on where `field` is.
  private mutating func place(_ field: Field) {
    if field.lastFocused > 0 { memory.add(field, in: group(of: field.id)) }
    noteNames(of: field)
    if field.scope != .field { names.add(field, in: scene(of: field.id)) }
    if field.scope == .session { session.add(field, in: window(of: field.id)) }
    guard let connection = field.connection, field.window == nil, field.parent == nil || field.isAdopted else { return }
    scenes[connection, default: []].insert(field.id)
  }

  /// Removes what depends on where `field` is.
  private mutating func unplace(_ field: Field) {
    if field.lastFocused > 0 { memory.remove(field, from: group(of: field.id)) }
    noteNames(of: field)
    if field.scope != .field { names.remove(field, from: scene(of: field.id)) }
    if field.scope == .session { session.remove(field, from: window(of: field.id)) }
    guard let connection = field.connection, field.window == nil, field.parent == nil || field.isAdopted else { return }
    scenes.forget(field.id, of: connection)
  }

  private mutating func noteNames(of field: Field) {
    guard mayShow(field) else { return }
    for key in field.names { untold.note(key) }
  }
}

/// What fields have.
extension FieldTable {
  /// Whether the field `id` has a binding of `key`.
  func publishes(_ key: Key, _ id: FieldID) -> Bool { fields[id]?.bindings[key] != nil }

  /// The binding at `place`, or nil.
  func binding(at place: Before.BindingID) -> FieldBinding? { fields[place.field]?.bindings[place.key] }

  /// Sets the binding of `key` in the field `id`, or adds it.
  mutating func set(_ binding: FieldBinding, for key: Key, in id: FieldID) {
    guard let place = fields.index(forKey: id) else { return }
    note(key, of: fields.values[place])
    let old = fields.values[place].bindings.updateValue(binding, forKey: key)
    charge(fields.values[place], binding.extent - (old?.extent ?? .zero))
    guard old == nil else { return }
    let field = fields.values[place]
    if field.scope != .field {
      names.keys.add(key, of: id, field.registration, in: scene(of: id))
      if !binding.isBound { names.count(1, in: scene(of: id)) }
    }
    count(1, of: key.interface, place)
  }

  /// Takes the binding of `key` from the field `id`.
  mutating func removeBinding(of key: Key, in id: FieldID) {
    guard let place = fields.index(forKey: id), fields.values[place].bindings[key] != nil else { return }
    note(key, of: fields.values[place])
    guard let old = fields.values[place].bindings.removeValue(forKey: key) else { return }
    charge(fields.values[place], -old.extent)
    let field = fields.values[place]
    if field.scope != .field {
      names.keys.remove(key, of: field.registration, in: scene(of: id))
      if !old.isBound { names.count(-1, in: scene(of: id)) }
    }
    count(-1, of: key.interface, place)
  }

  /// Puts `object` behind the field `id`, in place of what is there; its values are for `set` to add.
  mutating func bind(_ object: BoundObject, to id: FieldID) {
    guard let old = fields[id] else { return }
    for key in Set((old.object?.commands ?? [:]).keys).union(object.commands.keys) { note(key, of: old) }
    charge(old, Extent(bytes: object.size - (old.object?.size ?? 0)))
    fields[id]?.awaited = nil
    fields[id]?.object = object
    fields[id]?.object?.values = [:]
    fields[id]?.countInterfaces()
    guard old.scope != .field, let new = fields[id] else { return }
    names.remove(old, from: scene(of: id))
    names.add(new, in: scene(of: id))
    guard old.scope == .session else { return }
    for interface in old.interfaceCounts.interfaces { session.remove(interface, from: old, in: window(of: id)) }
    for interface in new.interfaceCounts.interfaces { session.add(interface, to: new, in: window(of: id)) }
  }

  /// Turns the command `key` of the field `id` off or on.
  mutating func enable(_ key: Key, _ isEnabled: Bool, in id: FieldID) {
    guard let place = fields.index(forKey: id) else { return }
    note(key, of: fields.values[place])
    fields.values[place].object?.commands[key]?.isEnabled = isEnabled
  }

  /// Changes where a session-scoped field stands among the others while `front` is the window in front.
  mutating func setActivity(_ activity: Activity, of id: FieldID, front: FieldID?) {
    guard let field = fields[id], field.activity != activity else { return }
    untold.noteFacts(of: field)
    fields[id]?.activity = activity
    if let changed = fields[id] { session.replace(field, with: changed, in: window(of: id), front: front) }
  }

  /// The interfaces whose session-scoped supplier may differ since the last time.
  mutating func takeSessionChanges() -> Set<InterfaceName> { session.takeChanges() }

  /// Notes that another window is in front.
  mutating func frontChanged(from old: FieldID?, to new: FieldID?) { session.frontChanged(from: old, to: new) }

  /// Notes that the order of session-scoped fields is the one that has been published.
  mutating func orderIsPublished() { session.orderIsPublished() }

  private mutating func note(_ key: Key, of field: Field) {
    untold.note(key, of: field)
    if mayShow(field) { untold.note(key) }
  }

  private mutating func charge(_ field: Field, _ more: Extent) {
    allowances.add(field.owner, lingers: field.lingers, fields: 0, more)
  }

  /// Counts a name of `interface` that came to the field at `place`, or went from it.
  private mutating func count(_ more: Int, of interface: InterfaceName, _ place: [FieldID: Field].Index) {
    guard fields.values[place].interfaceCounts.add(more, to: interface) else { return }
    let field = fields.values[place]
    guard field.scope != .field else { return }
    let scene = scene(of: field.id)
    if more > 0 {
      names.interfaces.add(interface, of: field.id, field.registration, in: scene)
      if field.scope == .session { session.add(interface, to: field, in: window(of: field.id)) }
    } else {
      names.interfaces.remove(interface, of: field.registration, in: scene)
      if field.scope == .session { session.remove(interface, from: field, in: window(of: field.id)) }
    }
  }
}

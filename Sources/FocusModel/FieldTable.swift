internal import DBusTypes
internal import FocusContract

/// The fields, and everything that follows from them: who publishes each key and command, in which scene, and what each owner
/// takes up.
///
/// Nothing else changes a field or an index, so that neither can be forgotten for the other.
struct FieldTable {
  /// Every field by its name.
  private(set) var fields: [FieldID: Field] = [:]
  /// The keys of scene-scoped fields.
  private(set) var keys = SceneIndex<Key>()
  /// The commands of scene-scoped fields.
  private(set) var commands = SceneIndex<Key>()
  /// The interfaces of the objects behind scene-scoped fields.
  private(set) var interfaces = SceneIndex<InterfaceName>()
  /// What owners have taken up.
  private(set) var allowances = Allowances()
  /// The fields of each owner.
  private(set) var owned: [BusName: Set<FieldID>] = [:]
  /// The scenes of each connection, but for windows.
  private(set) var scenes: [BusName: Set<FieldID>] = [:]
  /// The windows that have adopted each connection.
  private var adopters: [BusName: Set<FieldID>] = [:]
  /// Which fields owners focused.
  private(set) var memory = FocusMemory()
  /// The session-scoped fields.
  private(set) var session = SessionOrder()
  /// The fields whose objects each connection has for others.
  private(set) var served: [BusName: Set<FieldID>] = [:]

  /// Creates a table without fields.
  init() {}

  /// Creates a table of `fields`, which know their children already.
  init(_ fields: [FieldID: Field]) {
    self.fields = fields
    for field in fields.values { index(field) }
  }

  /// The scene that contains the field `id`; one that a window has adopted stays a scene.
  func scene(of id: FieldID) -> FieldID {
    var scene = id
    while let field = fields[scene], !field.isAdopted, let parent = field.parent { scene = parent }
    return scene
  }

  /// The window that the field `id` is in; nil for none, and for windows.
  func window(of id: FieldID) -> FieldID? {
    let root = root(of: id)
    return root != id && fields[root]?.window != nil ? root : nil
  }

  /// Whether the field `id` contains `other`, at whatever depth.
  func isAncestor(_ id: FieldID, of other: FieldID?) -> Bool {
    var next = other.flatMap { fields[$0]?.parent }
    while let ancestor = next, ancestor != id { next = fields[ancestor]?.parent }
    return next != nil
  }

  /// With which others the field `id` is remembered.
  func group(of id: FieldID) -> FocusMemory.Group {
    let root = root(of: id)
    return fields[root]?.window == nil ? .connection(fields[root]?.connection) : .window(root)
  }

  private func root(of id: FieldID) -> FieldID {
    var root = id
    while let parent = fields[root]?.parent { root = parent }
    return root
  }

  /// The window that the scenes of `connection` are in: of those that adopted it the one that was in front last, at first
  /// the one that adopted it first.
  func home(of connection: BusName?) -> FieldID? {
    guard let connection, let windows = adopters[connection] else { return nil }
    let candidates = windows.compactMap { id in
      fields[id]?.window.map { (id: id, front: $0.lastInFront, adopted: $0.adopted[connection] ?? .max) }
    }
    return candidates.max { ($0.front, $1.adopted) < ($1.front, $0.adopted) }?.id
  }

  /// `id`, then its ancestors up to the scene.
  func path(from id: FieldID?) -> [FieldID] {
    var path: [FieldID] = []
    var next = id
    while let id = next, let field = fields[id] {
      path.append(id)
      next = field.parent
    }
    return path
  }

  /// Adds `field`, which has no children yet, to its parent's.
  mutating func insert(_ field: Field) {
    fields[field.id] = field
    if let parent = field.parent { fields[parent]?.children.insert(field.id) }
    index(field)
  }

  /// Takes the field `id` out; its children, which go as well, move up to its parent.
  ///
  /// A window has no scenes any more.
  mutating func remove(_ id: FieldID) {
    for child in (fields[id]?.children ?? []).sorted() { move(child, to: fields[id]?.parent) }
    guard let field = fields[id] else { return }
    unplace(field)
    allowances.add(field.owner, lingers: field.lingers, fields: -1, -field.extent)
    if let owner = field.owner { FieldTable.forget(id, of: owner, in: &owned) }
    if let service = field.service { FieldTable.forget(id, of: service, in: &served) }
    if let parent = field.parent { fields[parent]?.children.remove(id) }
    fields[id] = nil
  }

  /// Moves the field `id`, with what lies below it, into `parent`, as a scene that this window adopts if `isAdopted`; nil
  /// makes it a scene.
  mutating func move(_ id: FieldID, to parent: FieldID?, isAdopted: Bool = false) {
    guard let moved = fields[id], moved.parent != parent || moved.isAdopted != isAdopted else { return }
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
    for connection in (fields[id]?.window?.adopted ?? [:]).keys {
      FieldTable.forget(id, of: connection, in: &adopters)
    }
    fields[id]?.window?.adopted = adopted
    for connection in adopted.keys { adopters[connection, default: []].insert(id) }
  }

  /// Takes `connection`, which has no scenes, from what the window `id` adopts.
  mutating func dropAdopted(_ connection: BusName, by id: FieldID) {
    fields[id]?.window?.adopted[connection] = nil
    FieldTable.forget(id, of: connection, in: &adopters)
  }

  /// The windows that have adopted `connection`.
  func windows(of connection: BusName) -> Set<FieldID> { adopters[connection] ?? [] }

  /// Notes that the window `id` came to the front.
  mutating func cameToFront(_ id: FieldID, at moment: UInt64) { fields[id]?.window?.lastInFront = moment }

  /// Remembers that `owner` focused the field `id`.
  mutating func remember(_ id: FieldID, by owner: BusName?, at moment: UInt64) {
    guard let field = fields[id], field.memory[owner] ?? 0 < moment else { return }
    forget(id, by: owner)
    fields[id]?.memory[owner] = moment
    memory.add(.init(moment: moment, owner: owner, field: id), in: group(of: id))
  }

  /// Forgets that `owner` focused the field `id`.
  mutating func forget(_ id: FieldID, by owner: BusName?) {
    guard let moment = fields[id]?.memory.removeValue(forKey: owner) else { return }
    memory.remove(.init(moment: moment, owner: owner, field: id), from: group(of: id))
  }

  /// Changes where a session-scoped field stands among the others.
  mutating func setActivity(_ activity: Activity, of id: FieldID) {
    guard let field = fields[id], field.activity != activity else { return }
    fields[id]?.activity = activity
    if let changed = fields[id] { session.replace(field, with: changed, in: window(of: id)) }
  }

  /// The interfaces whose session-scoped supplier, or what it supplies, may differ since the last time.
  mutating func takeSessionChanges() -> Set<InterfaceName> { session.takeChanges() }

  /// Notes that another window is in front.
  mutating func frontChanged(from old: FieldID?, to new: FieldID?) {
    guard session.hasFields(in: old) || session.hasFields(in: new) else { return }
    let interfaces = session.interfaces(in: old).union(session.interfaces(in: new))
    session.note(interfaces, newOrder: session.order(front: old) != session.order(front: new))
  }

  /// Notes that the order of session-scoped fields is the one that has been published.
  mutating func orderIsPublished() { session.orderIsPublished() }

  /// Sets the binding of `key` in the field `id`, or adds it.
  mutating func set(_ binding: FieldBinding, for key: Key, in id: FieldID) {
    guard let place = fields.index(forKey: id) else { return }
    let isNew = fields.values[place].bindings[key] == nil
    let isSession = fields.values[place].scope == .session
    // The index finds the field as it was.
    if isNew, isSession { session.remove(fields.values[place], from: window(of: id), keepsOrder: true) }
    let old = fields.values[place].bindings.updateValue(binding, forKey: key)
    if isSession { session.note([key.interface]) }
    charge(place, binding.extent - (old?.extent ?? .zero))
    guard isNew else { return }
    if isSession { session.add(fields.values[place], in: window(of: id), keepsOrder: true) }
    keys.add(key, of: fields.values[place], in: scene(of: id))
  }

  /// Takes the binding of `key` from the field `id`.
  mutating func removeBinding(of key: Key, in id: FieldID) {
    guard let place = fields.index(forKey: id), fields.values[place].bindings[key] != nil else { return }
    let isSession = fields.values[place].scope == .session
    if isSession { session.remove(fields.values[place], from: window(of: id), keepsOrder: true) }
    guard let old = fields.values[place].bindings.removeValue(forKey: key) else { return }
    if isSession { session.add(fields.values[place], in: window(of: id), keepsOrder: true) }
    charge(place, -old.extent)
    keys.remove(key, of: fields.values[place], in: scene(of: id))
  }

  /// Puts `object` behind the field `id`, in place of what is there; its values are for `set` to add.
  mutating func bind(_ object: BoundObject, to id: FieldID) {
    guard let place = fields.index(forKey: id) else { return }
    let scene = scene(of: id)
    session.remove(fields.values[place], from: window(of: id), keepsOrder: true)
    removeObjectNames(of: fields.values[place], in: scene)
    charge(place, Extent(bytes: object.size - (fields.values[place].object?.size ?? 0)))
    fields.values[place].awaited = nil
    fields.values[place].object = object
    fields.values[place].object?.values = [:]
    addObjectNames(of: fields.values[place], in: scene)
    session.add(fields.values[place], in: window(of: id), keepsOrder: true)
  }

  /// Turns the command `key` of the field `id` off or on.
  mutating func enable(_ key: Key, _ isEnabled: Bool, in id: FieldID) {
    fields[id]?.object?.commands[key]?.isEnabled = isEnabled
    if fields[id]?.scope == .session { session.note([key.interface]) }
  }

  /// Leaves the field `id` without its owner.
  mutating func disown(_ id: FieldID) {
    guard let field = fields[id], let owner = field.owner else { return }
    let extent = field.extent
    allowances.add(owner, lingers: field.lingers, fields: -1, -extent)
    allowances.add(nil, lingers: field.lingers, fields: 1, extent)
    FieldTable.forget(id, of: owner, in: &owned)
    // Without an owner the field is in no window, and its owner's memory is that of all without one.
    if field.isAdopted { move(id, to: nil) }
    let below = field.parent == nil || field.isAdopted ? descendants(of: id) : [id]
    for id in below { fields[id].map { unplace($0) } }
    fields[id]?.owner = nil
    for id in below { fields[id].map { place($0) } }
  }

  /// The field `id` and all below it.
  private func descendants(of id: FieldID) -> [FieldID] {
    var below = [id]
    var next = 0
    while next < below.count {
      below.append(contentsOf: fields[below[next]]?.children ?? [])
      next += 1
    }
    return below
  }

  private mutating func charge(_ place: [FieldID: Field].Index, _ more: Extent) {
    allowances.add(fields.values[place].owner, lingers: fields.values[place].lingers, fields: 0, more)
  }

  private static func forget(_ id: FieldID, of owner: BusName, in fields: inout [BusName: Set<FieldID>]) {
    fields[owner]?.remove(id)
    if fields[owner]?.isEmpty == true { fields[owner] = nil }
  }

  private mutating func index(_ field: Field) {
    place(field)
    for connection in (field.window?.adopted ?? [:]).keys { adopters[connection, default: []].insert(field.id) }
    allowances.add(field.owner, lingers: field.lingers, fields: 1, field.extent)
    if let owner = field.owner { owned[owner, default: []].insert(field.id) }
    if let service = field.service { served[service, default: []].insert(field.id) }
  }

  /// Adds what depends on where `field` is.
  private mutating func place(_ field: Field) {
    addNames(of: field, in: scene(of: field.id))
    session.add(field, in: window(of: field.id))
    if !field.memory.isEmpty { memory.add(field, in: group(of: field.id)) }
    guard let connection = field.connection, field.window == nil, field.parent == nil || field.isAdopted else { return }
    scenes[connection, default: []].insert(field.id)
  }

  /// Removes what depends on where `field` is.
  private mutating func unplace(_ field: Field) {
    removeNames(of: field, in: scene(of: field.id))
    session.remove(field, from: window(of: field.id))
    if !field.memory.isEmpty { memory.remove(field, from: group(of: field.id)) }
    guard let connection = field.connection, field.window == nil, field.parent == nil || field.isAdopted else { return }
    FieldTable.forget(field.id, of: connection, in: &scenes)
  }

  private mutating func addNames(of field: Field, in scene: FieldID) {
    for key in field.bindings.keys { keys.add(key, of: field, in: scene) }
    addObjectNames(of: field, in: scene)
  }

  private mutating func addObjectNames(of field: Field, in scene: FieldID) {
    guard let object = field.object else { return }
    for key in object.commands.keys { commands.add(key, of: field, in: scene) }
    for interface in object.interfaces { interfaces.add(interface, of: field, in: scene) }
  }

  private mutating func removeNames(of field: Field, in scene: FieldID) {
    for key in field.bindings.keys { keys.remove(key, of: field, in: scene) }
    removeObjectNames(of: field, in: scene)
  }

  private mutating func removeObjectNames(of field: Field, in scene: FieldID) {
    for key in field.object?.commands.keys ?? [:].keys { commands.remove(key, of: field, in: scene) }
    for interface in field.object?.interfaces ?? [] { interfaces.remove(interface, of: field, in: scene) }
  }
}

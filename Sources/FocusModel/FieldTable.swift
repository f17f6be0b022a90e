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
  /// The fields whose objects each connection has for others.
  private(set) var served: [BusName: Set<FieldID>] = [:]

  /// Creates a table without fields.
  init() {}

  /// Creates a table of `fields`, which know their children already.
  init(_ fields: [FieldID: Field]) {
    self.fields = fields
    for field in fields.values { index(field) }
  }

  /// The scene that contains the field `id`.
  func scene(of id: FieldID) -> FieldID {
    var scene = id
    while let parent = fields[scene]?.parent { scene = parent }
    return scene
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

  /// Takes the field `id` out; its children move up to its parent.
  mutating func remove(_ id: FieldID) {
    for child in fields[id]?.children ?? [] { move(child, to: fields[id]?.parent) }
    guard let field = fields[id] else { return }
    let scene = scene(of: id)
    removeNames(of: field, in: scene)
    allowances.add(field.owner, lingers: field.lingers, fields: -1, -field.extent)
    if let owner = field.owner { FieldTable.forget(id, of: owner, in: &owned) }
    if let service = field.service { FieldTable.forget(id, of: service, in: &served) }
    if let parent = field.parent { fields[parent]?.children.remove(id) }
    fields[id] = nil
  }

  /// Moves the field `id`, with what lies below it, into `parent`; nil makes it a scene.
  mutating func move(_ id: FieldID, to parent: FieldID?) {
    let old = scene(of: id)
    if let before = fields[id]?.parent { fields[before]?.children.remove(id) }
    fields[id]?.parent = parent
    if let parent { fields[parent]?.children.insert(id) }
    let new = scene(of: id)
    guard new != old else { return }
    var left = [id]
    while let id = left.popLast(), let field = fields[id] {
      left.append(contentsOf: field.children)
      removeNames(of: field, in: old)
      addNames(of: field, in: new)
    }
  }

  /// Sets the binding of `key` in the field `id`, or adds it.
  mutating func set(_ binding: FieldBinding, for key: Key, in id: FieldID) {
    guard let place = fields.index(forKey: id) else { return }
    let old = fields.values[place].bindings.updateValue(binding, forKey: key)
    charge(place, binding.extent - (old?.extent ?? .zero))
    guard old == nil else { return }
    keys.add(key, of: fields.values[place], in: scene(of: id))
  }

  /// Takes the binding of `key` from the field `id`.
  mutating func removeBinding(of key: Key, in id: FieldID) {
    guard let place = fields.index(forKey: id),
      let old = fields.values[place].bindings.removeValue(forKey: key)
    else { return }
    charge(place, -old.extent)
    keys.remove(key, of: fields.values[place], in: scene(of: id))
  }

  /// Puts `object` behind the field `id`, in place of what is there; its values are for `set` to add.
  mutating func bind(_ object: BoundObject, to id: FieldID) {
    guard let place = fields.index(forKey: id) else { return }
    let scene = scene(of: id)
    removeObjectNames(of: fields.values[place], in: scene)
    charge(place, Extent(bytes: object.size - (fields.values[place].object?.size ?? 0)))
    fields.values[place].awaited = nil
    fields.values[place].object = object
    fields.values[place].object?.values = [:]
    addObjectNames(of: fields.values[place], in: scene)
  }

  /// Turns the command `key` of the field `id` off or on.
  mutating func enable(_ key: Key, _ isEnabled: Bool, in id: FieldID) {
    fields[id]?.object?.commands[key]?.isEnabled = isEnabled
  }

  /// Leaves the field `id` without its owner.
  mutating func disown(_ id: FieldID) {
    guard let field = fields[id], let owner = field.owner else { return }
    let extent = field.extent
    allowances.add(owner, lingers: field.lingers, fields: -1, -extent)
    allowances.add(nil, lingers: field.lingers, fields: 1, extent)
    FieldTable.forget(id, of: owner, in: &owned)
    fields[id]?.owner = nil
  }

  private mutating func charge(_ place: [FieldID: Field].Index, _ more: Extent) {
    allowances.add(fields.values[place].owner, lingers: fields.values[place].lingers, fields: 0, more)
  }

  private static func forget(_ id: FieldID, of owner: BusName, in fields: inout [BusName: Set<FieldID>]) {
    fields[owner]?.remove(id)
    if fields[owner]?.isEmpty == true { fields[owner] = nil }
  }

  private mutating func index(_ field: Field) {
    addNames(of: field, in: scene(of: field.id))
    allowances.add(field.owner, lingers: field.lingers, fields: 1, field.extent)
    if let owner = field.owner { owned[owner, default: []].insert(field.id) }
    if let service = field.service { served[service, default: []].insert(field.id) }
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

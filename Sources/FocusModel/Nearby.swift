internal import DBusTypes
internal import FocusContract

/// Where keys are looked for at `focused`: the fields on the focus path, the scenes of that, then session-scoped fields.
struct Nearby {
  private let path: [Field]
  /// The objects of the path's fields, which would be copied out of their boxes for each name.
  private let objects: [(id: FieldID, object: BoundObject)]
  /// The innermost field on the path that has each key, and each command, if many are looked for.
  private var holders: (keys: [Key: FieldID]?, commands: [Key: FieldID]?)
  /// The scene of the focus path, then the window that it is in.
  let scenes: [FieldID]
  private let model: FocusModel
  // They would be copied out of the model for each key.
  private let names: SceneNames
  private let session: SessionOrder

  init(_ model: FocusModel) {
    (self.model, names, session) = (model, model.table.names, model.table.session)
    path = model.focus.path.compactMap { model.fields[$0] }
    objects = path.compactMap { field in field.object.map { (field.id, $0) } }
    scenes = [path.last { $0.isAdopted }, path.last].compactMap { $0?.id }
  }

  /// Prepares to look for `count` keys and commands.
  mutating func expect(_ count: Int) {
    holders.keys = Nearby.holders(count, path.map { ($0.id, $0.bindings.keys) })
    holders.commands = Nearby.holders(count, objects.map { ($0.id, $0.object.commands.keys) })
  }

  /// The first of `levels` that has each name; nil if it is faster to go through them `count` times than through the names.
  private static func holders(_ count: Int, _ levels: [(id: FieldID, names: some Collection<Key>)]) -> [Key: FieldID]? {
    let all = levels.reduce(0) { $0 + $1.names.count }
    guard levels.count > 1, all < count * levels.count else { return nil }
    var holders = [Key: FieldID](minimumCapacity: all)
    for (id, names) in levels.reversed() { for name in names { holders[name] = id } }
    return holders
  }

  /// The innermost field on the path that publishes `key`, else the newest scene-scoped one, else the session-scoped one that
  /// supplies its interface.
  func holder(of key: Key) -> FieldID? {
    if let id = holders.keys.map({ $0[key] }) ?? path.first(where: { $0.bindings[key] != nil })?.id { return id }
    if let id = ofScenes({ names.holder(of: key, in: $0) }) { return id }
    guard let id = supplier(of: key.interface), model.table.publishes(key, id) else { return nil }
    return id
  }

  /// As `holder(of:)`, of the command `key`, enabled or not.
  func holder(ofCommand key: Key) -> FieldID? {
    let id = holders.commands.map { $0[key] } ?? objects.first { $0.object.commands[key] != nil }?.id
    if let id = id ?? ofScenes({ names.holder(ofCommand: key, in: $0) }) { return id }
    guard let id = supplier(of: key.interface), model.fields[id]?.commands[key] != nil else { return nil }
    return id
  }

  /// What is found in the first scene that has it.
  private func ofScenes(_ find: (FieldID) -> FieldID?) -> FieldID? {
    for scene in scenes { if let id = find(scene) { return id } }
    return nil
  }

  private func nearest(_ interface: InterfaceName) -> FieldID? {
    path.first { $0.interfaceCounts[interface] > 0 }?.id ?? ofScenes { names.interfaces.last(interface, in: $0) }
  }

  /// The session-scoped field that supplies `interface`; nil if something nearer has it, or no field does.
  func supplier(of interface: InterfaceName) -> FieldID? {
    session.supplier(of: interface, front: model.focus.front).flatMap { nearest(interface) == nil ? $0 : nil }
  }

  /// The field whose keys `interface` resolves to; without one, the nearest field whose object declares the interface.
  func holder(of interface: InterfaceName) -> FieldID? {
    nearest(interface) ?? session.supplier(of: interface, front: model.focus.front)
      ?? objects.first { $0.object.interfaces.contains(interface) }?.id
      ?? ofScenes { names.declared.last(interface, in: $0) }
  }
}

internal import DBusTypes
internal import FocusContract

/// Where keys are looked for at `focused`: the fields on the focus path, the scenes of that, then session-scoped fields.
struct Nearby {
  /// A field on the path, and its object, which would be copied out of its box for each key.
  private typealias Level = (field: Field, object: BoundObject?)

  private let path: [Level]
  /// The innermost field on the path that publishes each key, if many are looked for.
  private var holders: [Key: FieldID]?
  /// The scene of the focus path, then the window that it is in.
  let scenes: [FieldID]
  private let model: FocusModel
  // They would be copied out of the model for each key.
  private let names: SceneNames
  private let session: SessionOrder

  init(_ model: FocusModel) {
    (self.model, names, session) = (model, model.table.names, model.table.session)
    path = model.focus.path.compactMap { id in model.fields[id].map { ($0, $0.object) } }
    scenes = [path.last { $0.field.isAdopted }, path.last].compactMap { $0?.field.id }
  }

  /// Prepares to look for `count` keys: through all the path's keys once, if that is faster than through the path each time.
  mutating func expect(_ count: Int) {
    let all = path.reduce(0) { $0 + $1.field.bindings.count }
    guard path.count > 1, all < count * path.count else { return }
    var holders = [Key: FieldID](minimumCapacity: all)
    for (field, _) in path.reversed() { for key in field.bindings.keys { holders[key] = field.id } }
    self.holders = holders
  }

  /// The innermost field on the path that publishes `key`, else the newest scene-scoped one, else the session-scoped one that
  /// supplies its interface.
  func holder(of key: Key) -> FieldID? {
    if let id = holders.map({ $0[key] }) ?? path.first(where: { $0.field.bindings[key] != nil })?.field.id { return id }
    for scene in scenes { if let id = names.keys.last(key, in: scene) { return id } }
    guard let id = supplier(of: key.interface), model.table.publishes(key, id) else { return nil }
    return id
  }

  /// As `holder(of:)`, of the command `key`, enabled or not.
  func holder(ofCommand key: Key) -> FieldID? {
    if let id = nearest(key, names.commands, { $0.object?.commands[key] != nil }) { return id }
    guard let id = supplier(of: key.interface), model.fields[id]?.commands[key] != nil else { return nil }
    return id
  }

  /// The innermost field on the path that has `name`, as `has` says, else the newest scene-scoped one, as `index` does.
  private func nearest<Name>(
    _ name: Name, _ index: FieldIndex<FieldID, Name>, _ has: (Level) -> Bool
  ) -> FieldID? {
    for level in path where has(level) { return level.field.id }
    for scene in scenes { if let id = index.last(name, in: scene) { return id } }
    return nil
  }

  private func nearest(_ interface: InterfaceName) -> FieldID? {
    nearest(interface, names.interfaces) { $0.field.interfaceCounts[interface] > 0 }
  }

  /// The first session-scoped field that has `interface`.
  private func first(of interface: InterfaceName) -> FieldID? {
    session.supplier(of: interface, front: model.focus.front)
  }

  /// The session-scoped field that supplies `interface`; nil if something nearer has it, or no field does.
  func supplier(of interface: InterfaceName) -> FieldID? {
    first(of: interface).flatMap { nearest(interface) == nil ? $0 : nil }
  }

  /// The field whose keys `interface` resolves to; without one, the nearest field whose object declares the interface.
  func holder(of interface: InterfaceName) -> FieldID? {
    nearest(interface) ?? first(of: interface)
      ?? nearest(interface, names.declared) { $0.object?.interfaces.contains(interface) == true }
  }
}

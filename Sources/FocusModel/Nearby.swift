internal import DBusTypes
internal import FocusContract

/// Where keys are looked for at `focused`: the fields on the focus path, the scenes of that, then session-scoped fields.
struct Nearby {
  private struct Level {
    let id: FieldID
    let bindings: [Key: FieldBinding]
    let object: BoundObject?
    let interfaces: InterfaceCounts
  }

  private let path: [Level]
  /// The scene of the focus path, then the window that it is in.
  let scenes: [FieldID]
  private let fields: [FieldID: Field]
  private let names: SceneNames
  private let session: SessionOrder
  private let front: FieldID?

  init(_ focus: Focus, _ table: FieldTable) {
    (fields, names, session, front) = (table.fields, table.names, table.session, focus.front)
    var (path, adopted): ([Level], FieldID?) = ([], nil)
    for id in focus.path {
      guard let field = table.fields[id] else { continue }
      path.append(
        Level(id: id, bindings: field.bindings, object: field.object, interfaces: field.interfaceCounts))
      if field.isAdopted { adopted = id }
    }
    self.path = path
    scenes = [adopted, path.last?.id].compactMap { $0 }
  }

  /// The innermost field on the path that publishes `key`, else the newest scene-scoped one, else the session-scoped one that
  /// supplies its interface.
  func holder(of key: Key) -> FieldID? {
    for level in path where level.bindings[key] != nil { return level.id }
    for scene in scenes { if let id = names.keys.newest(key, in: scene) { return id } }
    guard let id = supplier(of: key.interface), fields[id]?.bindings[key] != nil else { return nil }
    return id
  }

  /// As `holder(of:)`, of the command `key`, enabled or not.
  func holder(ofCommand key: Key) -> FieldID? {
    for level in path where level.object?.commands[key] != nil { return level.id }
    for scene in scenes { if let id = names.commands.newest(key, in: scene) { return id } }
    guard let id = supplier(of: key.interface), fields[id]?.object?.commands[key] != nil else { return nil }
    return id
  }

  /// The innermost field on the path that has `interface`, else the newest scene-scoped one.
  private func nearest(_ interface: InterfaceName) -> FieldID? {
    for level in path where level.interfaces[interface] > 0 { return level.id }
    for scene in scenes { if let id = names.interfaces.newest(interface, in: scene) { return id } }
    return nil
  }

  /// The session-scoped field that supplies `interface`; nil if something nearer has it, or no field does.
  func supplier(of interface: InterfaceName) -> FieldID? {
    guard let id = session.supplier(of: interface, front: front), nearest(interface) == nil else { return nil }
    return id
  }

  /// The field whose keys `interface` resolves to; without one, the nearest field whose object declares the interface.
  func holder(of interface: InterfaceName) -> FieldID? {
    if let id = nearest(interface) ?? session.supplier(of: interface, front: front) { return id }
    for level in path where level.object?.interfaces.contains(interface) == true { return level.id }
    for scene in scenes { if let id = names.declared.newest(interface, in: scene) { return id } }
    return nil
  }
}

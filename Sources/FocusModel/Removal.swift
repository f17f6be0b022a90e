public import DBusTypes
public import FocusContract

extension FocusModel {
  /// Removes a field; its children move up to its parent.
  /// - Throws: `FocusError`: `noSuchField`, `accessDenied`.
  public func unregister(_ id: FieldID, by client: BusName) throws(FocusError) -> [Change] {
    _ = try field(id, ownedBy: client, to: "unregister")
    return settle() + remove([id])
  }

  /// Has the fields of `owner`, who left the bus, go with it, at once and whole, but for those that linger.
  public func ownerLeft(_ owner: BusName) -> [Change] {
    guard let ids = fieldsByOwner.removeValue(forKey: owner) else { return [] }
    var changes = settle()
    for id in ids.sorted() {
      guard var field = fields[id], field.lingers else { continue }
      let extent = field.extent
      charge(field, fields: -1, -extent)
      touch(id)
      field.owner = nil
      fields[id] = field
      charge(field, fields: 1, extent)
      changes.append(.ownerChanged(id))
    }
    return changes + remove(ids.filter { fields[$0]?.lingers == false }.sorted())
  }

  /// Removes fields in one step: nobody is told of what lies between.
  private func remove(_ ids: [FieldID]) -> [Change] {
    var changes: [Change] = []
    var moved: Set<FieldID> = []
    for id in ids {
      guard let field = fields[id] else { continue }
      takeOut(field)
      moved.formUnion(field.children)
      changes.append(.fieldRemoved(id, interfaces: field.shown.interfaces.sorted()))
    }
    guard !changes.isEmpty else { return [] }
    changes += moved.filter { fields[$0] != nil }.sorted().map { .parentChanged($0) }
    focusPath = path(from: focusedField)
    return changes + settle(valuesMayDiffer: true)
  }

  private func takeOut(_ field: Field) {
    let scene = scene(of: field.id)
    for key in field.bindings.keys {
      types.remove(key)
      scenes.remove(key, of: field, in: scene)
    }
    for key in field.commands.keys { sceneCommands.remove(key, of: field, in: scene) }
    for interface in field.object?.interfaces ?? [] { sceneInterfaces.remove(interface, of: field, in: scene) }
    charge(field, fields: -1, -field.extent)
    if let owner = field.owner {
      fieldsByOwner[owner]?.remove(field.id)
      if fieldsByOwner[owner]?.isEmpty == true { fieldsByOwner[owner] = nil }
    }
    if let parent = field.parent {
      touch(parent)
      fields[parent]?.children.remove(field.id)
      fields[parent]?.children.formUnion(field.children)
    }
    if focusedField == field.id { focusedField = field.parent }
    history.removeAll { $0 == field.id || $0 == focusedField }
    touch(field.id)
    fields[field.id] = nil
    untold[field.id] = nil
    for child in field.children {
      // The children of a scene become scenes, each with what lies below it.
      if field.parent == nil { moveSubtree(child, from: scene, to: child) }
      touch(child)
      fields[child]?.parent = field.parent
    }
  }

  private func moveSubtree(_ top: FieldID, from old: FieldID, to new: FieldID) {
    var left = [top]
    while let id = left.popLast() {
      guard let field = fields[id] else { continue }
      left.append(contentsOf: field.children)
      for key in field.bindings.keys {
        scenes.remove(key, of: field, in: old)
        scenes.add(key, of: field, in: new)
      }
      for key in field.commands.keys {
        sceneCommands.remove(key, of: field, in: old)
        sceneCommands.add(key, of: field, in: new)
      }
      for interface in field.object?.interfaces ?? [] {
        sceneInterfaces.remove(interface, of: field, in: old)
        sceneInterfaces.add(interface, of: field, in: new)
      }
    }
  }
}

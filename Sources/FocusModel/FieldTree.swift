internal import DBusTypes
internal import FocusContract

/// How fields contain each other.
extension FieldTable {
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

  /// With which others the field `id` is remembered.
  func group(of id: FieldID) -> FocusMemory.Group {
    let root = root(of: id)
    return fields[root]?.window == nil ? .connection(fields[root]?.connection) : .window(root)
  }

  func root(of id: FieldID) -> FieldID {
    var root = id
    while let parent = fields[root]?.parent { root = parent }
    return root
  }

  /// The window that the scenes of `connection` are in.
  func home(of connection: BusName?) -> FieldID? { connection.flatMap { adoptions[$0]?.first?.field } }

  /// `id`, then its ancestors up to the scene.
  func path(from id: FieldID?) -> [FieldID] {
    guard let id, fields[id] != nil else { return [] }
    return Array(sequence(first: id) { [fields] in fields[$0]?.parent })
  }

  /// The field `id` and all below it.
  func descendants(of id: FieldID) -> [FieldID] {
    var below = [id]
    var next = 0
    while next < below.count {
      below.append(contentsOf: fields[below[next]]?.children ?? [])
      next += 1
    }
    return below
  }

  /// Whether `focused` may show something of `field`, as far as follows from what everyone has been told.
  func mayShow(_ field: Field) -> Bool {
    field.scope == .session || toldPath.contains(field.id)
      || (field.scope == .scene && !toldPath.isEmpty && toldPath.contains(scene(of: field.id)))
  }
}

public import DBusTypes
public import FocusContract

extension FocusModel {
  /// Every field by its name.
  public var fields: [FieldID: Field] { table.fields }

  /// The field `id`.
  /// - Throws: `ModelError.noSuchField`.
  public func field(_ id: FieldID) throws(ModelError) -> Field {
    guard let field = fields[id] else { throw .noSuchField(id.text) }
    return field
  }

  /// Checks that `client` may do with the field `id` what only its owner may, unless there is the exception that is named.
  /// - Throws: `ModelError.accessDenied`, or `noSuchField`.
  public func field(
    _ id: FieldID, ownedBy client: BusName, to action: String, unless exception: @autoclosure () -> String = ""
  ) throws(ModelError) -> Field {
    let field = try field(id)
    guard field.isOwned(by: client) else {
      throw .accessDenied("only the owner of the field '\(id)' may \(action) it\(exception())")
    }
    return field
  }

  /// Every connection that a field is of, or that a window names.
  public var connections: Set<BusName> { Set(table.connections.keys).union(table.adoptions.keys) }

  /// The fields that end, or lose their owner, when `connection` leaves the bus.
  public func fields(endingWith connection: BusName) -> Set<FieldID> { table.connections[connection] ?? [] }

  /// The fields that belong to `connection`: it has their objects, or has registered them without another's.
  public func fields(at connection: BusName) -> Set<FieldID> {
    fields(endingWith: connection).filter { fields[$0]?.connection == connection }
  }

  /// Checks that a field of this scope in the scene `scene` may have so many more keys.
  /// - Throws: `ModelError.limitExceeded`.
  func checkScene(_ scene: FieldID, _ scope: Scope, keys more: Int) throws(ModelError) {
    guard scope != .field, more > 0 else { return }
    let count = table.names.counts[scene, default: 0] + more
    guard count <= Limits.keysPerScene else {
      throw .limitExceeded(
        "a scene may have \(Limits.keysPerScene) scene-scoped keys, but '\(scene)' would have \(count)")
    }
  }
}

/// The end of fields.
extension FocusModel {
  /// Removes a field; its children move up to its parent.
  /// - Throws: `ModelError`: `noSuchField`, `accessDenied`.
  public func unregister(_ id: FieldID, by client: BusName) throws(ModelError) {
    _ = try field(id, ownedBy: client, to: "unregister")
    remove([id])
  }

  /// Removes the fields of `owner`, who left the bus, and those with objects of it, in one step, but for those that linger.
  public func ownerLeft(_ owner: BusName) {
    if owner == windowBridge { setWindowBridge(nil) }
    var ids = fields(endingWith: owner)
    let adopters = table.adoptions[owner]?.map(\.field) ?? []
    for id in ids.filter({ fields[$0]?.lingers == true }) {
      disown(id)
      ids.remove(id)
    }
    remove(ids)
    for id in adopters {
      guard var window = fields[id]?.window else { continue }
      touch(id)
      window.adopted[owner] = nil
      arrange { _, table in table.set(window, of: id) }
    }
  }

  /// The process that `field` belongs to; 0 if it is not known, or the field has no owner.
  public func process(of field: Field) -> UInt32 {
    guard let connection = field.connection else { return 0 }
    return field.claimedProcess ?? processes[connection] ?? 0
  }
}

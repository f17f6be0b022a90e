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

  /// Checks that `client` may do with the field `id` what only its owner may.
  /// - Throws: `ModelError.accessDenied`, or `noSuchField`.
  public func field(_ id: FieldID, ownedBy client: BusName, to action: String) throws(ModelError) -> Field {
    let field = try field(id)
    guard field.isOwned(by: client) else {
      throw .accessDenied("only the owner of the field '\(id)' may \(action) it")
    }
    return field
  }

  /// The fields that `owner` has registered.
  public func fields(of owner: BusName) -> Set<FieldID> { table.owned[owner] ?? [] }

  /// Every connection that a field is of, or that a window or what was focused names.
  public var connections: Set<BusName> {
    var connections = Set(table.owned.keys).union(table.served.keys).union(table.memory.fields.keys)
    for field in fields.values { if let window = field.window { connections.formUnion(window.adopted.keys) } }
    return connections
  }

  /// The fields that end, or lose their owner, when `connection` leaves the bus.
  public func fields(endingWith connection: BusName) -> Set<FieldID> {
    fields(of: connection).union(table.served[connection] ?? [])
  }

  /// The fields that belong to `connection`: it has their objects, or has registered them without another's.
  public func fields(at connection: BusName) -> Set<FieldID> {
    fields(endingWith: connection).filter { fields[$0]?.connection == connection }
  }

  /// Checks that so much more fits into what `owner` may have.
  /// - Throws: `ModelError.limitExceeded`.
  func checkAllowance(
    of owner: BusName?, lingers: Bool, fields: Int = 0, _ more: Extent
  ) throws(ModelError) {
    try table.allowances.check(owner, lingers: lingers, fields: fields, more)
  }
}

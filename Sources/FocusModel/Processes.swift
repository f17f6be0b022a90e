public import DBusTypes

/// The processes that fields belong to.
extension FocusModel {
  /// The process that `field` belongs to; 0 if it is not known, or the field has no owner.
  public func process(of field: Field) -> UInt32 {
    guard let connection = field.connection else { return 0 }
    return field.claimedProcess ?? processes[connection] ?? 0
  }

  /// Takes note of the process of `connection`.
  /// - Returns: what that changes.
  public func found(_ process: UInt32, of connection: BusName) -> [Change] {
    guard setProcess(process, of: connection) else { return [] }
    return fields(at: connection).sorted().filter { fields[$0]?.claimedProcess == nil }.map { .processChanged($0) }
  }

  /// Forgets the process of `connection`, which has left the bus.
  public func forgetProcess(of connection: BusName) { setProcess(nil, of: connection) }
}

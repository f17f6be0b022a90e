internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// `Field.Adopt`: the bus is asked first which of the names are on it.
extension FocusService {
  /// Begins an adoption, which is replied to when the bus has said which of `names` are on it.
  /// - Throws: `ModelError`: `accessDenied`, `invalid`; `DBusError`: `limitsExceeded`, `invalidArgs` for what is no unique
  ///   name.
  func adopt(_ names: [String], into window: FieldID, by client: BusName, _ reply: PendingReply) throws {
    guard names.count <= Limits.adoptedConnections else {
      throw DBusError(
        .limitsExceeded,
        "'owners' lists \(names.count) names, but a window adopts at most \(Limits.adoptedConnections)")
    }
    try model.checkAdoption(into: window, by: client)
    var connections: Set<BusName> = []
    for name in names {
      guard let connection = try? BusName(name), connection.isUnique else {
        throw DBusError(.invalidArgs, "'owners' lists '\(name.excerpt)', which is not a unique name such as ':1.42'")
      }
      connections.insert(connection)
    }
    try ownerCalls.enter(client)
    connection.askNames { [weak self] names in
      guard let self else { return }
      ownerCalls.leave(client)
      deliver(
        .answered(reply, changes: true) { service in
          try service.model.adopt(connections.intersection(names.get()), into: window, by: client)
          return .empty
        })
    }
  }
}

internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// What `Adopt` was asked for, while the bus is asked which of the names are on it.
struct Adoption {
  let window: FieldID
  let connections: Set<BusName>
  let client: BusName
  let reply: PendingReply
}

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
    let adoption = Adoption(window: window, connections: connections, client: client, reply: reply)
    try ownerCalls.enter(client)
    connection.askNames { [weak self] names in
      guard let self else { return }
      ownerCalls.leave(client)
      deliver(.adoption(adoption, names))
    }
  }

  /// Ends an adoption.
  /// - Returns: true: there is a reply.
  func complete(
    _ adoption: Adoption, _ present: Result<Set<BusName>, DBusError>, refusing refusal: DBusError?
  ) -> Bool {
    adoption.reply.answer {
      if let refusal { throw refusal }
      let connections = try adoption.connections.intersection(present.get())
      try model.adopt(connections, into: adoption.window, by: adoption.client)
      return .empty
    }
  }
}

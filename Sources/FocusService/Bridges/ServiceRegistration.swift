internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// Registration of a field whose object another connection has: a bridge speaks for it.
extension FocusService {
  /// Looks up who owns the name `service`, and calls `register` with its connection to go on.
  /// - Throws: `DBusError`: `accessDenied` if `client` is not a bridge, `invalidArgs` if the name is not valid,
  ///   `limitsExceeded` if too many calls wait.
  func lookUp(
    _ service: String, for client: BusName, _ reply: PendingReply, _ register: @escaping (BusName) throws -> Void
  ) throws {
    guard bridges.isBridge(client) else {
      throw DBusError(
        .accessDenied, "the option 'service' is for bridges: own a bus name below org.focusd.Bridge1 first")
    }
    let name = try BusName(service)
    let question = try connection.questionForOwner(of: name)
    try ownerCalls.enter(client)
    do {
      try ownerCalls.askBus(for: client, question) { [weak self] result in
        guard let self else { return }
        ownerCalls.leave(client)
        do { try register(connection(answeredFor: name, result)) } catch { reply.fail(error) }
      }
    } catch {
      ownerCalls.leave(client)
      throw error
    }
  }

  /// The connection that owns `name`, as the bus answers.
  /// - Throws: `DBusError`: `ownerGone` without such a connection, `invalidArgs` for one that cannot have fields' objects.
  private func connection(
    answeredFor name: BusName, _ result: Result<Message, DBusError>
  ) throws(DBusError) -> BusName {
    let answer = try result.get()
    guard answer.error == nil, case .string(let text)? = try answer.arguments().first else {
      throw DBusError(Focus1.ownerGone, "the name '\(name)' of the option 'service' has no owner on the bus")
    }
    let owner = BusName(known: text)
    guard owner != connection.uniqueName, owner != .bus else {
      throw DBusError(.invalidArgs, "the option 'service' must name another program than focusd and the bus")
    }
    return owner
  }
}

internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// The processes of the connections that have fields: the bus is asked for each once, and nothing waits for its answer.
extension FocusService {
  /// Asks for the process that the field `id` belongs to, unless its registrant has said so or it is known.
  func findProcess(of id: FieldID) {
    guard let field = model.fields[id], field.claimedProcess == nil, let holder = field.connection,
      model.process(of: field) == 0, !askedProcesses.contains(holder)
    else { return }
    askProcess(of: holder)
  }

  /// Asks for the process of `holder`, which is published with its fields; a recovery under way waits for the answer.
  func askProcess(of holder: BusName) {
    askedProcesses.insert(holder)
    connection.askProcess(of: holder, timeout: OwnerCalls.timeout) { [weak self] result in
      guard let self else { return }
      // Who has left meanwhile has no process any more.
      if askedProcesses.contains(holder), let process = try? result.get() { model.found(process, of: holder) }
      recoveryMayEnd(after: holder)
    }
  }

  /// Forgets the process of `connection`, which has left the bus.
  func forgetProcess(of connection: BusName) {
    guard askedProcesses.remove(connection) != nil else { return }
    model.found(nil, of: connection)
  }
}

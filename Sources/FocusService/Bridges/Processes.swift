internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// The processes of the connections that have fields: the bus is asked for each once, and nothing waits for its answer.
extension FocusService {
  /// Asks for the process that the field `id` belongs to, unless its registrant has said so or it is known.
  func findProcess(of id: FieldID) {
    guard let field = model.fields[id], field.claimedProcess == nil, let holder = field.connection,
      model.process(of: field) == 0, askedProcesses.insert(holder).inserted
    else { return }
    connection.askProcess(of: holder, timeout: OwnerCalls.timeout) { [weak self] result in
      // Who has left meanwhile has no process any more.
      guard let self, askedProcesses.contains(holder), let process = try? result.get() else { return }
      emit(model.found(process, of: holder))
    }
  }

  /// Forgets the process of `connection`, which has left the bus.
  func forgetProcess(of connection: BusName) {
    guard askedProcesses.remove(connection) != nil else { return }
    model.forgetProcess(of: connection)
  }
}

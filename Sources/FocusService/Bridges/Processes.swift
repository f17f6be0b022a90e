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
    askProcess(of: holder) { [weak self] process in self?.found(process, of: holder) }
  }

  /// Publishes that the fields of `holder` belong to `process`, unless that is nil.
  func found(_ process: UInt32?, of holder: BusName) {
    if let process { model.found(process, of: holder) }
  }

  /// Asks for the process of `holder`, and calls `handler` once with the answer, nil: none.
  func askProcess(of holder: BusName, _ handler: @escaping (UInt32?) -> Void) {
    askedProcesses.insert(holder)
    connection.askProcess(of: holder, timeout: OwnerCalls.timeout) { [weak self] result in
      // Who has left meanwhile has no process any more.
      handler(self?.askedProcesses.contains(holder) == true ? try? result.get() : nil)
    }
  }

  /// Forgets the process of `connection`, which has left the bus.
  func forgetProcess(of connection: BusName) {
    guard askedProcesses.remove(connection) != nil else { return }
    model.forgetProcess(of: connection)
  }
}

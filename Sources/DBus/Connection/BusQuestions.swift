public import DBusTypes

/// What the bus is asked while a loop runs: its answer comes in line with everything else that arrives.
extension Connection {
  /// What an answer of the bus, or the lack of one, is handed to.
  public typealias AnswerHandler<Answer> = (Result<Answer, DBusError>) -> Void

  /// Asks for every name on the bus, and calls `handler` once with the answer.
  public func askNames(timeout: Duration = .seconds(25), _ handler: @escaping AnswerHandler<Set<BusName>>) {
    ask(try question("ListNames"), timeout, handler) { results in names(in: results.first) }
  }

  /// Asks for a well-known name without queueing for it, and calls `handler` once with whether this connection holds it now.
  public func askForName(
    _ name: BusName, timeout: Duration = .seconds(25), _ handler: @escaping AnswerHandler<Bool>
  ) {
    ask(try questionForName(name), timeout, handler) { results in Connection.isOwner(results) }
  }

  /// Asks for the process behind `name`, and calls `handler` once with the answer; without a `timeout`, it waits for the bus.
  public func askProcess(of name: BusName, timeout: Duration?, _ handler: @escaping AnswerHandler<UInt32>) {
    ask(try question("GetConnectionUnixProcessID", [.string(name.text)]), timeout, handler) {
      results throws(DBusError) in try Connection.process(results, of: name)
    }
  }

  /// Asks for the unique name of who holds `name`, which is not activated, and calls `handler` once with it.
  ///
  /// Without a `timeout`, it waits for the bus.
  public func askOwner(
    of name: BusName, timeout: Duration? = .seconds(25), _ handler: @escaping AnswerHandler<BusName>
  ) {
    ask(try question("GetNameOwner", [.string(name.text)]), timeout, handler) { results throws(DBusError) in
      guard case .string(let owner)? = results.first else {
        throw DBusError(.failed, "the bus did not say who holds \(name)")
      }
      return BusName(known: owner)
    }
  }

  /// Asks for every name that the bus can start an owner of, and calls `handler` once with the answer.
  package func askActivatableNames(_ handler: @escaping AnswerHandler<Set<BusName>>) {
    ask(try question("ListActivatableNames"), .seconds(25), handler) { results in names(in: results.first) }
  }

  /// Asks the bus to start the owner of `name`, and calls `handler` once it holds that.
  package func askToStart(_ name: String, _ handler: @escaping AnswerHandler<Void>) {
    ask(try question("StartServiceByName", [.string(name), .uint32(0)]), .seconds(25), handler) { _ in }
  }

  /// Sends `question`, and calls `handler` once with what `read` makes of the results.
  private func ask<Answer>(
    _ question: @autoclosure () throws(DBusError) -> OutgoingMessage, _ timeout: Duration?,
    _ handler: @escaping AnswerHandler<Answer>, _ read: @escaping ([DBusValue]) throws(DBusError) -> Answer
  ) {
    do throws(DBusError) {
      try call(question(), timeout: timeout) { result in
        handler(Result { () throws(DBusError) in try read(try result.get().success().arguments()) })
      }
    } catch {
      handler(.failure(error))
    }
  }

  /// The call of the bus that asks to be sent the signals that `rule` matches.
  /// - Throws: `DBusError` as `OutgoingMessage.methodCall` does.
  public func questionToAdd(_ rule: MatchRule) throws(DBusError) -> OutgoingMessage {
    try question("AddMatch", [.string(rule.description)])
  }
}

public import DBusTypes

/// What the bus is asked while a loop runs: its answer comes in line with everything else that arrives.
extension Connection {
  /// What an answer of the bus, or the lack of one, is handed to.
  public typealias AnswerHandler<Answer> = (Result<Answer, DBusError>) -> Void

  /// Asks for every name on the bus, and calls `handler` once with the answer.
  public func askNames(timeout: Duration, _ handler: @escaping AnswerHandler<Set<BusName>>) {
    ask("ListNames", timeout: timeout) { result in
      handler(
        result.map { answer in
          guard case .array(let names)? = answer.first else { return [] }
          return Set(names.compactMap { $0.basicText.map(BusName.init(known:)) })
        })
    }
  }

  /// Asks to be sent the signals that `rule` matches, and calls `handler` once when the bus has taken or refused it.
  public func addMatch(_ rule: MatchRule, timeout: Duration, _ handler: @escaping AnswerHandler<Void>) {
    ask("AddMatch", [.string(rule.description)], timeout: timeout) { handler($0.map { _ in }) }
  }

  private func ask(
    _ member: String, _ arguments: [DBusValue] = [], timeout: Duration, _ handler: @escaping AnswerHandler<[DBusValue]>
  ) {
    do throws(DBusError) {
      try call(question(member, arguments), timeout: timeout) { result in
        handler(Result { () throws(DBusError) in try result.get().success().arguments() })
      }
    } catch {
      handler(.failure(error))
    }
  }
}

internal import DBus
internal import DBusTypes

/// The one answer to a call of a published field's object; later on the loop's thread too.
struct CallReply {
  // Not kept by a command that takes long: a connection is closed on the loop's thread.
  private weak var connection: Connection?
  private let address: ReplyAddress

  init(to call: Message, on connection: Connection) {
    address = ReplyAddress(of: call)
    self.connection = connection
  }

  func succeed(_ results: [DBusValue] = []) {
    guard address.wantsReply else { return }
    do throws(DBusError) {
      try connection?.send(address.reply(MessageBody(results)))
    } catch {
      fail(error)
    }
  }

  func fail(_ error: DBusError) {
    guard address.wantsReply else { return }
    _ = try? connection?.send(address.reply(error))
  }

  func answer(_ result: Result<[DBusValue], DBusError>) {
    switch result {
    case .success(let results): succeed(results)
    case .failure(let error): fail(error)
    }
  }
}

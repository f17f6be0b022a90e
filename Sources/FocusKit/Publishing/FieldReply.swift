internal import DBus
internal import DBusTypes
internal import EventLoop

/// The one answer to a call of an exported object.
struct FieldReply {
  /// Not kept by a command that takes long: a connection is closed on the worker's thread.
  private(set) weak var connection: Connection?
  private let address: ReplyAddress
  private let letters: Worker.Letters

  init(_ call: Message, _ connection: Connection, _ letters: Worker.Letters) {
    address = ReplyAddress(of: call)
    self.connection = connection
    self.letters = letters
  }

  func succeed(_ results: [DBusValue]) {
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

  /// The same answer, to be given from any thread.
  func later() -> Token { Token(reply: self, letters: letters) }

  // Only letters, which the worker's own thread handles, touch what it holds.
  struct Token: @unchecked Sendable {
    fileprivate let reply: FieldReply
    fileprivate let letters: Worker.Letters

    func succeed(_ results: [DBusValue]) { letters.post { _ in reply.succeed(results) } }
    func fail(_ error: FocusError) { letters.post { _ in reply.fail(error.onBus) } }
  }
}

internal import DBus
internal import DBusTypes

/// The one answer to a call of an exported object.
struct FieldReply {
  /// Not kept by a command that takes long: a connection is closed on the worker's thread.
  private(set) weak var connection: Connection?
  private let call: Message
  private let letters: Worker.Letters

  init(_ call: Message, _ connection: Connection, _ letters: Worker.Letters) {
    self.call = call
    self.connection = connection
    self.letters = letters
  }

  func succeed(_ results: [DBusValue]) {
    guard call.wantsReply else { return }
    do throws(DBusError) {
      try connection?.send(call.reply(results))
    } catch {
      fail(error)
    }
  }

  func fail(_ error: DBusError) {
    guard call.wantsReply else { return }
    _ = try? connection?.send(call.reply(error))
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

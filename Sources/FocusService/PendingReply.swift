internal import DBus
internal import DBusTypes

/// The reply to one method call, given now or later, once.
final class PendingReply {
  /// The call that is replied to.
  let message: Message
  private weak var service: FocusService?

  init(to message: Message, _ service: FocusService) {
    self.message = message
    self.service = service
  }

  /// Replies with the method's results, or with the error that prevents that.
  func succeed(_ results: [DBusValue]) {
    guard message.wantsReply, let service else { return }
    do {
      service.post(reply: try service.lastReply.reply(to: message, results), of: self)
    } catch {
      fail(error)
    }
  }

  /// Replies with an error.
  func fail(_ error: any Error) {
    if let refusal = error as? OwnerRefusal { return forward(refusal.reply) }
    let error = DBusError(any: error)
    service?.log.debug("\(message.sender?.text ?? "?") \(message.member?.text ?? "?"): \(error.name)")
    guard message.wantsReply, let reply = try? message.reply(error) else { return }
    service?.post(reply: reply, of: self)
  }

  /// Replies with what an owner replied, as it was.
  func forward(_ reply: Message) {
    guard message.wantsReply else { return }
    do { service?.post(reply: try reply.forwarded(asReplyTo: message), of: self) } catch { fail(error) }
  }

  /// Replies with what `body` returns or throws; where it returns nil, the reply is given later.
  /// - Returns: whether the reply is given.
  @discardableResult
  func answer(_ body: () throws -> [DBusValue]?) -> Bool {
    do {
      guard let results = try body() else { return false }
      succeed(results)
    } catch {
      fail(error)
    }
    return true
  }
}

/// The last reply with results: whoever reads the same again gets a copy, which takes less than half the time of a new one.
struct LastReply {
  /// The most bytes of values that are compared and kept.
  private static let sizeLimit = 4096

  private var last: (results: [DBusValue], reply: Message)?

  /// The reply to `call` with `results`.
  /// - Throws: `DBusError` as `Message.reply` does.
  mutating func reply(to call: Message, _ results: [DBusValue]) throws(DBusError) -> Message {
    if let last, last.reply.isTo(senderOf: call), last.results == results {
      return try last.reply.forwarded(asReplyTo: call)
    }
    let reply = try call.reply(results)
    last = reply.bodySize <= LastReply.sizeLimit ? (results, reply) : nil
    return reply
  }
}

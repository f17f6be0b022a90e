internal import DBus
internal import DBusTypes
internal import ProgramSupport

/// The reply to one method call, given now or later, once.
final class PendingReply {
  // Of the call itself nothing is kept: it may be large, and an owner may take its time.
  private let address: ReplyAddress
  private let member: MemberName?
  private weak var service: FocusService?
  /// Whether the reply shows values, which must not be older than those that signals before it tell.
  var showsValues = false
  /// Whether an owner's results are replied as variants: `Bindings.Invoke`.
  var wrapsResults = false

  init(to call: Message, _ service: FocusService) {
    address = ReplyAddress(of: call)
    member = call.member
    self.service = service
  }

  /// Whether the caller waits for it.
  var isWanted: Bool { address.wantsReply }

  /// Replies with the method's results.
  func succeed(_ results: MessageBody = .empty) {
    guard address.wantsReply else { return }
    service?.post(reply: address.reply(results), of: self)
  }

  /// Replies with an error.
  func fail(_ error: any Error) {
    if let refusal = error as? OwnerRefusal { return forward(refusal.reply) }
    let error = DBusError(any: error)
    service?.log.debug("\(address.caller?.text ?? "?") \(member?.text ?? "?"): \(error.name)")
    guard address.wantsReply else { return }
    showsValues = false
    service?.post(reply: address.reply(error), of: self)
  }

  /// Replies with an error that tells nothing of the state, without waiting for the turn's end.
  func refuseAtOnce(_ error: DBusError) {
    if address.wantsReply { _ = try? service?.connection.send(address.reply(error)) }
  }

  /// Replies with what an owner replied, as it was, or its results as variants.
  func forward(_ reply: Message) {
    guard address.wantsReply else { return }
    if wrapsResults, reply.kind != .error {
      answer { try MessageBody([.variants(reply.limitedArguments())]) }
      return
    }
    do { service?.post(reply: try reply.forwarded(asReplyTo: address), of: self) } catch { fail(error) }
  }

  /// Replies with what `body` returns or throws; where it returns nil, the reply is given later.
  /// - Returns: whether the reply is given.
  @discardableResult
  func answer(_ body: () throws -> MessageBody?) -> Bool {
    do {
      guard let results = try body() else { return false }
      succeed(results)
    } catch {
      fail(error)
    }
    return true
  }
}

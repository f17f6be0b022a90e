internal import DBus
internal import DBusTypes

/// What a turn of the loop is to send: signals first, then replies.
struct Outbox {
  /// How many bytes may wait for the end of a turn before what is done so far is sent.
  private static let comfortableSize = 8 << 20

  private var signals: [Message] = []
  private var replies: [Message] = []
  private var size = 0

  var isEmpty: Bool { signals.isEmpty && replies.isEmpty }
  var hasSignals: Bool { !signals.isEmpty }
  /// Whether so much waits that the turn should end early.
  var isFull: Bool { size > Outbox.comfortableSize }

  mutating func add(signal: Message) {
    signals.append(signal)
    size += signal.bodySize
  }

  mutating func add(reply: Message) {
    replies.append(reply)
    size += reply.bodySize
  }

  /// Sends everything and is empty then, also where the bus takes nothing any more.
  /// - Throws: `DBusError` where the connection is gone.
  mutating func send(on connection: Connection) throws(DBusError) {
    defer {
      signals.removeAll(keepingCapacity: true)
      replies.removeAll(keepingCapacity: true)
      size = 0
    }
    for signal in signals { try connection.send(signal) }
    for reply in replies { try connection.send(reply) }
  }
}

/// The reply to one method call, given now or later, once.
final class PendingReply {
  private let message: Message
  private weak var service: FocusService?

  init(to message: Message, _ service: FocusService) {
    self.message = message
    self.service = service
  }

  /// Replies with the method's results, or with the error that prevents that.
  func succeed(_ results: [DBusValue]) {
    guard message.wantsReply else { return }
    do { service?.post(reply: try message.reply(results)) } catch { fail(error) }
  }

  /// Replies with an error.
  func fail(_ error: any Error) {
    let error = DBusError(any: error)
    service?.log.debug("\(message.sender?.text ?? "?") \(message.member?.text ?? "?"): \(error.name)")
    guard message.wantsReply, let reply = try? message.reply(error) else { return }
    service?.post(reply: reply)
  }

  /// Replies with what an owner replied, as it was.
  func forward(_ reply: Message) {
    guard message.wantsReply else { return }
    do { service?.post(reply: try reply.forwarded(asReplyTo: message)) } catch { fail(error) }
  }

  /// Replies with what `body` returns or throws.
  func answer(_ body: () throws -> [DBusValue]) {
    do { succeed(try body()) } catch { fail(error) }
  }
}

internal import DBus
internal import DBusTypes

/// What a turn of the loop is to send: signals first, then replies.
struct Outbox {
  /// How many bytes may wait for the end of a turn before what is done so far is sent.
  private static let comfortableSize = 8 << 20

  private var signals: [(message: Message, tellsOfChange: Bool)] = []
  private var replies: [(message: Message, origin: PendingReply)] = []
  private var size = 0

  var isEmpty: Bool { signals.isEmpty && replies.isEmpty }
  var hasSignals: Bool { !signals.isEmpty }
  /// Whether so much waits that the turn should end early.
  var isFull: Bool { size > Outbox.comfortableSize }

  mutating func add(signal: Message, tellsOfChange: Bool) {
    signals.append((signal, tellsOfChange))
    size += signal.bodySize
  }

  mutating func add(reply: Message, of origin: PendingReply) {
    replies.append((reply, origin))
    size += reply.bodySize
  }

  /// Takes back the signals that tell of changes, and the replies of `origins`, since the changes were not made.
  mutating func takeBack(_ origins: [PendingReply]) {
    let origins = Set(origins.map { ObjectIdentifier($0) })
    signals.removeAll { $0.tellsOfChange }
    replies.removeAll { origins.contains(ObjectIdentifier($0.origin)) }
  }

  /// Sends everything and is empty then, also where the bus takes nothing any more.
  /// - Throws: `DBusError` where the connection is gone.
  mutating func send(on connection: Connection) throws(DBusError) {
    defer {
      signals.removeAll(keepingCapacity: true)
      replies.removeAll(keepingCapacity: true)
      size = 0
    }
    try connection.send(signals.map(\.message) + replies.map(\.message))
  }
}

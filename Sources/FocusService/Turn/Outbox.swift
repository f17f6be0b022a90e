internal import DBus
internal import DBusTypes

/// What a turn of the loop is to send: signals first, then replies.
struct Outbox {
  /// How many bytes may wait for the end of a turn before what is done so far is sent.
  private static let comfortableSize = 8 << 20

  private var signals: [OutgoingMessage] = []
  private var signalsOfChanges: [Bool] = []
  private var replies: [OutgoingMessage] = []
  private var origins: [PendingReply] = []
  private var size = 0

  var isEmpty: Bool { signals.isEmpty && replies.isEmpty }
  var hasSignals: Bool { !signals.isEmpty }
  /// Whether so much waits that the turn should end early.
  var isFull: Bool { size > Outbox.comfortableSize }

  mutating func add(signal: OutgoingMessage, tellsOfChange: Bool) {
    signals.append(signal)
    signalsOfChanges.append(tellsOfChange)
    size += signal.bodySize
  }

  mutating func add(reply: OutgoingMessage, of origin: PendingReply) {
    replies.append(reply)
    origins.append(origin)
    size += reply.bodySize
  }

  /// Takes back the signals that tell of changes, and the replies of `unsaved`, since the changes were not made.
  mutating func takeBack(_ unsaved: [PendingReply]) {
    let unsaved = Set(unsaved.map { ObjectIdentifier($0) })
    let kept = zip(replies, origins).filter { !unsaved.contains(ObjectIdentifier($1)) }
    signals = zip(signals, signalsOfChanges).filter { !$1 }.map(\.0)
    signalsOfChanges = signals.map { _ in false }
    replies = kept.map(\.0)
    origins = kept.map(\.1)
    size = (signals + replies).reduce(0) { $0 + $1.bodySize }
  }

  /// Sends everything and empties itself, even if the bus accepts nothing.
  /// - Throws: `DBusError` if the connection is gone.
  mutating func send(on connection: Connection) throws(DBusError) {
    defer {
      if hasSignals {
        signals.removeAll(keepingCapacity: true)
        signalsOfChanges.removeAll(keepingCapacity: true)
      }
      replies.removeAll(keepingCapacity: true)
      origins.removeAll(keepingCapacity: true)
      size = 0
    }
    try connection.send(signals.isEmpty ? replies : signals + replies)
  }
}

internal import DBus
internal import DBusTypes

/// What a turn of the loop is to send: signals before the replies of the calls that caused them, and no value in a reply
/// that is older than one in a signal before it.
struct Outbox {
  /// How many bytes may wait for the end of a turn before what is done so far is sent.
  private static let comfortableSize = 8 << 20

  private struct Item {
    let message: OutgoingMessage
    /// The call that it replies to, or nil for a signal.
    let origin: PendingReply?
    /// Whether it is a signal of a change, which is not sent if that is not saved.
    let tellsOfChange: Bool
  }

  /// What comes before everything else.
  private var sealed: [Item] = []
  private var signals: [Item] = []
  private var replies: [Item] = []
  private var size = 0
  private(set) var hasSignals = false
  /// Whether a reply that shows values would be overtaken by the next signal.
  private(set) var showsValues = false

  var isEmpty: Bool { sealed.isEmpty && signals.isEmpty && replies.isEmpty }
  /// Whether so much waits that the turn should end early.
  var isFull: Bool { size > Outbox.comfortableSize }

  /// Adds a signal before the replies that are in the box, unless one of them shows values.
  mutating func add(signal: OutgoingMessage, tellsOfChange: Bool = false) {
    if showsValues { seal() }
    signals.append(Item(message: signal, origin: nil, tellsOfChange: tellsOfChange))
    hasSignals = true
    size += signal.bodySize
  }

  /// Adds a signal that tells of a change, likewise.
  mutating func add(change signal: OutgoingMessage) { add(signal: signal, tellsOfChange: true) }

  mutating func add(reply: OutgoingMessage, of origin: PendingReply) {
    replies.append(Item(message: reply, origin: origin, tellsOfChange: false))
    if origin.showsValues { showsValues = true }
    size += reply.bodySize
  }

  /// Sends what follows after what is in the box.
  mutating func seal() {
    sealed += signals
    sealed += replies
    signals.removeAll(keepingCapacity: true)
    replies.removeAll(keepingCapacity: true)
    showsValues = false
  }

  /// Takes back the signals that tell of changes, and the replies of `unsaved`, since the changes were not made.
  mutating func takeBack(_ unsaved: [PendingReply]) {
    let unsaved = Set(unsaved.map { ObjectIdentifier($0) })
    seal()
    sealed.removeAll { item in item.tellsOfChange || item.origin.map { unsaved.contains(ObjectIdentifier($0)) } ?? false
    }
    hasSignals = sealed.contains { $0.origin == nil }
    size = sealed.reduce(0) { $0 + $1.message.bodySize }
  }

  /// Sends everything and empties itself, even if the bus accepts nothing.
  /// - Throws: `DBusError` if the connection is gone.
  mutating func send(on connection: Connection) throws(DBusError) {
    var messages: [OutgoingMessage] = []
    messages.reserveCapacity(sealed.count + signals.count + replies.count)
    for part in [sealed, signals, replies] { for item in part { messages.append(item.message) } }
    if !sealed.isEmpty { sealed.removeAll() }
    signals.removeAll(keepingCapacity: true)
    replies.removeAll(keepingCapacity: true)
    size = 0
    hasSignals = false
    showsValues = false
    try connection.send(messages)
  }
}

internal import CDBus

/// A call whose answer has not come yet.
struct PendingCall {
  /// What its answer, or the lack of one, is handed to.
  let handler: Connection.ReplyHandler
  /// What ends it without an answer.
  let timer: TimerID?
  /// Whether the answer is handed over when it arrives, ahead of what arrived before it and waits for the loop.
  let isImmediate: Bool
  /// Who was called; nil for a call that names nobody.
  fileprivate let destination: String?
  /// Who has lost the well-known name that was called since the call was sent.
  fileprivate var formerOwners: [String] = []
}

/// The calls that are under way, and whose answers to them count.
///
/// dbus-daemon carries replies that nobody asked for, and the number of a call is easy to guess: only the peer that was
/// called answers it, or the bus in that peer's place. The peer that a well-known name stands for is who held it at some
/// time since the call was sent: the bus says who holds it before it passes the call on, and tells of each change before
/// it passes on what the next owner sends.
struct PendingCalls {
  private var calls: [UInt32: PendingCall] = [:]
  /// Who holds each well-known name that was called, as its unique name; empty for nobody.
  private var owners: [String: String] = [:]

  /// Whether `destination` is a name whose owner has to be known before an answer of it can count.
  func mustFollow(_ destination: String?) -> Bool {
    guard let destination, destination.utf8.first != UInt8(ascii: ":"), destination != DBUS_SERVICE_DBUS else {
      return false
    }
    return owners[destination] == nil
  }

  /// Whether changes of the owner of any name matter.
  var followsNames: Bool { !owners.isEmpty }

  /// Takes in that `owner` holds `name`, or nobody where it is empty; before the first call to a name, too.
  mutating func setOwner(of name: String, _ owner: String) {
    guard let former = owners.updateValue(owner, forKey: name), former != owner, !former.isEmpty else { return }
    for (serial, call) in calls where call.destination == name { calls[serial]?.formerOwners.append(former) }
  }

  /// Takes in that the bus tells of a new owner of `name`, which may be a name that nobody has called.
  mutating func ownerChanged(of name: String, to owner: String) {
    if owners[name] != nil { setOwner(of: name, owner) }
  }

  /// Adds the call of `destination` that was sent with the number `serial`.
  mutating func add(
    _ serial: UInt32, to destination: String?, isImmediate: Bool, timer: TimerID?,
    _ handler: @escaping Connection.ReplyHandler
  ) {
    calls[serial] = PendingCall(handler: handler, timer: timer, isImmediate: isImmediate, destination: destination)
  }

  /// Takes out the call with the number `serial`, or nil where it has ended.
  mutating func take(_ serial: UInt32) -> PendingCall? { calls.removeValue(forKey: serial) }

  /// Takes out all calls, in the order in which they were sent.
  mutating func takeAll() -> [PendingCall] {
    defer { calls = [:] }
    return calls.sorted { $0.key < $1.key }.map(\.value)
  }

  /// The call that `reply` answers; nil where it claims to be an answer and is none.
  func call(answeredBy reply: OpaquePointer) -> PendingCall? {
    guard let call = calls[dbus_message_get_reply_serial(reply)], isAnswer(reply, call) else { return nil }
    return call
  }

  private func isAnswer(_ reply: OpaquePointer, _ call: PendingCall) -> Bool {
    guard dbus_message_has_sender(reply, DBUS_SERVICE_DBUS) == 0 else { return true }
    guard let destination = call.destination else { return false }
    // To make a text of the sender takes longer than to compare it.
    func isSender(_ name: String) -> Bool { name.withCString { dbus_message_has_sender(reply, $0) != 0 } }
    guard let owner = owners[destination] else { return isSender(destination) }
    return isSender(owner) || call.formerOwners.contains(where: isSender)
  }
}

internal import CDBus
internal import EventLoop

/// A call whose answer has not come yet.
final class PendingCall {
  let serial: UInt32
  /// What its answer, or the lack of one, is handed to.
  let handler: Connection.ReplyHandler
  /// What ends it without an answer.
  let timer: TimerID?
  /// Whether the answer is handed over when it arrives, ahead of what arrived before it and waits for the loop.
  let isImmediate: Bool
  /// Who was called; nil for a call without a destination.
  fileprivate let destination: String?
  /// The owner of the called name, if that is a well-known one.
  fileprivate let holder: NameHolder?
  /// Who has lost that name since the call was sent.
  fileprivate var formerOwners: [String] = []

  init(
    _ serial: UInt32, to destination: String?, _ holder: NameHolder?, isImmediate: Bool, timer: TimerID?,
    _ handler: @escaping Connection.ReplyHandler
  ) {
    self.serial = serial
    self.destination = destination
    self.holder = holder
    self.isImmediate = isImmediate
    self.timer = timer
    self.handler = handler
  }

  /// Whether `reply`, which has the call's number, is from whoever was called or from the bus.
  fileprivate func isAnswered(by reply: OpaquePointer) -> Bool {
    guard dbus_message_has_sender(reply, DBUS_SERVICE_DBUS) == 0 else { return true }
    // To make a text of the sender takes longer than to compare it.
    func isSender(_ name: String) -> Bool { name.withCString { dbus_message_has_sender(reply, $0) != 0 } }
    // Without a bus nobody is called by name, and answers have no sender.
    guard let holder else { return destination.map(isSender) ?? (dbus_message_get_sender(reply) == nil) }
    return isSender(holder.owner) || formerOwners.contains(where: isSender)
  }
}

/// Who holds a well-known name, as far as the bus has said.
final class NameHolder {
  let name: String
  /// The unique name of its owner; empty without an owner.
  fileprivate(set) var owner = ""

  init(of name: String) { self.name = name }
}

/// The calls that are under way, and whose answers to them count.
///
/// dbus-daemon carries replies to calls that were never made, and the number of a call is easy to guess: only the peer that was
/// called answers it, or the bus in that peer's place. The peer that a well-known name stands for is who held it at some
/// time since the call was sent: the bus says who holds it before it passes the call on, and signals each change before
/// it passes on what the next owner sends.
struct PendingCalls {
  private var calls: [UInt32: PendingCall] = [:]
  /// The few that are handed over at once: a program that makes one call spends more on its first dictionary than on that.
  private var immediate: [PendingCall] = []
  private var holders: [NameHolder] = []

  /// Whether `destination` is a name whose owner says whose answers count.
  static func isWellKnown(_ destination: String) -> Bool {
    destination.utf8.first != UInt8(ascii: ":") && destination != DBUS_SERVICE_DBUS
  }

  /// Whether changes of the owner of any name matter.
  var followsNames: Bool { !holders.isEmpty }

  /// The owner of `name`, or nil if the name is not followed.
  func holder(of name: String) -> NameHolder? { holders.first { $0.name == name } }

  /// Adds a name whose owner is followed from now on.
  mutating func follow(_ holder: NameHolder) { holders.append(holder) }

  /// Stops following `name`; the next call to it starts over.
  mutating func forget(_ name: String) { holders.removeAll { $0.name == name } }

  /// Records `owner`, empty if there is no owner, as the owner of `name`; does nothing if the name is not followed.
  func setOwner(of name: String, _ owner: String) {
    guard let holder = holder(of: name), holder.owner != owner else { return }
    let former = holder.owner
    holder.owner = owner
    guard !former.isEmpty else { return }
    for call in immediate where call.holder === holder { call.formerOwners.append(former) }
    for call in calls.values where call.holder === holder { call.formerOwners.append(former) }
  }

  mutating func add(_ call: PendingCall) {
    if call.isImmediate { immediate.append(call) } else { calls[call.serial] = call }
  }

  /// Removes and returns the call with the number `serial`, or nil if it has ended.
  mutating func take(_ serial: UInt32) -> PendingCall? {
    if let index = immediate.firstIndex(where: { $0.serial == serial }) { return immediate.remove(at: index) }
    return calls.isEmpty ? nil : calls.removeValue(forKey: serial)
  }

  /// Takes out the calls to `destination` that are not handed over at once, in the order in which they were sent.
  mutating func takeAll(to destination: String) -> [PendingCall] {
    guard !calls.isEmpty else { return [] }
    let found = calls.values.filter { $0.destination == destination }.sorted { $0.serial < $1.serial }
    for call in found { calls[call.serial] = nil }
    return found
  }

  /// Takes out all calls, in the order in which they were sent.
  mutating func takeAll() -> [PendingCall] {
    guard !calls.isEmpty || !immediate.isEmpty else { return [] }
    defer { (calls, immediate) = ([:], []) }
    return (immediate + calls.values).sorted { $0.serial < $1.serial }
  }

  /// The call that `reply` answers; nil for a forged answer.
  func call(answeredBy reply: OpaquePointer) -> PendingCall? {
    let serial = dbus_message_get_reply_serial(reply)
    let call = immediate.first { $0.serial == serial } ?? (calls.isEmpty ? nil : calls[serial])
    return call?.isAnswered(by: reply) == true ? call : nil
  }
}

internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// What waits for an owner, or for all, takes up.
struct Load: Hashable {
  var calls = 0
  /// Of values and of calls that have not been passed on.
  var bytes = 0
  /// File descriptors.
  var descriptors = 0

  static let call = Load(calls: 1)
  static let none = Load()

  static func + (left: Load, right: Load) -> Load {
    Load(
      calls: left.calls + right.calls, bytes: left.bytes + right.bytes,
      descriptors: left.descriptors + right.descriptors)
  }

  static func - (left: Load, right: Load) -> Load {
    left + Load(calls: -right.calls, bytes: -right.bytes, descriptors: -right.descriptors)
  }
}

/// The calls to owners: bounded in number, size and time, and ended when an owner leaves.
final class OwnerCalls {
  /// How long an owner may take.
  static let timeout = Duration.seconds(5)
  /// How long an owner has at least for what waited for another call's end; with less, it is not asked any more.
  static let leastTime = Duration.seconds(1)

  private let connection: Connection
  /// What waits for each owner.
  private var waiting: [BusName: Load] = [:]
  private var total = Load.none

  init(_ connection: Connection) { self.connection = connection }

  /// Counts `more` among what waits for `owner`, until `leave`.
  /// - Throws: `DBusError.limitsExceeded` if that is past what may wait for one owner, or for all.
  func enter(_ owner: BusName, _ more: Load = .call) throws(DBusError) {
    let present = waiting[owner] ?? .none
    let (own, all) = (present + more, total + more)
    guard more.calls == 0 || own.calls <= Limits.callsPerOwner else {
      throw DBusError(
        .limitsExceeded, "\(Limits.callsPerOwner) calls to the field's owner are already in progress, the maximum")
    }
    try OwnerCalls.check(own.bytes, Limits.perOwner.bytes, all.bytes, Limits.total.bytes, "bytes of values")
    try OwnerCalls.check(
      own.descriptors, Limits.waitingDescriptorsPerOwner, all.descriptors, Limits.waitingDescriptors, "file descriptors"
    )
    waiting[owner] = own
    total = all
  }

  private static func check(
    _ own: Int, _ mostOwn: Int, _ all: Int, _ mostInAll: Int, _ what: String
  ) throws(DBusError) {
    guard own > mostOwn || all > mostInAll else { return }
    let (whose, most) = own > mostOwn ? ("the field's owner", mostOwn) : ("all owners", mostInAll)
    throw DBusError(.limitsExceeded, "pending calls to \(whose) may carry \(most) \(what)")
  }

  /// Undoes `enter`.
  func leave(_ owner: BusName, _ load: Load = .call) {
    guard let present = waiting[owner] else { return }
    waiting[owner] = present == load ? nil : present - load
    total = total - load
  }

  /// Sends a call that an entered client's call, or the daemon itself, needs, and calls `handler` once, with the reply or
  /// with `Timeout` or `OwnerGone`.
  /// - Throws: `DBusError` if the message cannot be sent; then `handler` is not called.
  func ask(
    _ message: OutgoingMessage, timeout: Duration = OwnerCalls.timeout, _ handler: @escaping Connection.ReplyHandler
  ) throws(DBusError) {
    try connection.call(message, timeout: timeout) { result in
      switch result {
      // What the bus says in the owner's place is that the owner cannot be asked.
      case .success(let reply) where reply.kind == .error && reply.sender == .bus: handler(.failure(.ownerGone))
      case .failure(let error) where error.name == .timeout: handler(.failure(.ownerTimeout))
      default: handler(result)
      }
    }
  }

  /// Ends every call to `owner`.
  func ownerLeft(_ owner: BusName) { connection.endCalls(to: owner, .ownerGone) }
}

extension DBusError {
  /// The owner did not answer in time.
  static let ownerTimeout = DBusError(.timeout, "the field's owner did not reply within 5 seconds")
  /// The owner left, or cannot be asked.
  static let ownerGone = DBusError(Focus1.ownerGone, "the field's owner has left the bus, or cannot be called")
}

/// An error that an owner replied, which is passed on as it is; like all messages, it stays with the thread of the loop.
struct OwnerRefusal: Error, @unchecked Sendable {
  let reply: Message
}

/// Limits on what is read from owners' answers; the excess is ignored.
enum OwnerAnswer {
  /// The most elements: twice what an owner may have, so that what does not fit costs little.
  static let elementLimit = 2 * Limits.perOwner.elements
  /// The most bytes of one variant: those of a value, and of the longest signature before it.
  static let valueLimit = Limits.value.bytes + 264
  /// Why a larger one is not taken.
  static let tooLarge = "its value takes more than \(Limits.value.bytes) bytes"
}

extension Result<Message, DBusError> {
  /// What the owner replied.
  /// - Throws: `OwnerRefusal`, or `DBusError` for what prevented a reply.
  @discardableResult
  func accepted() throws -> Message {
    let reply = try get()
    guard reply.kind != .error else { throw OwnerRefusal(reply: reply) }
    return reply
  }
}

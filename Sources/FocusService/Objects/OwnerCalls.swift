internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// The calls to owners that are under way: bounded in number and time, and ended when an owner leaves.
final class OwnerCalls {
  /// What an owner's answer, an error of its own included, or the lack of one is handed to.
  typealias Handler = (Result<Message, DBusError>) -> Void

  /// How long an owner may take.
  static let timeout = Duration.seconds(5)
  /// How long an owner has at least for what waited for another call's end; with less, it is not asked any more.
  static let leastTime = Duration.seconds(1)
  /// How many calls may wait for one owner.
  static let limit = 256

  private let connection: Connection
  private var underWay: [BusName: [UInt64: Handler]] = [:]
  /// How many calls of clients wait for each owner, and the bytes of values that are kept for them.
  private var waiting: [BusName: (calls: Int, bytes: Int)] = [:]
  private var waitingBytes = 0
  private var lastNumber: UInt64 = 0

  init(_ connection: Connection) { self.connection = connection }

  /// Counts one more client's call that waits for `owner`, with values of so many bytes, until `leave`.
  ///
  /// The limits of values hold for what waits too: for one owner and for all together.
  /// - Throws: `DBusError.limitsExceeded` if too many wait already.
  func enter(_ owner: BusName, bytes: Int = 0) throws(DBusError) {
    let (calls, present) = waiting[owner, default: (0, 0)]
    guard calls < OwnerCalls.limit else {
      throw DBusError(
        .limitsExceeded, "\(OwnerCalls.limit) calls to the field's owner are already in progress, the maximum")
    }
    guard bytes == 0 || present + bytes <= Limits.perOwner.bytes else {
      throw DBusError(
        .limitsExceeded, "pending calls to the field's owner may carry \(Limits.perOwner.bytes) bytes of values"
      )
    }
    guard bytes == 0 || waitingBytes + bytes <= Limits.total.bytes else {
      throw DBusError(
        .limitsExceeded, "pending calls to all owners may carry \(Limits.total.bytes) bytes of values")
    }
    waiting[owner] = (calls + 1, present + bytes)
    waitingBytes += bytes
  }

  /// Counts so many bytes more of what `owner` sent, until `release`.
  /// - Returns: false if they do not fit beside what waits already.
  func keep(_ owner: BusName, bytes: Int) -> Bool {
    let (calls, present) = waiting[owner, default: (0, 0)]
    guard present + bytes <= Limits.perOwner.bytes, waitingBytes + bytes <= Limits.total.bytes else { return false }
    waiting[owner] = (calls, present + bytes)
    waitingBytes += bytes
    return true
  }

  /// Undoes `keep`.
  func release(_ owner: BusName, bytes: Int) {
    guard bytes > 0, let (calls, present) = waiting[owner] else { return }
    waiting[owner] = calls > 0 || present > bytes ? (calls, present - bytes) : nil
    waitingBytes -= bytes
  }

  /// Undoes one `enter`.
  func leave(_ owner: BusName, bytes: Int = 0) {
    let (calls, present) = waiting[owner, default: (1, bytes)]
    waiting[owner] = calls > 1 || present > bytes ? (calls - 1, present - bytes) : nil
    waitingBytes -= bytes
  }

  /// Forwards a client's call to `owner`, and calls `handler` once, with the reply or with `Timeout` or `OwnerGone`.
  /// - Throws: `DBusError.limitsExceeded` if too many calls wait for the owner; then `handler` is not called.
  func call(_ owner: BusName, _ message: OutgoingMessage, _ handler: @escaping Handler) throws(DBusError) {
    try enter(owner)
    do throws(DBusError) {
      try ask(owner, message) { [weak self] result in
        self?.leave(owner)
        handler(result)
      }
    } catch {
      leave(owner)
      throw error
    }
  }

  /// Sends a call that an entered client's call, or the daemon itself, needs, and calls `handler` once, as `call` does.
  /// - Throws: `DBusError` if the message cannot be sent; then `handler` is not called.
  func ask(
    _ owner: BusName, _ message: OutgoingMessage, timeout: Duration = OwnerCalls.timeout, _ handler: @escaping Handler
  ) throws(DBusError) {
    try send(message, for: owner, timeout: timeout, OwnerCalls.asSeenByCallers, handler)
  }

  /// Sends to the bus a call that must precede the one to `owner`, and calls `handler` once, with the bus's answer
  /// or with `OwnerGone`.
  /// - Throws: as `ask` does.
  func askBus(for owner: BusName, _ message: OutgoingMessage, _ handler: @escaping Handler) throws(DBusError) {
    try send(message, for: owner, timeout: OwnerCalls.timeout, { $0 }, handler)
  }

  private func send(
    _ message: OutgoingMessage, for owner: BusName, timeout: Duration,
    _ seen: @escaping (Result<Message, DBusError>) -> Result<Message, DBusError>, _ handler: @escaping Handler
  ) throws(DBusError) {
    lastNumber += 1
    let number = lastNumber
    try connection.call(message, timeout: timeout) { [weak self] result in
      self?.finish(owner, number, seen(result))
    }
    underWay[owner, default: [:]][number] = handler
  }

  /// Ends every call to `owner`.
  func ownerLeft(_ owner: BusName) {
    guard let calls = underWay.removeValue(forKey: owner) else { return }
    for (_, handler) in calls.sorted(by: { $0.key < $1.key }) { handler(.failure(.ownerGone)) }
  }

  private func finish(_ owner: BusName, _ number: UInt64, _ result: Result<Message, DBusError>) {
    guard let handler = underWay[owner]?.removeValue(forKey: number) else { return }
    if underWay[owner]?.isEmpty == true { underWay[owner] = nil }
    handler(result)
  }

  /// What the bus says in the owner's place is that the owner cannot be asked.
  private static func asSeenByCallers(_ result: Result<Message, DBusError>) -> Result<Message, DBusError> {
    switch result {
    case .success(let reply) where reply.kind == .error && reply.sender == .bus: .failure(.ownerGone)
    case .failure(let error) where error.name == .timeout:
      .failure(.ownerTimeout)
    default: result
    }
  }
}

/// An error that an owner replied, which is passed on as it is.
///
/// Errors have to be sendable, and messages are not: this one stays with the thread of the loop, as they do.
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

  /// What the owner replied to `Get` of `key`.
  /// - Throws: `OwnerRefusal`, or `DBusError` for what prevented a reply, or a reply that holds no value.
  func valueNow(of key: Key) throws -> FetchedValue {
    let reply = try get()
    if let error = reply.error, error.name == .unknownProperty { return .nothing }
    guard reply.kind != .error else { throw OwnerRefusal(reply: reply) }
    guard reply.signatureText == "v" else {
      throw DBusError(Focus1.typeMismatch, "the owner of \(key) replied to Get without a value")
    }
    return try reply.withBody { bytes throws(DBusError) in
      var reader = BodyReader(bytes)
      guard (try? reply.checkLimits(bytes)) != nil, let value = try? reader.variant(limit: OwnerAnswer.valueLimit)
      else { return .tooLarge }
      return .value(value)
    }
  }
}

/// A value that an owner was asked for.
enum FetchedValue {
  case value(MarshalledValue)
  /// The owner says that it is nil.
  case nothing
  /// The value is past a limit, and counts as nil.
  case tooLarge
}

extension DBusError {
  /// The owner did not answer in time.
  static let ownerTimeout = DBusError(.timeout, "the field's owner did not reply within 5 seconds")
  /// The owner left, or cannot be asked.
  static let ownerGone = DBusError(Focus1.ownerGone, "the field's owner has left the bus, or cannot be called")
}

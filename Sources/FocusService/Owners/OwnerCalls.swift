internal import DBus
internal import DBusTypes

/// The calls to owners that are under way: bounded in number and time, and ended when an owner leaves.
final class OwnerCalls {
  /// What an owner's answer, an error of its own included, or the lack of one is handed to.
  typealias Handler = (Result<Message, DBusError>) -> Void

  /// How long an owner may take.
  static let timeout = Duration.seconds(5)
  /// How many calls to one owner may be under way.
  static let limit = 256

  private let connection: Connection
  private var underWay: [BusName: [UInt64: Handler]] = [:]
  private var lastNumber: UInt64 = 0

  init(_ connection: Connection) { self.connection = connection }

  /// Sends `message` to `owner` and has `handler` called once, with the reply or with `Timeout` or `OwnerGone`.
  /// - Throws: `DBusError.limitsExceeded` where too many calls to the owner are under way; then `handler` is not called.
  func call(
    _ owner: BusName, _ message: Message, timeout: Duration = OwnerCalls.timeout, _ handler: @escaping Handler
  ) throws(DBusError) {
    guard underWay[owner, default: [:]].count < OwnerCalls.limit else {
      throw DBusError(
        .limitsExceeded, "\(OwnerCalls.limit) calls to the field's owner are under way already, which is the most")
    }
    lastNumber += 1
    let number = lastNumber
    try connection.call(message, timeout: timeout) { [weak self] result in
      self?.finish(owner, number, OwnerCalls.asSeenByCallers(result))
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

extension DBusError {
  /// The owner did not answer in time.
  static let ownerTimeout = DBusError(.timeout, "the field's owner did not answer within 5 seconds")
  /// The owner left, or cannot be asked.
  static let ownerGone = DBusError(.ownerGone, "the field's owner has left the bus, or cannot be asked")
}

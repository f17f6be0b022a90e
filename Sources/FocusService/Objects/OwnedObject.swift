internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// A registrant's own object, at its address: what goes on between the daemon and it, and not what it is, which the model says.
final class OwnedObject {
  /// What waits for the value of a key, and is handed what the owner has answered.
  typealias Waiter = (Result<Message, any Error>) -> Void

  /// A value that differs from the one in the model, as far as is known.
  private enum Unknown {
    /// The next read asks for it.
    case stale
    /// The owner is being asked for it; again, for the `next`, if it has said meanwhile that the value is another once more.
    case asked(waiting: [Waiter], next: [Waiter]?)
  }

  let owner: BusName
  let path: ObjectPath
  /// What has the bus pass on what it emits.
  let following: Following
  /// Whether its owner has left: nothing more is asked of it.
  var isGone = false
  /// The fields that the object is behind.
  var fields: Set<FieldID> = []
  /// The fields from which the turn has taken it away.
  var lostFields: Set<FieldID> = []
  /// The looks at it that are under way, or that have ended in this turn.
  var looks: [Look] = []
  private var unknown: [Key: Unknown] = [:]
  /// What clients want of it, in the order in which they sent it.
  private(set) var requests: [Request] = []
  /// How many requests of each client have not been sent, examinations aside.
  private var unsent: [BusName: Int] = [:]
  /// The keys whose values do not fit and that the log has named.
  var named: Set<Key> = []
  /// Whether it has told of values since the turn has taken it away from a field, which misses them if it is there again.
  private(set) var hasToldInVain = false

  init(owner: BusName, path: ObjectPath, _ following: Following) {
    (self.owner, self.path, self.following) = (owner, path, following)
    following.count += 1
  }

  /// A call of it.
  func methodCall(
    _ interface: InterfaceName, _ member: MemberName, _ body: MessageBody
  ) throws(DBusError) -> OutgoingMessage {
    try .methodCall(to: owner, path: path, interface: interface, member: member, body: body)
  }

  /// Whether nobody waits for anything of it.
  var isIdle: Bool {
    looks.isEmpty && requests.isEmpty && !unknown.values.contains { if case .asked = $0 { true } else { false } }
  }

  /// Drops what is under way: who waits for an answer holds the object, which holds who waits.
  func end() { (following.state, looks, unknown, requests) = (.none, [], [:], []) }
}

/// What the model holds of it, and what it does not.
extension OwnedObject {
  /// Whether the owner has to be asked before the value of `key`, which it keeps the daemon told of, is known.
  func isOutdated(_ key: Key) -> Bool { unknown[key] != nil }

  /// Whether the value of `key` is not known, and its owner is not being asked for it.
  func isStale(_ key: Key) -> Bool { if case .stale? = unknown[key] { true } else { false } }

  /// Notes that the value of `key` is another now: the next read asks for it, or the owner is asked once more.
  func lostTrack(of key: Key) {
    if case .asked(let waiting, let next)? = unknown[key] {
      unknown[key] = .asked(waiting: waiting, next: next ?? [])
    } else {
      unknown[key] = .stale
    }
  }

  /// Adds `waiter` to those who wait for the value of `key`.
  /// - Returns: whether the owner must be asked for it, with `endFetch` to follow.
  func wait(for key: Key, _ waiter: Waiter? = nil) -> Bool {
    let more = waiter.map { [$0] } ?? []
    guard case .asked(let waiting, let next)? = unknown[key] else {
      unknown[key] = .asked(waiting: more, next: nil)
      return true
    }
    unknown[key] = next.map { .asked(waiting: waiting, next: $0 + more) } ?? .asked(waiting: waiting + more, next: nil)
    return false
  }

  /// Ends the question for `key`.
  /// - Returns: who has waited for it, and whether the owner must be asked once more.
  func endFetch(_ key: Key, hasValue: Bool) -> (waiting: [Waiter], asksAgain: Bool) {
    guard case .asked(let waiting, let next)? = unknown[key] else { return ([], false) }
    unknown[key] = next.map { .asked(waiting: $0, next: nil) } ?? (hasValue ? nil : .stale)
    return (waiting, next != nil)
  }

  /// Notes that the owner has told values of `keys`: what it answers from now on is as new.
  func told(_ keys: some Sequence<Key>) {
    for key in keys {
      guard case .asked(let waiting, let next)? = unknown[key] else {
        unknown[key] = nil
        continue
      }
      unknown[key] = .asked(waiting: waiting + (next ?? []), next: nil)
    }
  }

  /// Forgets all of keys that it does not have any more, unless its owner is being asked for them.
  func forget(except keys: some Sequence<Key>) {
    let kept = Set(keys)
    named.formIntersection(kept)
    unknown = unknown.filter { key, state in
      if case .asked = state { true } else { kept.contains(key) }
    }
  }

  /// Notes that it has told of values.
  func noteTold() { hasToldInVain = hasToldInVain || !lostFields.isEmpty }

  /// Ends a turn.
  func endTurn() { (lostFields, hasToldInVain) = ([], false) }
}

/// The queue: what one client sends reaches the object in that order, and one write of a key follows another.
extension OwnedObject {
  /// Whether the owner is being asked whether a value is still that of a revision: nothing may come between that and the write.
  private var isComparing: Bool { requests.contains(where: \.isComparing) }

  /// Whether a call of `client` must wait: it would overtake what it has sent before, or make a write lose what it changes.
  func isQueueing(for client: BusName) -> Bool { unsent[client] != nil || isComparing }

  /// Adds `request` behind all others.
  func add(_ request: Request) {
    requests.append(request)
    if request.isOrdered { unsent[request.client, default: 0] += 1 }
  }

  /// Notes that the owner has been asked to do `request`.
  func didSend(_ request: Request) {
    guard !request.isSent else { return }
    request.stage = .sent
    guard request.isOrdered, let count = unsent[request.client] else { return }
    unsent[request.client] = count > 1 ? count - 1 : nil
  }

  /// Takes out `request`, whose end nothing waits for.
  func remove(_ request: Request) {
    didSend(request)
    guard let place = requests.firstIndex(where: { $0 === request }) else { return }
    requests.remove(at: place)
  }

  /// The first request that may begin now, or nil.
  var next: Request? {
    guard !isGone, !isComparing, requests.contains(where: { $0.stage == .waiting }) else { return nil }
    var keys: Set<Key> = []
    var blocked: Set<BusName> = []
    var (hasWrites, hasExamination) = (false, false)
    for request in requests {
      let mayBegin: Bool
      switch request.work {
      case .write(let write):
        mayBegin = !keys.contains(write.path.key) && !blocked.contains(request.client)
        // One that waits for its client's turn holds up no other client.
        if request.stage != .waiting { keys.insert(write.path.key) }
        hasWrites = true
      case .command: mayBegin = !blocked.contains(request.client)
      case .examination:
        mayBegin = !hasWrites && !hasExamination
        hasExamination = true
      }
      if request.stage == .waiting, mayBegin { return request }
      guard request.isOrdered, !request.isSent else { continue }
      blocked.insert(request.client)
      // Behind the first request of a client that must wait, all of that client's do.
      if hasWrites, blocked.count == unsent.count { return nil }
    }
    return nil
  }
}

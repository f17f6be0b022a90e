internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusContract
internal import FocusModel

/// What a client wants of an owner's object, from its arrival to its end.
final class Request {
  enum Work {
    case write(BoundWrite)
    /// A call that is passed on, in the order of its client's calls or at once; nil when it is: its owner may take its time.
    case command(OutgoingMessage?, isOrdered: Bool)
    /// A look at what the field's object has now.
    case examination(FieldID, ObjectChoice)
  }

  enum Stage {
    case waiting
    /// The owner is asked for what the write depends on.
    case fetching
    /// The owner has been asked to do it.
    case sent
    case ended
  }

  let object: OwnedObject
  let client: BusName
  let reply: PendingReply
  private(set) var work: Work
  let deadline = SuspendingClock.now + OwnerCalls.timeout
  /// What it takes of the owner's allowance until it ends.
  var load: Load
  var stage = Stage.waiting
  /// Ends the request in time if it waits behind others.
  var timer: TimerID?

  init(_ work: Work, of object: OwnedObject, for client: BusName, _ reply: PendingReply, _ load: Load) {
    (self.work, self.object, self.client, self.reply, self.load) = (work, object, client, reply, load)
  }

  /// Whether nothing of it is left to be sent that later calls of the client must not overtake.
  var isSent: Bool { stage == .sent || stage == .ended }

  /// Whether later calls of the client wait for it to be sent.
  var isOrdered: Bool {
    switch work {
    case .write: true
    case .command(_, let isOrdered): isOrdered
    case .examination: false
    }
  }

  /// Whether it is a write for which the owner is asked whether the value is still that of a revision.
  var isComparing: Bool {
    guard stage == .fetching, case .write(let write) = work else { return false }
    return write.condition.revision != nil
  }

  /// Keeps nothing of a call that is passed on.
  func dropMessage() { if case .command(_, let isOrdered) = work { work = .command(nil, isOrdered: isOrdered) } }

  /// How long the owner may still take.
  var timeLeft: Duration { max(.milliseconds(1), deadline - SuspendingClock.now) }
}

/// The queue of what clients want of an object is worked off.
extension FocusService {
  /// Adds what `client` wants of `object` to the queue; `reply` is given when that has ended.
  /// - Throws: `DBusError.limitsExceeded` if too much waits for the owner.
  func enqueue(
    _ work: Request.Work, for client: BusName, _ reply: PendingReply, _ load: Load, at object: OwnedObject
  ) throws(DBusError) {
    guard !object.isGone else { throw .ownerGone }
    try ownerCalls.enter(object.owner, load)
    let request = Request(work, of: object, for: client, reply, load)
    // A command with nothing queued before it is sent at once.
    if case .command(let message?, let isOrdered) = work, !isOrdered || !object.isQueueing(for: client) {
      return send(message, request)
    }
    object.add(request)
    proceed(with: object)
    guard request.stage == .waiting, request.isOrdered else { return }
    request.timer = loop.schedule(after: OwnerCalls.timeout) { [weak self] in
      self?.end(request) { throw DBusError.ownerTimeout }
    }
  }

  /// Begins every request that may begin now.
  func proceed(with object: OwnedObject) {
    while let request = object.next {
      switch request.work {
      case .write(let write):
        request.stage = .fetching
        carryOut(write, request) { try begin(write, request) }
      case .command(let message?, _): send(message, request)
      case .command(nil, _): object.didSend(request)
      case .examination(let id, let choice):
        object.didSend(request)
        begin(Look(at: object, choice, for: .examination(id, request)))
      }
    }
  }

  /// Ends a request, unless it has ended, with what `answer` returns or throws, and begins what has waited for that.
  func end(_ request: Request, _ answer: () throws -> MessageBody?) {
    guard request.stage != .ended else { return }
    let object = request.object
    object.remove(request)
    request.stage = .ended
    if let timer = request.timer { loop.cancel(timer) }
    objects.requestEnded(at: object)
    ownerCalls.leave(object.owner, request.load)
    request.reply.answer(answer)
    proceed(with: object)
  }

  /// Ends what waits for `owner`, who has left.
  func endRequests(to owner: BusName) {
    for object in objects.all(of: owner) {
      object.isGone = true
      // What is under way ends with its call.
      for request in object.requests where request.stage == .waiting { end(request) { throw DBusError.ownerGone } }
    }
  }
}

/// Commands are passed on.
extension FocusService {
  /// Passes a call with so many descriptors on to `object`; if `isOrdered`, behind what its client has sent there before.
  /// - Throws: `DBusError.limitsExceeded` if too much waits for the owner.
  func pass(
    _ message: OutgoingMessage, isOrdered: Bool = true, descriptors: Int = 0, from client: BusName,
    _ reply: PendingReply, to object: OwnedObject
  ) throws(DBusError) {
    // What is passed on at once does not wait, but for its reply.
    let load =
      isOrdered && object.isQueueing(for: client)
      ? Load(calls: 1, bytes: message.bodySize, descriptors: descriptors) : reply.isWanted ? .call : .none
    try enqueue(.command(message, isOrdered: isOrdered), for: client, reply, load, at: object)
  }

  private func send(_ message: OutgoingMessage, _ request: Request) {
    let object = request.object
    object.remove(request)
    request.dropMessage()
    do throws(DBusError) {
      let timeLeft = request.timeLeft
      guard timeLeft > OwnerCalls.leastTime else { throw .ownerTimeout }
      guard request.reply.isWanted else {
        var message = message
        message.disableReply()
        try connection.send(message)
        if request.isOrdered { checkActivity(of: object) }
        return end(request) { .empty }
      }
      try ownerCalls.ask(message, timeout: timeLeft) { [weak self] answer in
        guard let self else { return }
        if request.isOrdered, case .success = answer { checkActivity(of: object) }
        end(request) {
          request.reply.forward(try answer.get())
          return nil
        }
      }
      guard request.load != .call else { return }
      // What has been passed on waits no more.
      ownerCalls.leave(object.owner, request.load - .call)
      request.load = .call
      if let timer = request.timer { loop.cancel(timer) }
    } catch {
      end(request) { throw error }
    }
  }
}

internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusContract
internal import FocusModel

/// What a client wants of an owner's object, from its arrival to its end.
final class Request {
  enum Work {
    case write(BoundWrite)
    /// A call that is passed on.
    case command(OutgoingMessage)
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
  let work: Work
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
    if case .examination = work { false } else { true }
  }

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
    try ownerCalls.enter(object.owner, load)
    let request = Request(work, of: object, for: client, reply, load)
    object.add(request)
    proceed(with: object)
    guard request.stage == .waiting else { return }
    request.timer = loop.schedule(after: OwnerCalls.timeout) { [weak self] in
      self?.end(request, .failure(DBusError.ownerTimeout))
    }
  }

  /// Begins every request that may begin now.
  func proceed(with object: OwnedObject) {
    while let request = object.next {
      switch request.work {
      case .write(let write):
        request.stage = .fetching
        carryOut(write, request) { try begin(write, request) }
      case .command(let message): send(message, request)
      case .examination(let id, let choice):
        object.didSend(request)
        begin(Look(at: object, choice, for: .examination(id, request)))
      }
    }
  }

  /// Ends a request, unless it has ended, and begins what has waited for that.
  func end(_ request: Request, _ result: Result<MessageBody, any Error>) {
    guard request.stage != .ended else { return }
    let object = request.object
    object.remove(request)
    if let timer = request.timer { loop.cancel(timer) }
    ownerCalls.leave(object.owner, request.load)
    if case .write(let write) = request.work, case .success = result {
      checkActivity(of: object, except: write.path.key)
    }
    request.reply.answer { try result.get() }
    proceed(with: object)
  }

  /// Ends what waits for `owner`, who has left.
  func endRequests(to owner: BusName) {
    for object in objects.all(of: owner) {
      object.isGone = true
      // What is under way ends with its call.
      for request in object.requests where request.stage == .waiting {
        end(request, .failure(DBusError.ownerGone))
      }
    }
  }
}

/// Commands: they are passed on, behind what their client has sent to the object before.
extension FocusService {
  /// Passes a call with so many file descriptors on to `object`.
  /// - Throws: `DBusError.limitsExceeded` if too much waits for the owner.
  func pass(
    _ message: OutgoingMessage, descriptors: Int, from client: BusName, _ reply: PendingReply, to object: OwnedObject
  ) throws(DBusError) {
    guard object.isQueueing(for: client) else {
      guard reply.isWanted else { return try sendOnly(message, to: object) }
      return try ownerCalls.call(object.owner, message) { [weak self] answer in
        self?.commandEnded(object, reply, answer)
      }
    }
    let load = Load(calls: 1, bytes: message.bodySize, descriptors: descriptors)
    try enqueue(.command(message), for: client, reply, load, at: object)
  }

  private func sendOnly(_ message: OutgoingMessage, to object: OwnedObject) throws(DBusError) {
    try connection.send(message)
    checkActivity(of: object)
  }

  /// Sends a command that has waited.
  private func send(_ message: OutgoingMessage, _ request: Request) {
    let object = request.object
    object.didSend(request)
    do throws(DBusError) {
      guard request.timeLeft > OwnerCalls.leastTime else { throw DBusError.ownerTimeout }
      guard request.reply.isWanted else {
        try sendOnly(message, to: object)
        return end(request, .success(.empty))
      }
      try ownerCalls.ask(message, timeout: request.timeLeft) { [weak self] answer in
        guard let self, request.stage != .ended else { return }
        object.remove(request)
        ownerCalls.leave(object.owner, request.load)
        commandEnded(object, request.reply, answer)
      }
      // What has been passed on waits no more.
      ownerCalls.leave(object.owner, Load(bytes: request.load.bytes, descriptors: request.load.descriptors))
      request.load = .call
      if let timer = request.timer { loop.cancel(timer) }
    } catch {
      end(request, .failure(error))
    }
  }

  private func commandEnded(_ object: OwnedObject, _ reply: PendingReply, _ answer: Result<Message, DBusError>) {
    switch answer {
    case .success(let answer):
      checkActivity(of: object)
      reply.forward(answer)
    case .failure(let error): reply.fail(error)
    }
  }
}

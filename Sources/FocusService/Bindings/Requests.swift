internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusContract
internal import FocusModel

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
      try ownerCalls.ask(object.owner, message, timeout: request.timeLeft) { [weak self] answer in
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

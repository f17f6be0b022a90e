internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusContract
internal import FocusModel

/// A write to a bound binding, from its arrival to its end.
final class BoundWrite {
  let value: MarshalledValue
  let path: BindingPath
  let condition: WriteCondition
  let client: BusName
  let object: OwnedObject
  let deadline: SuspendingClock.Instant
  /// The binding's revision when the owner was asked.
  var revisionBefore: UInt64?
  /// Ends the write in time if it waits behind others.
  var timer: TimerID?
  private var handler: ((Result<Reading, any Error>) -> Void)?

  init(
    _ value: MarshalledValue, to path: BindingPath, of object: OwnedObject, if condition: WriteCondition,
    by client: BusName, _ handler: @escaping (Result<Reading, any Error>) -> Void
  ) {
    self.value = value
    self.path = path
    self.object = object
    self.condition = condition
    self.client = client
    self.deadline = SuspendingClock.now + OwnerCalls.timeout
    self.handler = handler
  }

  var key: Key { path.key }

  var isEnded: Bool { handler == nil }

  /// How long the owner may still take.
  var timeLeft: Duration { max(.milliseconds(1), deadline - SuspendingClock.now) }

  /// Hands the outcome over, the first time that it is called.
  func end(_ result: Result<Reading, any Error>) {
    let handler = handler
    self.handler = nil
    handler?(result)
  }
}

/// Writing: stored bindings at once, bound ones by asking the owner, one write of a binding after another.
extension FocusService {
  /// What a write does next.
  ///
  /// Each decision returns a step, so that every write has an outcome.
  private enum Step {
    /// Updates the daemon's value from the owner's object.
    case makeCurrent(then: Decision<Message, any Error>)
    /// Asks the owner to take the value.
    case ask(OutgoingMessage, then: Decision<Message, DBusError>)
    /// Asks the owner for the value that it has now.
    case fetch(then: Decision<Message, any Error>)
    /// Ends the write.
    case end(Result<Reading, any Error>)
  }

  /// What to do after an answer, or the lack of one.
  private typealias Decision<Answer, Failure: Error> = (FocusService, Result<Answer, Failure>) -> Step

  /// Writes to `path` at `place` and hands what is there afterwards to `shape` for the reply.
  /// - Throws: as `FocusModel.write` does; `DBusError.limitsExceeded` if too many calls wait for the owner.
  /// - Returns: the results, or nil if the reply is given later.
  func write(
    _ value: MarshalledValue, to path: BindingPath, at place: Place, if condition: WriteCondition = WriteCondition(),
    for call: Call, _ shape: @escaping (Reading) throws -> MessageBody
  ) throws -> MessageBody? {
    let holder = try model.holder(of: path, at: place, if: condition, by: call.client)
    guard let object = objects[holder], object.property(path.key) != nil else {
      let mayBeMerged = !call.reply.showsValues
      let before = mayBeMerged ? model.fields[holder]?.bindings[path.key]?.value : nil
      switch try model.write(value, to: path, at: place, if: condition, by: call.client) {
      case .written(let reading, let changes):
        if mayBeMerged {
          emit(changes, ofSetting: path.key, of: holder, before: before, by: call.client)
        } else {
          emit(changes)
        }
        return try shape(reading)
      case .forwarded: throw DBusError.ownerGone
      }
    }
    let (owner, reply) = (object.owner, call.reply)
    let bytes = value.size
    try ownerCalls.enter(owner, bytes: bytes)
    guard object.traffic.examination == nil else {
      object.traffic.later.append { [self] in
        ownerCalls.leave(owner, bytes: bytes)
        reply.answer { try self.write(value, to: path, at: place, if: condition, for: call, shape) }
      }
      return nil
    }
    let write = BoundWrite(value, to: path, of: object, if: condition, by: call.client) { [ownerCalls] result in
      ownerCalls.leave(owner, bytes: bytes)
      reply.answer { try shape(try result.get()) }
    }
    write.timer = loop.schedule(after: OwnerCalls.timeout) { write.end(.failure(DBusError.ownerTimeout)) }
    object.traffic.writes[path.key, default: []].append(write)
    if object.traffic.writes[path.key]?.count == 1 { take(firstStep(of: write), of: write) }
    return nil
  }

  private func take(_ step: Step, of write: BoundWrite) {
    switch step {
    case .makeCurrent(let decide): makeCurrent(write.key, of: write.object, answering(write, decide))
    case .fetch(let decide): fetch(write.key, of: write.object, timeout: write.timeLeft, answering(write, decide))
    case .ask(let message, let decide):
      let answered = answering(write, decide)
      do throws(DBusError) {
        try ownerCalls.ask(write.object.owner, message, timeout: write.timeLeft, answered)
      } catch {
        answered(.failure(error))
      }
    case .end(let result): end(write, result)
    }
  }

  /// What an answer is handed to: it takes the step that `decide` returns.
  private func answering<Answer, Failure>(
    _ write: BoundWrite, _ decide: @escaping Decision<Answer, Failure>
  ) -> (Result<Answer, Failure>) -> Void {
    { [weak self] answer in
      guard let self else { return write.end(.failure(DBusError.ownerGone)) }
      take(decide(self, answer), of: write)
    }
  }

  /// Updates the value if the write depends on it, then asks the owner.
  private func firstStep(of write: BoundWrite) -> Step {
    let dependsOnValue = !write.path.pointer.tokens.isEmpty || write.condition.revision != nil
    guard dependsOnValue, !write.isEnded, write.object.mustFetch(write.key) else { return asking(for: write) }
    return .makeCurrent { service, result in
      if case .failure(let error) = result { return .end(.failure(error)) }
      return service.asking(for: write)
    }
  }

  private func asking(for write: BoundWrite) -> Step {
    let (key, object) = (write.key, write.object)
    // A write that was reported as timed out should not take effect later.
    guard !write.isEnded, write.timeLeft > OwnerCalls.leastTime else { return .end(.failure(DBusError.ownerTimeout)) }
    do {
      guard let id = object.field else { throw DBusError.ownerGone }
      write.revisionBefore = model.fields[id]?.bindings[key]?.revision
      let outcome = try model.write(
        write.value, to: write.path, at: .field(id), isCurrent: !object.mustFetch(key), if: write.condition,
        by: write.client)
      switch outcome {
      case .written(let reading, let changes):
        emit(changes)
        return .end(.success(reading))
      case .forwarded(_, let whole):
        let message = try OutgoingMessage.methodCall(
          to: object.owner, path: object.path, interface: .properties, member: MemberName(known: "Set"),
          body: .setting(key, whole))
        return .ask(message) { _, result in FocusService.asked(for: write, result) }
      }
    } catch {
      return .end(.failure(error))
    }
  }

  /// Asks for the value that the owner has now: it may have changed it, with or without a signal.
  private static func asked(for write: BoundWrite, _ result: Result<Message, DBusError>) -> Step {
    // Whether an owner that did not answer will still take the value is not known.
    if case .failure(let error) = result, error.name == .timeout { write.object.traffic.stale.insert(write.key) }
    do { try result.accepted() } catch { return .end(.failure(error)) }
    guard write.object.reads(write.key) else {
      return .end(write.object.field.map { .success(.hidden($0)) } ?? .failure(DBusError.ownerGone))
    }
    return .fetch { service, result in
      if case .failure = result { write.object.traffic.stale.insert(write.key) }
      return .end(service.reading(after: write, result))
    }
  }

  private func reading(after write: BoundWrite, _ result: Result<Message, any Error>) -> Result<Reading, any Error> {
    Result {
      _ = try result.get()
      guard let id = write.object.field, let field = model.fields[id] else { throw DBusError.ownerGone }
      // The owner has taken the value, and says that the key is nil now.
      guard field.bindings[write.key] != nil else { return .hidden(id) }
      let reading = try model.reading(afterWriteTo: write.path, of: id)
      // What an owner makes of a value of a sensitive field is not for everyone.
      guard !field.isVisible(to: write.client) else { return reading }
      // Nor whether it was there before: each write takes one revision.
      if reading.revision == write.revisionBefore { model.takeRevision(of: write.key, in: id) }
      return reading.hidden
    }
  }

  /// Ends a write, unless it has ended, and begins the next of the same binding.
  private func end(_ write: BoundWrite, _ result: Result<Reading, any Error>) {
    write.end(result)
    if let timer = write.timer { loop.cancel(timer) }
    let (key, traffic) = (write.key, write.object.traffic)
    guard traffic.writes[key]?.first === write else { return }
    traffic.writes[key]?.removeFirst()
    while let next = traffic.writes[key]?.first, next.isEnded { traffic.writes[key]?.removeFirst() }
    guard let next = traffic.writes[key]?.first else {
      traffic.writes[key] = nil
      return writesMayHaveEnded(traffic)
    }
    take(firstStep(of: next), of: next)
  }

  /// Ends the writes that wait for an owner who left.
  func failWrites(to owner: BusName) {
    for id in model.fields(at: owner) {
      guard let traffic = objects[id]?.traffic else { continue }
      let writes = traffic.writes.values.flatMap { $0 }
      traffic.writes = [:]
      for write in writes { end(write, .failure(DBusError.ownerGone)) }
      if let examination = traffic.examination, !examination.isLooking {
        end(examination, .failure(DBusError.ownerGone))
      }
    }
  }
}

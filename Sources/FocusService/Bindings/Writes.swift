internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusContract
internal import FocusModel

/// Writing: stored bindings at once, bound ones by asking the owner, one write of a binding after another.
extension FocusService {
  /// Writes to `path` at `place`.
  /// - Throws: as `FocusModel.write` does; `DBusError.limitsExceeded` if too many calls wait for the owner.
  /// - Returns: the results, or nil if the reply is given later.
  func write(
    _ value: MarshalledValue, to path: BindingPath, at place: Place, if condition: WriteCondition = WriteCondition(),
    for call: Call, _ answer: BoundWrite.Answer
  ) throws -> MessageBody? {
    let holder = try model.holder(of: path, at: place, if: condition, by: call.client)
    guard let object = objects[holder], model.fields[holder]?.object?.properties[path.key] != nil else {
      switch try model.write(value, to: path, at: .field(holder), if: condition, by: call.client) {
      case .written(let reading): return try results(ofWriting: reading, answer)
      case .forwarded: throw DBusError.ownerGone
      }
    }
    let write = BoundWrite(value, to: path, at: place, of: holder, if: condition, answer)
    try enqueue(.write(write), for: call.client, call.reply, Load(calls: 1, bytes: value.size), at: object)
    return nil
  }

  private func results(ofWriting reading: Reading, _ answer: BoundWrite.Answer) throws -> MessageBody {
    switch answer {
    case .nothing: .empty
    case .reading: try .written(checked(reading))
    }
  }
}

/// What a write to a bound binding does, one step after another.
extension FocusService {
  /// What a write does next.
  ///
  /// Each decision returns a step, so that every write has an outcome.
  enum WriteStep {
    /// Updates the daemon's value from the owner's object; `madeCurrent` follows.
    case makeCurrent
    /// Asks the owner to take the value; `wasSet` follows.
    case set(OutgoingMessage)
    /// Asks the owner for the value that it has now; `wasRead` follows.
    case read
    /// Ends the write.
    case end(Result<Reading, any Error>)
  }

  func carryOut(_ step: WriteStep, _ request: Request, _ write: BoundWrite, _ object: OwnedObject) {
    let key = write.path.key
    switch step {
    case .makeCurrent:
      request.stage = .fetching
      makeCurrent(key, in: write.field, of: object, for: .write(request, write))
    case .set(let message):
      do throws(DBusError) {
        try ownerCalls.ask(object.owner, message, timeout: request.timeLeft) { [weak self] answer in
          guard let self else { return }
          carryOut(wasSet(write, object, answer, request), request, write, object)
        }
      } catch {
        return carryOut(.end(.failure(error)), request, write, object)
      }
      object.didSend(request)
      proceed(with: object)
    case .read:
      ask(for: key, of: object, timeout: request.timeLeft) { [weak self] answer in
        guard let self else { return }
        carryOut(wasRead(write, object, answer, request), request, write, object)
      }
    case .end(let result):
      end(request, of: object, Result { try results(ofWriting: result.get(), write.answer) })
    }
  }

  /// Updates the value if the write depends on it, then asks the owner.
  func firstStep(of write: BoundWrite, _ request: Request, _ object: OwnedObject) -> WriteStep {
    let dependsOnValue = !write.path.pointer.tokens.isEmpty || write.condition.revision != nil
    guard dependsOnValue, objectToAsk(for: write.path.key, in: write.field) != nil else {
      return setting(write, request, object)
    }
    return .makeCurrent
  }

  func madeCurrent(
    _ write: BoundWrite, of request: Request, _ object: OwnedObject, _ answer: Result<Message, any Error>
  ) -> WriteStep {
    if case .failure(let error) = answer { return .end(.failure(error)) }
    return setting(write, request, object)
  }

  private func setting(_ write: BoundWrite, _ request: Request, _ object: OwnedObject) -> WriteStep {
    let key = write.path.key
    do {
      // A write that was reported as timed out should not take effect later.
      guard request.stage != .ended, request.timeLeft > OwnerCalls.leastTime else { throw DBusError.ownerTimeout }
      guard objects[write.field] === object else { throw DBusError.ownerGone }
      write.revisionBefore = model.fields[write.field]?.bindings[key]?.revision
      let outcome = try model.write(
        write.value, to: write.path, at: .field(write.field), if: write.condition, by: request.client)
      guard case .forwarded(_, let whole) = outcome else { throw DBusError.ownerGone }
      write.asked = whole
      return .set(
        try .methodCall(
          to: object.owner, path: object.path, interface: .properties, member: MemberName(known: "Set"),
          body: .setting(key, whole)))
    } catch ModelError.unknownProperty where write.place == .focused {
      return .end(.failure(ModelError.notFocused(key)))
    } catch {
      return .end(.failure(error))
    }
  }

  /// Asks for the value that the owner has now, unless it has told that this is what it was asked to take: it may have made
  /// another of it, with or without a signal.
  private func wasSet(
    _ write: BoundWrite, _ object: OwnedObject, _ answer: Result<Message, DBusError>, _ request: Request
  ) -> WriteStep {
    let key = write.path.key
    // Whether an owner that did not answer will still take the value is not known.
    if case .failure(let error) = answer, error.name == .timeout { object.lostTrack(of: key) }
    do { try answer.accepted() } catch { return .end(.failure(error)) }
    guard objects[write.field] === object else { return .end(.failure(DBusError.ownerGone)) }
    guard let property = model.fields[write.field]?.object?.properties[key], property.isReadable else {
      return .end(.success(.hidden(write.field)))
    }
    guard let told = write.told, told == write.asked, !property.isReadEachTime else { return .read }
    return .end(.success(reading(after: write, by: request.client, isKnown: true)))
  }

  private func wasRead(
    _ write: BoundWrite, _ object: OwnedObject, _ answer: Result<Message, any Error>, _ request: Request
  ) -> WriteStep {
    let isKnown = (try? answer.get()) != nil
    if !isKnown { object.lostTrack(of: write.path.key) }
    guard objects[write.field] === object else { return .end(.failure(DBusError.ownerGone)) }
    return .end(.success(reading(after: write, by: request.client, isKnown: isKnown)))
  }

  /// What the binding holds after `write`, which the owner has taken; if that is not known, what was written.
  private func reading(after write: BoundWrite, by client: BusName, isKnown: Bool) -> Reading {
    let (id, key) = (write.field, write.path.key)
    guard let field = model.fields[id], field.isVisible(to: client) else {
      // Nor is it shown whether the value was there before: each write takes one revision.
      if isKnown, model.fields[id]?.bindings[key]?.revision == write.revisionBefore {
        model.takeRevision(of: key, in: id)
      }
      return .hidden(id)
    }
    // The owner has taken the value, and says that the key is nil now.
    if isKnown, field.bindings[key] == nil { return .hidden(id) }
    if isKnown, let reading = try? model.reading(afterWriteTo: write.path, of: id) { return reading }
    return model.unconfirmedReading(of: write.asked ?? write.value, afterWriteTo: write.path, of: id)
  }
}

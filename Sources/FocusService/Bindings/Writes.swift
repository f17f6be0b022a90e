internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusContract
internal import FocusModel

/// A write to a bound binding.
final class BoundWrite {
  let value: MarshalledValue
  let path: BindingPath
  let condition: WriteCondition
  /// Where the client has written.
  let place: Place
  /// The field whose binding it is.
  let field: FieldID
  /// Whether the reply shows what the binding holds afterwards: that of `Bindings.Write`, not that of `Properties.Set`.
  let isShown: Bool
  /// The whole value that the owner was asked to take.
  var asked: MarshalledValue?
  /// Who had the field when the owner was asked.
  var registrant: BusName?
  /// Whether the writer might see the value then.
  var isVisible = false
  /// The binding's revision when the owner was asked.
  var revisionBefore: UInt64?
  /// What the owner has told of the key since it was asked; nil if nothing.
  var told: MarshalledValue?

  init(
    _ value: MarshalledValue, to path: BindingPath, at place: Place, of field: FieldID,
    if condition: WriteCondition, isShown: Bool
  ) {
    (self.value, self.path, self.place, self.field) = (value, path, place, field)
    (self.condition, self.isShown) = (condition, isShown)
  }
}

/// Writing: stored bindings at once, bound ones by asking the owner, one write of a binding after another.
extension FocusService {
  /// Writes to `path` at `place`.
  /// - Throws: as `FocusModel.write` does; `DBusError.limitsExceeded` if too many calls wait for the owner.
  /// - Returns: the results, or nil if the reply is given later.
  func write(
    _ value: MarshalledValue, to path: BindingPath, at place: Place, if condition: WriteCondition = WriteCondition(),
    for call: Call, isShown: Bool
  ) throws -> MessageBody? {
    let holder = try model.holder(of: path, at: place, if: condition, by: call.client).id
    guard let object = objects[holder], model.fields[holder]?.object?.properties[path.key] != nil else {
      let outcome = try model.write(value, to: path, at: .field(holder), if: condition, by: call.client)
      guard case .written(let reading) = outcome else { throw DBusError.ownerGone }
      return try results(ofWriting: reading, isShown)
    }
    let write = BoundWrite(value, to: path, at: place, of: holder, if: condition, isShown: isShown)
    call.reply.asked = (path.key, holder)
    let load = Load(calls: 1, bytes: value.size + path.pointer.size)
    try enqueue(.write(write), for: call.client, call.reply, load, at: object)
    return nil
  }

  private func results(ofWriting reading: Reading, _ isShown: Bool) throws -> MessageBody {
    try isShown ? .written(publishable(reading)) : .empty
  }
}

/// What a write to a bound binding does, one step after another.
extension FocusService {
  /// Takes a step of `write`, which ends with the reading that the step returns, or the error that it throws; nil: another
  /// step follows.
  func carryOut(_ write: BoundWrite, _ request: Request, _ step: () throws -> Reading?) {
    do {
      guard let reading = try step() else { return }
      checkActivity(of: request.object, except: write.path.key)
      end(request) { try results(ofWriting: reading, write.isShown) }
    } catch {
      if write.asked != nil { checkActivity(of: request.object) }
      end(request) { throw error }
    }
  }

  /// Updates the value if the write depends on it, then asks the owner.
  func begin(_ write: BoundWrite, _ request: Request) throws -> Reading? {
    let (key, object) = (write.path.key, request.object)
    guard !write.condition.isForWhole(write.path) else { return try set(write, request) }
    let isUnknown = objectToAsk(for: key, in: write.field) != nil
    let goOn: OwnedObject.Waiter = { [weak self] answer in
      guard let self else { return }
      carryOut(write, request) {
        // Without an answer, what the owner told last is the value, unless that is known to be another now.
        if isUnknown { _ = try answer.get() }
        return try set(write, request)
      }
    }
    if isUnknown {
      makeCurrent(key, in: write.field, of: object, goOn)
    } else if write.condition.revision != nil, model.fields[write.field]?.object?.reads(key) == true {
      // The owner may not have told yet that the value is another; what is refused already needs no answer.
      _ = try whole(of: write, by: request.client)
      ask(for: key, of: object, timeout: request.timeLeft, goOn)
    } else {
      return try set(write, request)
    }
    return nil
  }

  /// The value that the owner is asked to take.
  /// - Throws: as `FocusModel.write` does.
  private func whole(of write: BoundWrite, by client: BusName) throws -> MarshalledValue {
    do {
      let outcome = try model.write(
        write.value, to: write.path, at: .field(write.field), if: write.condition, by: client)
      guard case .forwarded(_, let whole) = outcome else { throw DBusError.ownerGone }
      return whole
    } catch ModelError.unknownProperty where write.place == .focused {
      throw ModelError.notFocused(write.path.key)
    }
  }

  /// Asks the owner to take the value.
  private func set(_ write: BoundWrite, _ request: Request) throws -> Reading? {
    let (key, object) = (write.path.key, request.object)
    // A write that was reported as timed out should not take effect later.
    guard request.stage != .ended, request.timeLeft > OwnerCalls.leastTime else { throw DBusError.ownerTimeout }
    guard objects[write.field] === object else { throw DBusError.ownerGone }
    write.registrant = model.fields[write.field]?.owner
    let (holder, binding) = (model.fields[write.field], model.fields[write.field]?.bindings[key])
    write.isVisible = holder?.isVisible(to: request.client) == true && binding?.isWriteOnly != true
    write.revisionBefore = binding?.revision
    let whole = try whole(of: write, by: request.client)
    write.asked = whole
    let message = try object.methodCall(.properties, MemberName(known: "Set"), .naming(key, whole))
    try ownerCalls.ask(message, timeout: request.timeLeft) { [weak self] answer in
      guard let self else { return }
      carryOut(write, request) { try wasSet(write, request, answer) }
    }
    object.didSend(request)
    proceed(with: object)
    return nil
  }

  /// Asks for the value that the owner has now, unless it has told that this is what it was asked to take: it may have made
  /// another of it, with or without a signal.
  private func wasSet(
    _ write: BoundWrite, _ request: Request, _ answer: Result<Message, DBusError>
  ) throws -> Reading? {
    let (key, object) = (write.path.key, request.object)
    // Whether an owner that did not answer will still take the value is not known.
    if case .failure(let error) = answer, error.name == .timeout { object.lostTrack(of: key) }
    try answer.accepted()
    guard objects[write.field] === object else { return try readingWithoutField(after: write, of: object.owner) }
    guard let property = model.fields[write.field]?.object?.properties[key], property.isReadable else {
      return .hidden(write.field)
    }
    if let told = write.told, told == write.asked, !property.isReadEachTime {
      return reading(after: write, by: request.client, isKnown: true)
    }
    ask(for: key, of: object, timeout: request.timeLeft) { [weak self] answer in
      guard let self else { return }
      carryOut(write, request) {
        let isKnown = (try? answer.get()) != nil
        if !isKnown, let asked = write.asked {
          // Nobody is told the value before from now on; who reads asks for what it is. What may not be read, since it has
          // turned out to be secret, is told to nobody.
          take([key: Self.isSecret(answer) ? nil : asked], of: object)
          object.lostTrack(of: key)
        }
        guard objects[write.field] === object else { return try readingWithoutField(after: write, of: object.owner) }
        return reading(after: write, by: request.client, isKnown: isKnown)
      }
    }
    return nil
  }

  /// Whether the owner lets nobody read what it was asked for.
  private static func isSecret(_ answer: Result<Message, any Error>) -> Bool {
    guard case .failure(let error) = answer, let refusal = error as? OwnerRefusal else { return false }
    return refusal.reply.error?.name == .accessDenied
  }

  /// What is told of `write`, which `owner` has taken before it took the field away.
  /// - Throws: `DBusError.ownerGone` if another has, a bridge.
  private func readingWithoutField(after write: BoundWrite, of owner: BusName) throws(DBusError) -> Reading {
    guard write.registrant == owner else { throw .ownerGone }
    guard write.isVisible else { return .hidden(write.field) }
    return model.unconfirmedReading(of: write.asked ?? write.value, afterWriteTo: write.path, of: write.field)
  }

  /// What the binding holds after `write`, which the owner has taken; if that is not known, or nothing, what was written.
  private func reading(after write: BoundWrite, by client: BusName, isKnown: Bool) -> Reading {
    let (id, key) = (write.field, write.path.key)
    guard let field = model.fields[id], field.isVisible(to: client) else {
      // Nor is it shown whether the value was there before: each write takes one revision.
      if isKnown, model.fields[id]?.bindings[key]?.revision == write.revisionBefore {
        model.takeRevision(of: key, in: id)
      }
      return .hidden(id)
    }
    if isKnown, let reading = try? model.reading(afterWriteTo: write.path, of: id) { return reading }
    return model.unconfirmedReading(of: write.asked ?? write.value, afterWriteTo: write.path, of: id)
  }
}

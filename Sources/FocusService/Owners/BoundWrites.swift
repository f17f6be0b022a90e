internal import DBus
internal import DBusTypes
internal import FocusModel

/// A write to a bound binding, from its arrival to its end.
final class BoundWrite {
  let value: DBusValue
  let path: BindingPath
  let condition: WriteCondition
  let client: BusName
  let deadline: SuspendingClock.Instant
  /// Ends the write in time where it waits behind others.
  var timer: TimerID?
  private var handler: ((Result<Reading, any Error>) -> Void)?

  init(
    _ value: DBusValue, to path: BindingPath, if condition: WriteCondition, by client: BusName,
    _ handler: @escaping (Result<Reading, any Error>) -> Void
  ) {
    self.value = value
    self.path = path
    self.condition = condition
    self.client = client
    self.deadline = SuspendingClock.now + OwnerCalls.timeout
    self.handler = handler
  }

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
  /// Writes to `path` at `place` and hands what is there afterwards to `shape` for the reply.
  /// - Throws: `FocusError` as `FocusModel.write` does.
  /// - Returns: the results, or nil where the reply is given later.
  func write(
    _ value: DBusValue, to path: BindingPath, at place: Place, if condition: WriteCondition = WriteCondition(),
    for call: Call, _ shape: @escaping (Reading) -> [DBusValue]
  ) throws -> [DBusValue]? {
    let holder = try model.holder(of: path.key, at: place, if: condition)
    guard let object = objects[holder], object.property(path.key) != nil else {
      let outcome = try model.write(value, to: path, at: place, if: condition, by: call.client)
      guard case .written(let reading, let changes) = outcome else { return nil }
      announce(changes)
      return shape(reading)
    }
    let write = BoundWrite(value, to: path, if: condition, by: call.client) { result in
      call.reply.answer { shape(try result.get()) }
    }
    write.timer = loop.schedule(after: OwnerCalls.timeout) { write.end(.failure(DBusError.ownerTimeout)) }
    object.writes[path.key, default: []].append(write)
    if object.writes[path.key]?.count == 1 { begin(write, object) }
    return nil
  }

  /// Makes the value current where the write depends on it, then sends it.
  private func begin(_ write: BoundWrite, _ object: OwnedObject) {
    let dependsOnValue = !write.path.pointer.tokens.isEmpty || write.condition.revision != nil
    guard !write.isEnded else { return finish(write, object, nil) }
    guard dependsOnValue, object.mustFetch(write.path.key) else { return send(write, object) }
    makeCurrent(write.path.key, of: object, timeout: write.timeLeft) { [weak self] result in
      switch result {
      case .success: self?.send(write, object)
      case .failure(let error): self?.finish(write, object, .failure(error))
      }
    }
  }

  private func send(_ write: BoundWrite, _ object: OwnedObject) {
    let key = write.path.key
    do {
      guard let id = object.field else { throw DBusError.ownerGone }
      let outcome = try model.write(
        write.value, to: write.path, at: .field(id), isCurrent: !object.mustFetch(key), if: write.condition,
        by: write.client)
      guard case .forwarded(_, let whole) = outcome else {
        guard case .written(let reading, let changes) = outcome else { return }
        announce(changes)
        return finish(write, object, .success(reading))
      }
      let message = try Message.methodCall(
        to: object.owner, path: object.path, interface: .properties, member: MemberName(known: "Set"),
        [.string(key.interface.text), .string(key.member.text), .variant(whole)])
      try ownerCalls.call(object.owner, message, timeout: write.timeLeft) { [weak self] result in
        self?.sent(write, object, result)
      }
    } catch {
      finish(write, object, .failure(error))
    }
  }

  /// Asks what the owner made of the value: it may have turned it into another, and told of it or not.
  private func sent(_ write: BoundWrite, _ object: OwnedObject, _ result: Result<Message, DBusError>) {
    do throws(DBusError) {
      _ = try result.get().success()
    } catch {
      // Whether the owner will still take the value is not known.
      if error.name == .timeout { object.stale.insert(write.path.key) }
      return finish(write, object, .failure(error))
    }
    fetch(write.path.key, of: object, timeout: write.timeLeft) { [weak self] result in
      self?.finish(write, object, self?.reading(after: write, object, result))
    }
  }

  private func reading(
    after write: BoundWrite, _ object: OwnedObject, _ result: Result<Void, DBusError>
  ) -> Result<Reading, any Error> {
    Result {
      try result.get()
      guard let id = object.field else { throw DBusError.ownerGone }
      return try model.reading(afterWriteTo: write.path, of: id)
    }
  }

  /// Ends a write and begins the next of the same binding.
  private func finish(_ write: BoundWrite, _ object: OwnedObject, _ result: Result<Reading, any Error>?) {
    if let result { write.end(result) }
    if let timer = write.timer { loop.cancel(timer) }
    let key = write.path.key
    guard object.writes[key]?.first === write else { return }
    object.writes[key]?.removeFirst()
    while let next = object.writes[key]?.first, next.isEnded { object.writes[key]?.removeFirst() }
    guard let next = object.writes[key]?.first else {
      object.writes[key] = nil
      return
    }
    begin(next, object)
  }

  /// Ends the writes that wait for an owner who left.
  func failWrites(to owner: BusName) {
    for id in model.fields(of: owner) {
      guard let object = objects[id] else { continue }
      let writes = object.writes.values.flatMap { $0 }
      object.writes = [:]
      for write in writes { finish(write, object, .failure(DBusError.ownerGone)) }
    }
  }
}

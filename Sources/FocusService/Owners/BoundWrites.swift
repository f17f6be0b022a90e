internal import DBus
internal import DBusTypes
internal import FocusModel

/// A write to a bound binding, from its arrival to its end.
final class BoundWrite {
  let value: DBusValue
  let path: BindingPath
  let condition: WriteCondition
  let client: BusName
  let object: OwnedObject
  let deadline: SuspendingClock.Instant
  /// Ends the write in time where it waits behind others.
  var timer: TimerID?
  private var handler: ((Result<Reading, any Error>) -> Void)?

  init(
    _ value: DBusValue, to path: BindingPath, of object: OwnedObject, if condition: WriteCondition,
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
  /// Writes to `path` at `place` and hands what is there afterwards to `shape` for the reply.
  /// - Throws: `FocusError` as `FocusModel.write` does; `DBusError.limitsExceeded` where too many wait for the owner.
  /// - Returns: the results, or nil where the reply is given later.
  func write(
    _ value: DBusValue, to path: BindingPath, at place: Place, if condition: WriteCondition = WriteCondition(),
    for call: Call, _ shape: @escaping (Reading) throws -> [DBusValue]
  ) throws -> [DBusValue]? {
    let holder = try model.holder(of: path.key, at: place, if: condition)
    guard let object = objects[holder], object.property(path.key) != nil else {
      let outcome = try model.write(value, to: path, at: place, if: condition, by: call.client)
      guard case .written(let reading, let changes) = outcome else { return nil }
      announce(changes)
      return try shape(reading)
    }
    let owner = object.owner
    try ownerCalls.enter(owner)
    let write = BoundWrite(value, to: path, of: object, if: condition, by: call.client) { [ownerCalls] result in
      ownerCalls.leave(owner)
      call.reply.answer { try shape(try result.get()) }
    }
    write.timer = loop.schedule(after: OwnerCalls.timeout) { write.end(.failure(DBusError.ownerTimeout)) }
    object.traffic.writes[path.key, default: []].append(write)
    if object.traffic.writes[path.key]?.count == 1 { begin(write) }
    return nil
  }

  /// Makes the value current where the write depends on it, then sends it.
  private func begin(_ write: BoundWrite) {
    let dependsOnValue = !write.path.pointer.tokens.isEmpty || write.condition.revision != nil
    guard dependsOnValue, !write.isEnded, write.object.mustFetch(write.key) else { return send(write) }
    makeCurrent(write.key, of: write.object) { [weak self] result in
      switch result {
      case .success: self?.send(write)
      case .failure(let error): self?.finish(write, .failure(error))
      }
    }
  }

  private func send(_ write: BoundWrite) {
    let (key, object) = (write.key, write.object)
    // Who is told that it took too long should not find it done later.
    guard !write.isEnded else { return finish(write, nil) }
    guard write.timeLeft > OwnerCalls.leastTime else { return finish(write, .failure(DBusError.ownerTimeout)) }
    do {
      guard let id = object.field else { throw DBusError.ownerGone }
      let outcome = try model.write(
        write.value, to: write.path, at: .field(id), isCurrent: !object.mustFetch(key), if: write.condition,
        by: write.client)
      guard case .forwarded(_, let whole) = outcome else {
        guard case .written(let reading, let changes) = outcome else { return }
        announce(changes)
        return finish(write, .success(reading))
      }
      let message = try Message.methodCall(
        to: object.owner, path: object.path, interface: .properties, member: MemberName(known: "Set"),
        [.string(key.interface.text), .string(key.member.text), .variant(whole)])
      try ownerCalls.ask(object.owner, message, timeout: write.timeLeft) { [weak self] result in
        self?.sent(write, result)
      }
    } catch {
      finish(write, .failure(error))
    }
  }

  /// Asks what the owner made of the value: it may have turned it into another, and told of it or not.
  private func sent(_ write: BoundWrite, _ result: Result<Message, DBusError>) {
    // Whether an owner that did not answer will still take the value is not known.
    if case .failure(let error) = result, error.name == .timeout { write.object.traffic.stale.insert(write.key) }
    do { _ = try result.accepted() } catch { return finish(write, .failure(error)) }
    fetch(write.key, of: write.object, timeout: write.timeLeft) { [weak self] result in
      if case .failure = result { write.object.traffic.stale.insert(write.key) }
      self?.finish(write, self?.reading(after: write, result))
    }
  }

  private func reading(after write: BoundWrite, _ result: Result<Void, any Error>) -> Result<Reading, any Error> {
    Result {
      try result.get()
      guard let id = write.object.field, let field = model.fields[id] else { throw DBusError.ownerGone }
      var reading = try model.reading(afterWriteTo: write.path, of: id)
      // What an owner makes of a value of a sensitive field is not for everyone.
      if !field.isVisible(to: write.client) { reading.value = write.value }
      return reading
    }
  }

  /// Ends a write and begins the next of the same binding.
  private func finish(_ write: BoundWrite, _ result: Result<Reading, any Error>?) {
    if let result { write.end(result) }
    if let timer = write.timer { loop.cancel(timer) }
    let (key, traffic) = (write.key, write.object.traffic)
    guard traffic.writes[key]?.first === write else { return }
    traffic.writes[key]?.removeFirst()
    while let next = traffic.writes[key]?.first, next.isEnded { traffic.writes[key]?.removeFirst() }
    guard let next = traffic.writes[key]?.first else {
      traffic.writes[key] = nil
      return
    }
    begin(next)
  }

  /// Ends the writes that wait for an owner who left.
  func failWrites(to owner: BusName) {
    for id in model.fields(of: owner) {
      guard let traffic = objects[id]?.traffic else { continue }
      let writes = traffic.writes.values.flatMap { $0 }
      traffic.writes = [:]
      for write in writes { finish(write, .failure(DBusError.ownerGone)) }
    }
  }
}

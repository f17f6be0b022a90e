internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel
internal import ProgramSupport

/// What `Register` was asked for, while the object behind the field is looked at.
struct BoundRegistration {
  let id: FieldID?
  let values: [Key: MarshalledValue]
  let options: FieldOptions
  let takesFocus: Bool
  let owner: BusName
  let object: OwnedObject
  let reply: PendingReply
}

/// Registration of a field with an object: the field is added when the object has been looked at.
extension FocusService {
  /// Begins a registration, which is replied to later.
  /// - Throws: `ModelError.fieldExists`, or `DBusError.limitsExceeded` if too many calls wait for the owner, or too
  ///   many fields have the object.
  func register(_ registration: BoundRegistration) throws {
    let asked = registration.object.owner
    try checkRoom(at: registration.object.address) { !objects.isReleased($0) && !$0.isAgain }
    let names = (registration.object.chosen ?? []).reduce(0) { $0 + $1.utf8.count }
    let bytes = registration.values.values.reduce(names) { $0 + $1.size }
    try ownerCalls.enter(asked, bytes: bytes)
    do {
      if let id = registration.id { try model.reserve(id) }
    } catch {
      ownerCalls.leave(asked, bytes: bytes)
      throw error
    }
    registrants.begin(registration.owner)
    introspect(registration.object) { [weak self] result in
      guard let self else { return }
      ownerCalls.leave(asked, bytes: bytes)
      let hasLeft = registrants.end(registration.owner)
      arrived(.registration(registration, hasLeft ? .failure(.ownerGone) : result))
    }
  }

  /// Checks that one more field may have the object at `address`; fields that are being registered count too.
  /// - Throws: `DBusError.limitsExceeded`.
  private func checkRoom(
    at address: OwnedObject.Address, _ counts: (OwnedObject) -> Bool
  ) throws(DBusError) {
    guard objects.at(address).count(where: counts) >= Limits.fieldsPerObject else { return }
    throw DBusError(
      .limitsExceeded,
      "the object \(address.path) already backs \(Limits.fieldsPerObject) fields, the maximum")
  }

  /// Logs the keys of a field whose values do not fit, among those that its object has `told`, never the values.
  func nameUnfit(_ object: OwnedObject, among told: [Key: MarshalledValue]) {
    guard let id = object.field else { return }
    for (key, value) in told {
      if let reason = model.reason(against: value, toldOf: key, of: id) { object.unfit[key] = reason.description }
    }
    for (key, reason) in object.unfit.sorted(by: { $0.key < $1.key }) where object.named.insert(key).inserted {
      logUnfit(key, of: id, reason)
    }
  }

  /// Logs once that `key` of the object's field is nil because its value does not fit, never the value.
  func nameUnfit(_ key: Key, of object: OwnedObject, _ reason: String) {
    guard let id = object.field, object.named.insert(key).inserted else { return }
    logUnfit(key, of: id, reason)
  }

  private func logUnfit(_ key: Key, of id: FieldID, _ reason: String) {
    guard let skipped = unfitValues.admit() else { return }
    log.info(
      "\(key) of the field '\(id)' is nil: \(reason)" + (skipped > 0 ? "; \(skipped) others before it too" : ""))
  }

  /// Ends a registration whose object has been introspected.
  /// - Returns: whether the field is registered.
  func complete(
    _ registration: BoundRegistration, _ result: Result<BoundObject, DBusError>, refusing refusal: DBusError?
  ) -> Bool {
    if let id = registration.id { model.release(id) }
    let object = registration.object
    do {
      if let refusal { throw refusal }
      var options = registration.options
      let bound = try result.get()
      options.object = bound
      // A removal that could not be saved has brought a field back.
      try checkRoom(at: object.address) { $0.field != nil }
      let (id, changes) = try model.register(
        registration.id, registration.values, options, owner: registration.owner)
      object.values = [:]
      objects.setField(id, of: object)
      nameUnfit(object, among: bound.values)
      emit(changes)
      if registration.takesFocus { try model.focus(id, by: registration.owner) }
      registration.reply.succeed(try MessageBody([.objectPath(Target.path(of: id))]))
      return true
    } catch {
      stopWatching(object)
      registration.reply.fail(error)
      return false
    }
  }
}

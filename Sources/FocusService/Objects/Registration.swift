internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// What `Register` was asked for, while the object behind the field is looked at.
final class Registration {
  let id: FieldID?
  let values: [Key: MarshalledValue]
  let options: FieldOptions
  let choice: ObjectChoice
  let takesFocus: Bool
  let owner: BusName
  let reply: PendingReply
  /// Whether the registrant has left the bus meanwhile.
  fileprivate(set) var hasLeft = false
  /// Whether its id is kept for it.
  fileprivate var isReserved = false

  init(
    _ id: FieldID?, _ values: [Key: MarshalledValue], _ options: FieldOptions, _ choice: ObjectChoice,
    takesFocus: Bool, owner: BusName, _ reply: PendingReply
  ) {
    (self.id, self.values, self.options, self.choice) = (id, values, options, choice)
    (self.takesFocus, self.owner, self.reply) = (takesFocus, owner, reply)
  }

  /// What it takes of what may wait.
  fileprivate var load: Load {
    let options = (options.label?.utf8.count ?? 0) + (options.active?.value.size ?? 0)
    return Load(calls: 1, bytes: values.values.reduce(choice.size + options) { $0 + $1.size })
  }
}

/// Registration of a field with an object: the field is added when the object has been looked at.
extension FocusService {
  /// Looks up who owns the name `service`, and goes on with `registration` of a field with an object there.
  /// - Throws: `SyntaxError` if the name is not valid, `DBusError.limitsExceeded` if too many calls wait.
  func register(_ registration: Registration, ofService service: String) throws {
    let client = registration.owner
    let name = try BusName(service)
    try ownerCalls.enter(client, registration.load)
    registrations[ObjectIdentifier(registration)] = registration
    findBridge(client) { [weak self] isBridge in
      guard let self else { return }
      guard isBridge else {
        return endLookUp(
          of: registration,
          .failure(
            DBusError(
              .accessDenied, "the option 'service' is for bridges: own a bus name below org.focusd.Bridge1 first")))
      }
      connection.askOwner(of: name, timeout: OwnerCalls.timeout) { [weak self] holder in
        self?.endLookUp(
          of: registration,
          holder.mapError { error in
            error.name == .nameHasNoOwner
              ? DBusError(Focus1.ownerGone, "the name '\(name)' of the option 'service' has no owner on the bus")
              : error
          })
      }
    }
  }

  private func endLookUp(of registration: Registration, _ found: Result<BusName, DBusError>) {
    ownerCalls.leave(registration.owner, registration.load)
    registrations[ObjectIdentifier(registration)] = nil
    do {
      guard !registration.hasLeft else { throw DBusError.ownerGone }
      let holder = try found.get()
      guard holder != connection.uniqueName, holder != .bus else {
        throw DBusError(.invalidArgs, "the option 'service' must name another program than focusd and the bus")
      }
      try register(registration, at: holder)
    } catch {
      // In line: a recovery under way has no turn of its own to reply in.
      deliver(.answered(registration.reply, changes: false) { _ in throw error })
    }
  }

  /// Begins `registration` of a field with an object of the connection `holder`; it is replied to later.
  /// - Throws: `ModelError.fieldExists`, or `DBusError.limitsExceeded` if too many calls wait for the owner, or too many
  ///   fields have the object.
  func register(_ registration: Registration, at holder: BusName) throws {
    let path = registration.choice.path
    if let object = objects.at(path, of: holder) { try checkRoom(behind: object) }
    let load = registration.load
    try ownerCalls.enter(holder, load)
    do {
      if let id = registration.id {
        try model.reserve(id)
        registration.isReserved = true
      }
    } catch {
      ownerCalls.leave(holder, load)
      throw error
    }
    registrations[ObjectIdentifier(registration)] = registration
    let object = objects.object(at: path, of: holder)
    begin(Look(at: object, registration.choice, for: .registration(registration)))
  }

  /// Takes note that the registrant has left: who comes in its place may have the id while the object is still looked at.
  func registrantLeft(_ registration: Registration) {
    registration.hasLeft = true
    release(registration)
  }

  private func release(_ registration: Registration) {
    if registration.isReserved, let id = registration.id { model.release(id) }
    registration.isReserved = false
  }

  /// Checks that one more field may have `object`; fields that are being registered count too.
  /// - Throws: `DBusError.limitsExceeded`.
  private func checkRoom(behind object: OwnedObject) throws(DBusError) {
    let underWay = object.looks.count { look in
      if case .registration = look.purpose { !look.isCompleted } else { false }
    }
    guard object.fields.count + underWay >= Limits.fieldsPerObject else { return }
    throw DBusError(
      .limitsExceeded,
      "the object \(object.path) already backs \(Limits.fieldsPerObject) fields, the maximum")
  }

  /// Ends a registration whose object has been looked at; `isFirst` the first time, refused or not.
  /// - Returns: whether the field is registered.
  func complete(
    _ registration: Registration, _ look: Look, isFirst: Bool, refusing refusal: DBusError?
  ) -> Bool {
    if isFirst {
      ownerCalls.leave(look.object.owner, registration.load)
      release(registration)
    }
    do {
      if let refusal { throw refusal }
      guard !registration.hasLeft else { throw DBusError.ownerGone }
      // A removal that could not be saved has brought a field back.
      try checkRoom(behind: look.object)
      var options = registration.options
      options.object = try look.result()
      options.service = look.object.owner == registration.owner ? nil : look.object.owner
      let id = try model.register(
        registration.id, registration.values, options, owner: registration.owner)
      objects.bind(id, to: look.object)
      nameUnfit(look, of: id)
      if registration.takesFocus { try model.focus(id, by: registration.owner) }
      registration.reply.succeed(try MessageBody([.objectPath(id.path)]))
      return true
    } catch {
      registration.reply.fail(error)
      return false
    }
  }
}

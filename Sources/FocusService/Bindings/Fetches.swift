internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// Values that owners are asked for, since they keep the daemon told of them late, or not at all.
extension FocusService {
  /// The object that must be asked before the value of `key` in the field `id` is known; nil if it is known.
  func objectToAsk(for key: Key, in id: FieldID) -> OwnedObject? {
    guard let object = objects[id], let property = model.fields[id]?.object?.properties[key], property.isReadable,
      property.isReadEachTime || object.isOutdated(key)
    else { return nil }
    return object
  }

  /// Calls `waiter` when the model has the value of `key` in the field `id` as `object` has it, or when that is prevented.
  ///
  /// A value that its owner does not tell changes of is asked for each time; for a stale one, all wait for one answer.
  func makeCurrent(_ key: Key, in id: FieldID, of object: OwnedObject, _ waiter: @escaping OwnedObject.Waiter) {
    if model.fields[id]?.object?.properties[key]?.isReadEachTime == true {
      ask(for: key, of: object, waiter)
    } else if object.wait(for: key, waiter) {
      fetch(key, of: object)
    }
  }

  /// Asks the owner for the new value of `key`, since the known one is stale.
  func becameStale(_ key: Key, of object: OwnedObject) {
    object.lostTrack(of: key)
    if object.wait(for: key) { fetch(key, of: object) }
  }

  /// The keys of fields of `object` that it keeps the daemon told of.
  func toldKeys(of object: OwnedObject) -> Set<Key> {
    let properties = object.fields.flatMap { model.fields[$0]?.object?.properties ?? [:] }
    return Set(properties.compactMap { key, property in property.isReadable && !property.isReadEachTime ? key : nil })
  }

  /// Asks again for what decides whether the fields of `object` are active, which players forget to tell, unless it is `known`.
  func checkActivity(of object: OwnedObject, except known: Key? = nil) {
    for id in object.fields {
      guard let field = model.fields[id], let key = field.activity?.condition?.key, key != known,
        field.object?.reads(key) == true
      else { continue }
      becameStale(key, of: object)
    }
  }

  /// How many session fields are asked again when another becomes active.
  private static let mostChecked = 16

  /// Asks the other session fields whether they are active, since `id` has become so.
  func checkActivity(besides id: FieldID) {
    guard model.fields[id]?.activity?.isActive == true else { return }
    for other in model.sessionFields(most: Self.mostChecked + 1) where other != id {
      objects[other].map { checkActivity(of: $0) }
    }
  }

  private func fetch(_ key: Key, of object: OwnedObject) {
    ask(for: key, of: object) { [weak self] answer in
      let (waiting, asksAgain) = object.endFetch(key, hasValue: (try? answer.get()) != nil)
      self?.objects.requestEnded(at: object)
      if asksAgain { self?.fetch(key, of: object) }
      for waiter in waiting { waiter(answer) }
    }
  }

  /// Asks the owner for the value of `key`, and calls `handler` with its reply when the model has it, or with what
  /// prevented that.
  func ask(
    for key: Key, of object: OwnedObject, timeout: Duration = OwnerCalls.timeout,
    _ handler: @escaping OwnedObject.Waiter
  ) {
    do {
      let message = try object.methodCall(.properties, MemberName(known: "Get"), .naming(key))
      try ownerCalls.ask(message, timeout: timeout) { [weak self] answer in
        handler(
          Result {
            try self?.take(answer, toGetting: key, object)
            return try answer.get()
          })
      }
    } catch {
      handler(.failure(error))
    }
  }

  /// Takes what the owner replied to `Get` of `key`: a value, one past a limit, which counts as nil, or that it is nil.
  /// - Throws: `OwnerRefusal`, or `DBusError` for what prevented a reply, or a reply that holds no value.
  private func take(_ answer: Result<Message, DBusError>, toGetting key: Key, _ object: OwnedObject) throws {
    let reply = try answer.get()
    if let error = reply.error, error.name == .unknownProperty { return take([key: nil], of: object) }
    try answer.accepted()
    let value = try reply.propertyValue(of: key)
    take([key: value], tooLarge: value == nil ? [key] : [], of: object)
  }

  /// Gives values of `object` to its fields that expose them, and to the looks at it; those that are too large are nil.
  func take(_ values: [Key: MarshalledValue?], tooLarge: [Key] = [], of object: OwnedObject) {
    object.noteTold()
    for request in object.requests {
      guard case .write(let write) = request.work, write.asked != nil, let value = values[write.path.key] else {
        continue
      }
      write.told = value
    }
    for id in object.fields {
      for (key, error) in model.update(values, of: id) { nameUnfit(key, of: id, object, error.description) }
      for key in tooLarge where model.fields[id]?.object?.reads(key) == true {
        nameUnfit(key, of: id, object, OwnerAnswer.tooLarge)
      }
    }
    for look in object.looks { for (key, value) in values { look.keep(value, of: key, ownerCalls) } }
  }
}

extension Message {
  /// The value in a reply to `Get` of `key`, or nil if it exceeds a limit.
  /// - Throws: `DBusError` with the name `TypeMismatch` if the reply does not hold a value.
  func propertyValue(of key: Key) throws -> MarshalledValue? {
    guard signatureText == "v" else {
      throw DBusError(Focus1.typeMismatch, "the owner of \(key) replied to Get without a value")
    }
    return try withBody { bytes throws(DBusError) -> MarshalledValue? in
      var reader = BodyReader(bytes)
      guard (try? checkLimits(bytes)) != nil else { return nil }
      return (try? reader.variant(limit: OwnerAnswer.valueLimit)) ?? nil
    }
  }
}

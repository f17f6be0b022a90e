internal import DBus
internal import DBusTypes
internal import FocusModel

/// What `Register` was asked for, while the object behind the field is looked at.
struct BoundRegistration {
  let id: FieldID?
  let values: [Key: DBusValue]
  let options: FieldOptions
  let takesFocus: Bool
  /// The interfaces that the registrant chose to expose, or nil for all.
  let chosen: [String]?
  let object: OwnedObject
  let reply: PendingReply
}

/// Registration of a field with an object: watch it, introspect it, read its properties, and only then add the field.
extension FocusService {
  func register(_ registration: BoundRegistration) throws {
    if let id = registration.id {
      guard model.fields[id] == nil, !objects.reserved.contains(id) else { throw FocusError.fieldExists(id) }
      objects.reserved.insert(id)
    }
    let object = registration.object
    if objects.add(object) { connection.changeMatch(.add, OwnerSignals.rule(object)) }
    do {
      try ask(object, .introspectable, "Introspect") { [weak self] result in
        self?.introspected(registration, result)
      }
    } catch {
      abandon(registration)
      throw error
    }
  }

  private func ask(
    _ object: OwnedObject, _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue] = [],
    _ handler: @escaping OwnerCalls.Handler
  ) throws(DBusError) {
    let message = try Message.methodCall(
      to: object.owner, path: object.path, interface: interface, member: MemberName(known: member), arguments)
    message.disableAutoStart()
    try ownerCalls.call(object.owner, message, handler)
  }

  private func introspected(_ registration: BoundRegistration, _ result: Result<Message, DBusError>) {
    let object = registration.object
    do {
      let arguments = try result.get().success().arguments()
      guard case .string(let xml)? = arguments.first else {
        throw DBusError(.invalidArgs, "the answer to Introspect is no text")
      }
      let all = try IntrospectionDocument.interfaces(in: xml)
      object.hasResponder = all.contains { $0.name == .responder }
      object.interfaces = try exposed(of: all, chosen: registration.chosen)
      let readable = object.interfaces.filter { $0.properties.contains { $0.access != .write } }
      guard !readable.isEmpty else { return complete(registration) }
      var left = readable.count
      for interface in readable {
        try ask(object, .properties, "GetAll", [.string(interface.name.text)]) { [weak self] result in
          guard left > 0 else { return }
          do {
            try object.takeIn(interface.name, result.get().success().arguments().first)
            left -= 1
            if left == 0 { self?.complete(registration) }
          } catch {
            left = 0
            self?.refuse(registration, error)
          }
        }
      }
    } catch {
      refuse(registration, error)
    }
  }

  /// The interfaces that a field may expose, those that the registrant chose or all.
  /// - Throws: `DBusError.invalidArgs` where a chosen one is not there.
  private func exposed(
    of interfaces: [InterfaceDescription], chosen: [String]?
  ) throws(DBusError) -> [InterfaceDescription] {
    guard let chosen else { return interfaces.filter { !Key.isReserved($0.name.text) } }
    var exposed: [InterfaceDescription] = []
    for name in chosen {
      guard let interface = interfaces.first(where: { $0.name.text == name }) else {
        throw DBusError(.invalidArgs, "the object does not have the interface '\(name)' that 'interfaces' lists")
      }
      if !exposed.contains(where: { $0.name == interface.name }) { exposed.append(interface) }
    }
    return exposed
  }

  private func complete(_ registration: BoundRegistration) {
    do {
      var options = registration.options
      options.object = try registration.object.declaration()
      if let id = registration.id { objects.reserved.remove(id) }
      let (id, changes) = try model.register(
        registration.id, registration.values, options, owner: registration.object.owner)
      registration.object.values = [:]
      objects.setField(id, of: registration.object)
      announce(changes)
      if registration.takesFocus { try model.focus(id, by: registration.object.owner) }
      registration.reply.succeed([.objectPath(Target.path(of: id))])
    } catch {
      refuse(registration, error)
    }
  }

  private func refuse(_ registration: BoundRegistration, _ error: any Error) {
    abandon(registration)
    var error = DBusError(any: error)
    if error.name != .timeout, error.name != .ownerGone, !(error.name.text.hasPrefix("org.focusd.Focus1.")),
      error.name != .limitsExceeded
    {
      error = DBusError(
        .invalidArgs, "the object \(registration.object.path) cannot stand behind a field: \(error.message)")
    }
    registration.reply.fail(error)
  }

  private func abandon(_ registration: BoundRegistration) {
    if let id = registration.id { objects.reserved.remove(id) }
    stopWatching(registration.object)
  }

  /// Has nothing more to do with the object of a field that is gone.
  func forgetObject(of id: FieldID) {
    guard let object = objects[id] else { return }
    stopWatching(object)
  }

  private func stopWatching(_ object: OwnedObject) {
    if objects.remove(object) { connection.changeMatch(.remove, OwnerSignals.rule(object)) }
  }
}

extension OwnedObject {
  /// Takes in the answer to `GetAll` of `interface`; changes that were told meanwhile came before it.
  /// - Throws: `DBusError.invalidArgs` where it is no dictionary.
  fileprivate func takeIn(_ interface: InterfaceName, _ answer: DBusValue?) throws {
    guard case .dictionary(let dictionary)? = answer, dictionary.keyType == .string else {
      throw DBusError(.invalidArgs, "the answer to GetAll of \(interface) is no dictionary of properties")
    }
    for entry in dictionary.entries {
      guard case .string(let name) = entry.key, let value = entry.value.variantContent else { continue }
      let key = try Key(interface: interface.text, member: name)
      guard let property = property(key), !value.holdsUnixFD else { continue }
      guard value.type == property.type else {
        throw DBusError(
          .invalidArgs,
          "its property \(key) is of type '\(property.type)' by introspection and of type '\(value.type)' by GetAll")
      }
      values[key] = value
    }
  }

  /// What the model is to know of the object.
  /// - Throws: `FocusError.invalid` where a member cannot be a key.
  fileprivate func declaration() throws -> BoundObject {
    var properties: [Key: BoundObject.Property] = [:]
    var commands: Set<Key> = []
    for interface in interfaces {
      for property in interface.properties where property.access != .write {
        let key = try Key(interface: interface.name.text, member: property.name.text)
        properties[key] = .init(type: property.type, isWritable: property.access == .readWrite)
      }
      for method in interface.methods {
        commands.insert(try Key(interface: interface.name.text, member: method.name.text))
      }
    }
    return BoundObject(properties: properties, commands: commands, values: values)
  }
}

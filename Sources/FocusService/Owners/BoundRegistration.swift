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
    examine(registration.object, chosen: registration.chosen) { [weak self] result in
      self?.complete(registration, result)
    }
  }

  /// Watches `object`, looks at it, and calls `handler` with what it declares and holds, or with what speaks against it;
  /// then it is watched no more.
  func examine(
    _ object: OwnedObject, chosen: [String]?, _ handler: @escaping (Result<BoundObject, DBusError>) -> Void
  ) {
    var handler: ((Result<BoundObject, DBusError>) -> Void)? = handler
    let finish = { [weak self] (result: Result<BoundObject, DBusError>) in
      guard let end = handler else { return }
      handler = nil
      if case .failure = result { self?.stopWatching(object) }
      end(result)
    }
    let refuse = { (error: any Error) in finish(.failure(FocusService.reason(error, object))) }
    if objects.add(object) { connection.changeMatch(.add, OwnerSignals.rule(object)) }
    do {
      try ask(object, .introspectable, "Introspect") { [weak self] result in
        do {
          try self?.introspected(object, chosen, result, finish, refuse)
        } catch { refuse(error) }
      }
    } catch { refuse(error) }
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

  private func introspected(
    _ object: OwnedObject, _ chosen: [String]?, _ result: Result<Message, DBusError>,
    _ finish: @escaping (Result<BoundObject, DBusError>) -> Void, _ refuse: @escaping (any Error) -> Void
  ) throws {
    guard case .string(let xml)? = try result.get().success().arguments().first else {
      throw DBusError(.invalidArgs, "the answer to Introspect is no text")
    }
    let all = try IntrospectionDocument.interfaces(in: xml)
    object.hasResponder = all.contains { $0.name == .responder }
    object.interfaces = try exposed(of: all, chosen: chosen)
    let readable = object.interfaces.filter { $0.properties.contains { $0.access != .write } }
    guard !readable.isEmpty else { return finish(.success(try object.declaration(chosen: chosen))) }
    var left = readable.count
    for interface in readable {
      try ask(object, .properties, "GetAll", [.string(interface.name.text)]) { result in
        do {
          try object.takeIn(interface.name, result.get().success().arguments().first)
          left -= 1
          if left == 0 { finish(.success(try object.declaration(chosen: chosen))) }
        } catch { refuse(error) }
      }
    }
  }

  /// Why an object cannot stand behind a field, as the registrant is told.
  private static func reason(_ error: any Error, _ object: OwnedObject) -> DBusError {
    let error = DBusError(any: error)
    guard ![.timeout, .ownerGone, .limitsExceeded].contains(error.name) else { return error }
    return DBusError(.invalidArgs, "the object \(object.path) cannot stand behind a field: \(error.message)")
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

  private func complete(_ registration: BoundRegistration, _ result: Result<BoundObject, DBusError>) {
    if let id = registration.id { objects.reserved.remove(id) }
    let object = registration.object
    do {
      var options = registration.options
      options.object = try result.get()
      do {
        let (id, changes) = try model.register(registration.id, registration.values, options, owner: object.owner)
        object.values = [:]
        objects.setField(id, of: object)
        announce(changes)
        if registration.takesFocus { try model.focus(id, by: object.owner) }
        registration.reply.succeed([.objectPath(Target.path(of: id))])
        ifNotSaved(registration.reply) { [self] error in
          stopWatching(object)
          registration.reply.fail(error)
        }
      } catch {
        stopWatching(object)
        throw error
      }
    } catch {
      registration.reply.fail(error)
    }
  }

  /// Has nothing more to do with the object of a field that is gone, once that is saved.
  func releaseObject(of id: FieldID) {
    guard let object = objects.detach(id) else { return }
    leaving.append((id, object))
  }

  func stopWatching(_ object: OwnedObject) {
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
  fileprivate func declaration(chosen: [String]?) throws -> BoundObject {
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
    return BoundObject(
      path: path, chosenInterfaces: chosen, properties: properties, commands: commands, values: values)
  }
}

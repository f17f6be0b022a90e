internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// A look at an object that is to stand behind a field: what it declares, and what it holds.
private final class ObjectIntrospection {
  typealias Handler = (Result<BoundObject, DBusError>) -> Void

  let object: OwnedObject
  /// The interfaces that the registrant chose to expose, or nil for all.
  let chosen: [String]?
  /// The number of interfaces whose properties the owner has not sent yet.
  var awaited = 0
  private var handler: Handler?

  init(_ object: OwnedObject, chosen: [String]?, _ handler: @escaping Handler) {
    self.object = object
    self.chosen = chosen
    self.handler = handler
  }

  var isEnded: Bool { handler == nil }

  func end(_ result: Result<BoundObject, DBusError>) {
    let handler = handler
    self.handler = nil
    handler?(result)
  }
}

/// Objects are watched, introspected and read before fields are bound to them.
extension FocusService {
  /// Watches `object`, looks at it, and calls `handler` once with what it declares and holds, or with what speaks against
  /// it; then it is watched no more.
  func introspect(
    _ object: OwnedObject, chosen: [String]?, _ handler: @escaping (Result<BoundObject, DBusError>) -> Void
  ) {
    objects.add(object)
    let introspection = ObjectIntrospection(object, chosen: chosen) { [weak self] result in
      if let self { object.releaseKept(ownerCalls) }
      if case .failure = result { self?.stopWatching(object) }
      handler(result)
    }
    // Before it is asked for anything: no change after the answer is missed.
    watch(object) { [weak self] result in
      if case .failure(let error) = result { return introspection.end(.failure(error)) }
      self?.introspect(introspection)
    }
  }

  /// Asks the object under introspection; what it answers, or what `handler` throws, may end that.
  private func ask(
    _ introspection: ObjectIntrospection, _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue] = [],
    _ handler: @escaping (Message) throws -> Void
  ) {
    let object = introspection.object
    do {
      var message = try OutgoingMessage.methodCall(
        to: object.owner, path: object.path, interface: interface, member: MemberName(known: member), arguments)
      message.disableAutoStart()
      try ownerCalls.ask(object.owner, message) { result in
        guard !introspection.isEnded else { return }
        do {
          try handler(result.get().success())
        } catch {
          introspection.end(.failure(FocusService.reason(error, object)))
        }
      }
    } catch {
      introspection.end(.failure(DBusError(any: error)))
    }
  }

  private func introspect(_ introspection: ObjectIntrospection) {
    ask(introspection, .introspectable, "Introspect") { [weak self] in try self?.introspected(introspection, $0) }
  }

  private func introspected(_ introspection: ObjectIntrospection, _ answer: Message) throws {
    let object = introspection.object
    guard case .string(let xml)? = try answer.limitedArguments().first else {
      throw DBusError(.invalidArgs, "the reply to Introspect is not a string")
    }
    let all = try IntrospectionDocument.interfaces(in: xml)
    object.introspectionSize = xml.utf8.count
    object.hasResponder = all.contains { $0.name == .responder }
    object.interfaces = try exposed(of: all, chosen: introspection.chosen)
    // GDBus and others answer for objects that are not there, with the standard interfaces alone.
    guard object.hasResponder || all.contains(where: { !Key.isReserved($0.name.text) }) else {
      throw DBusError(
        .invalidArgs, "it has neither an interface to expose nor \(InterfaceName.responder)")
    }
    try object.declaration(chosen: introspection.chosen).check()
    let readable = object.interfaces.filter { $0.properties.contains { $0.access != .write } }
    guard !readable.isEmpty else { return try finish(introspection) }
    introspection.awaited = readable.count
    for interface in readable {
      ask(introspection, .properties, "GetAll", [.string(interface.name.text)]) { [weak self] answer in
        guard let self else { return }
        try object.takeIn(interface.name, answer, ownerCalls)
        introspection.awaited -= 1
        if introspection.awaited == 0 { try finish(introspection) }
      }
    }
  }

  private func finish(_ introspection: ObjectIntrospection) throws {
    introspection.end(.success(try introspection.object.declaration(chosen: introspection.chosen)))
  }

  /// The interfaces that a field may expose, those that the registrant chose or all.
  /// - Throws: `DBusError.invalidArgs` if a chosen one is missing, or cannot be exposed.
  private func exposed(
    of interfaces: [InterfaceDescription], chosen: [String]?
  ) throws(DBusError) -> [InterfaceDescription] {
    let free = interfaces.filter { !Key.isReserved($0.name.text) }
    guard let chosen else { return free }
    let names = Set(free.map(\.name.text))
    if let reserved = chosen.first(where: Key.isReserved) {
      throw DBusError(
        .invalidArgs, "'interfaces' lists '\(reserved)', which is reserved for D-Bus or focusd")
    }
    for name in chosen where !names.contains(name) {
      throw DBusError(.invalidArgs, "it does not have the interface '\(name)' that 'interfaces' lists")
    }
    return free.filter { chosen.contains($0.name.text) }
  }

  /// Why an object cannot stand behind a field: the registrant's error.
  private static func reason(_ error: any Error, _ object: OwnedObject) -> DBusError {
    let error = DBusError(any: error)
    switch error.name {
    case Focus1.ownerGone, .limitsExceeded: return error
    case .timeout:
      return DBusError(
        .timeout,
        "the object \(object.path) did not reply within 5 seconds: it must reply while the call to Register is in progress"
      )
    default:
      return DBusError(.invalidArgs, "the object \(object.path) cannot back a field: \(error.message)")
    }
  }
}

extension OwnedObject {
  /// Handles the answer to `GetAll` of `interface`; changes signalled meanwhile came before it.
  /// - Throws: `DBusError.invalidArgs` if it is not a dictionary, or a property does not have its declared type.
  fileprivate func takeIn(_ interface: InterfaceName, _ answer: Message, _ calls: OwnerCalls) throws {
    guard answer.signatureText == "a{sv}" else {
      throw DBusError(.invalidArgs, "the reply to GetAll for \(interface) is not a dictionary of properties")
    }
    let known = readable[interface.text] ?? [:]
    var misfit: (key: Key, declared: DBusType, sent: DBusType)?
    try answer.withBody { bytes throws(DBusError) in
      var reader = BodyReader(bytes, elementLimit: OwnerAnswer.elementLimit)
      _ = try? reader.array(ofEntries: true) { entry throws(WireError) in
        guard let (key, property) = known[try entry.text()] else { return try entry.skipVariant() }
        guard let value = try entry.variant(limit: OwnerAnswer.valueLimit) else { return }
        if value.type != property.type { misfit = (key, property.type, value.type) }
        if !value.measure.holdsUnixFD { keep(value, of: key, calls) }
      }
    }
    guard let misfit else { return }
    throw DBusError(
      .invalidArgs,
      "its property \(misfit.key) is of type '\(misfit.declared)' in its introspection but of type '\(misfit.sent)' in GetAll"
    )
  }

  /// The model's description of the object.
  /// - Throws: `ModelError.invalid` if a member cannot be a key.
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
      path: path, chosenInterfaces: chosen, properties: properties, commands: commands,
      interfaces: Set(interfaces.map(\.name)), values: values,
      size: introspectionSize + (chosen ?? []).reduce(0) { $0 + $1.utf8.count })
  }
}

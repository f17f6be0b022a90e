internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// A look at an object that is to stand behind a field: what it declares, and what it holds.
private final class ObjectIntrospection {
  typealias Handler = (Result<BoundObject, DBusError>) -> Void

  let object: OwnedObject
  /// The interfaces that the object declares.
  var declared: Set<String> = []
  /// The number of interfaces whose properties the owner has not sent yet.
  var awaited = 0
  private var handler: Handler?

  init(_ object: OwnedObject, _ handler: @escaping Handler) {
    self.object = object
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
  func introspect(_ object: OwnedObject, _ handler: @escaping (Result<BoundObject, DBusError>) -> Void) {
    objects.add(object)
    let introspection = ObjectIntrospection(object) { [weak self] result in
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
          try handler(result.get())
        } catch {
          introspection.end(.failure(FocusService.reason(error, object)))
        }
      }
    } catch {
      introspection.end(.failure(DBusError(any: error)))
    }
  }

  private func introspect(_ introspection: ObjectIntrospection) {
    ask(introspection, .introspectable, "Introspect") { [weak self] answer in
      try self?.introspected(introspection, answer.success())
    }
  }

  private func introspected(_ introspection: ObjectIntrospection, _ answer: Message) throws {
    let object = introspection.object
    guard case .string(let xml)? = try answer.limitedArguments().first else {
      throw DBusError(.invalidArgs, "the reply to Introspect is not a string")
    }
    let all = try IntrospectionDocument.interfaces(in: xml)
    if let reserved = object.chosen?.first(where: Key.isReserved) {
      throw DBusError(.invalidArgs, "'interfaces' lists '\(reserved)', which is reserved for D-Bus or focusd")
    }
    object.introspectionSize = xml.utf8.count
    object.hasResponder = all.contains { $0.name == .responder }
    let free = all.filter { !Key.isReserved($0.name.text) }
    introspection.declared = Set(free.map(\.name.text))
    object.expose(free.filter { object.chosen?.contains($0.name.text) ?? true })
    try object.declaration().check()

    let readable = Set(object.interfaces.filter { $0.properties.contains { $0.access != .write } }.map(\.name.text))
    // An object may have properties that it does not declare.
    let asked = readable.union(object.chosen ?? [])
    guard !asked.isEmpty else { return try finish(introspection) }
    introspection.awaited = asked.count
    for name in asked.sorted() {
      let interface = try InterfaceName(name)
      ask(introspection, .properties, "GetAll", [.string(name)]) { [weak self] answer in
        guard let self else { return }
        if readable.contains(name) || answer.kind != .error {
          try object.takeIn(interface, answer.success(), isDeclared: readable.contains(name), ownerCalls)
        }
        introspection.awaited -= 1
        if introspection.awaited == 0 { try finish(introspection) }
      }
    }
  }

  private func finish(_ introspection: ObjectIntrospection) throws {
    let object = introspection.object
    // At a second look, what has vanished is nil.
    let wanted = object.isAgain ? [] : object.chosen ?? []
    for name in wanted where !object.interfaces.contains(where: { $0.name.text == name }) {
      throw DBusError(.invalidArgs, "it does not have the interface '\(name)' that 'interfaces' lists")
    }
    // GDBus and others answer for objects that are not there, with the standard interfaces alone.
    guard object.hasResponder || !introspection.declared.isEmpty || !object.interfaces.isEmpty else {
      throw DBusError(
        .invalidArgs, "it has neither an interface to expose nor \(InterfaceName.responder)")
    }
    let declaration = try object.declaration()
    try declaration.check()
    introspection.end(.success(declaration))
  }

  /// Why an object cannot stand behind a field: the registrant's error.
  private static func reason(_ error: any Error, _ object: OwnedObject) -> DBusError {
    let error = DBusError(any: error)
    switch error.name {
    case Focus1.ownerGone, .limitsExceeded: return error
    case .timeout:
      return DBusError(
        .timeout,
        "the object \(object.path) did not reply within 5 seconds: it must reply while it is registered or examined"
      )
    default:
      return DBusError(.invalidArgs, "the object \(object.path) cannot back a field: \(error.message)")
    }
  }
}

extension OwnedObject {
  /// Handles the answer to `GetAll` of `interface`; changes signalled meanwhile came before it.
  ///
  /// What the object tells of an interface that the registrant chose is taken even if it is not declared.
  /// - Throws: `DBusError.invalidArgs` if it is not a dictionary and the interface `isDeclared` to have properties.
  fileprivate func takeIn(
    _ interface: InterfaceName, _ answer: Message, isDeclared: Bool, _ calls: OwnerCalls
  ) throws {
    guard answer.signatureText == "a{sv}" else {
      guard isDeclared else { return }
      throw DBusError(.invalidArgs, "the reply to GetAll for \(interface) is not a dictionary of properties")
    }
    let mayAdd = chosen?.contains(interface.text) == true
    let declared = Set(self.interface(interface)?.properties.map(\.name.text) ?? [])
    var found: [InterfaceDescription.Property] = []
    try answer.withBody { bytes throws(DBusError) in
      var reader = BodyReader(bytes, elementLimit: OwnerAnswer.elementLimit)
      _ = try? reader.array(ofEntries: true) { entry throws(WireError) in
        let name = try entry.text()
        guard let key = readableKey(interface.text, name) ?? (mayAdd ? newKey(interface, name, declared) : nil),
          found.count <= Limits.keysPerField
        else { return try entry.skipVariant() }
        guard let value = try entry.variant(limit: OwnerAnswer.valueLimit) else {
          unfit[key] = OwnerAnswer.tooLarge
          return
        }
        if !declared.contains(name), !found.contains(where: { $0.name == key.member }) {
          found.append(.init(key.member, value.type, .readWrite))
        }
        keep(value, of: key, calls)
      }
    }
    guard !found.isEmpty else { return }
    var all = interfaces
    if !all.contains(where: { $0.name == interface }) { all.append(InterfaceDescription(interface)) }
    for index in all.indices where all[index].name == interface { all[index].properties += found }
    expose(all)
  }

  private func newKey(_ interface: InterfaceName, _ name: String, _ declared: Set<String>) -> Key? {
    declared.contains(name) ? nil : try? Key(interface: interface.text, member: name)
  }

  /// The model's description of the object.
  /// - Throws: `ModelError.invalid` if a member cannot be a key.
  fileprivate func declaration() throws -> BoundObject {
    var properties: [Key: BoundObject.Property] = [:]
    var commands: Set<Key> = []
    for interface in interfaces {
      for property in interface.properties {
        let key = try Key(interface: interface.name.text, member: property.name.text)
        properties[key] = .init(
          type: property.type, isReadable: property.access != .write, isWritable: property.access != .read)
      }
      for method in interface.methods {
        commands.insert(try Key(interface: interface.name.text, member: method.name.text))
      }
    }
    let choice = (chosen ?? []).reduce(0) { $0 + $1.utf8.count } + live.reduce(0) { $0 + $1.description.utf8.count }
    return BoundObject(
      path: path, chosenInterfaces: chosen, live: live, properties: properties, commands: commands,
      interfaces: Set(interfaces.map(\.name)), values: values, size: introspectionSize + choice)
  }
}

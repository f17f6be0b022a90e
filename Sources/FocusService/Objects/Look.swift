internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// One look at an owner's object: it is followed, introspected and read, whatever that is for.
final class Look {
  /// What it is for.
  enum Purpose {
    /// A field is being registered with the object.
    case registration(Registration)
    /// `Examine` of a field.
    case examination(FieldID, Request)
    /// A saved field is to have its object again. Another field of the name has another registration.
    case restoration(FieldID, registration: UInt64)
  }

  let object: OwnedObject
  let choice: ObjectChoice
  let purpose: Purpose
  /// How it has ended; nil: it has not.
  private var outcome: Result<Void, DBusError>?
  /// How many interfaces have properties that are not all read yet.
  private var awaited = 0
  /// What the object exposes.
  private var interfaces: [InterfaceDescription] = []
  private var introspectionSize = 0
  /// How many bytes of it count among what waits for the owner.
  private var countedSize = 0
  private var hasResponder = false
  /// Whether the object shows any interface that could be exposed.
  private var showsAny = false
  /// The first name of an interface of the object that is not valid.
  private var misnamed: SyntaxError?
  /// What the object declares, and holds now; its values count among what waits for the owner.
  private(set) var bound: BoundObject
  /// The keys whose values, and the commands whose arguments, do not fit, and why.
  private(set) var unfit: [Key: String] = [:]
  /// Whether what it was for is done; until the turn's end it goes on to keep what the object tells.
  var isCompleted = false

  init(at object: OwnedObject, _ choice: ObjectChoice, for purpose: Purpose) {
    (self.object, self.choice, self.purpose) = (object, choice, purpose)
    bound = BoundObject(choice, properties: [:], commands: [:])
  }

  var isEnded: Bool { outcome != nil }

  /// Whether it is a look at what a field shows or has shown: what has vanished is nil then.
  private var isAgain: Bool {
    if case .registration = purpose { false } else { true }
  }

  /// What the object declares, and holds now.
  /// - Throws: the error that ended the look.
  func result() throws(DBusError) -> BoundObject {
    try outcome?.get()
    return bound
  }
}

/// Its steps: what one of them throws ends it.
extension Look {
  /// The owner has answered `Introspect`.
  /// - Returns: the interfaces of which `read` expects the properties.
  func introspected(_ answer: Result<Message, DBusError>, _ calls: OwnerCalls) throws -> [InterfaceName] {
    guard case .string(let xml)? = try answer.get().success().limitedArguments().first else {
      throw DBusError(.invalidArgs, "the reply to Introspect is not a string")
    }
    let declared = try IntrospectionDocument.interfaces(in: xml) { [self] name in
      if name == Focus1.responder { hasResponder = true }
      guard !Key.isReserved(name.text) else { return false }
      showsAny = true
      return choice.interfaces?.contains(name.text) ?? true
    } onInvalidName: { [self] error in
      misnamed = misnamed ?? error
    }
    if let reserved = choice.interfaces?.first(where: Key.isReserved) {
      throw DBusError(.invalidArgs, "'interfaces' lists '\(reserved)', which is reserved for D-Bus or focusd")
    }
    introspectionSize = xml.utf8.count
    // What was saved must be there again, however much that is at once.
    if case .restoration = purpose {
    } else {
      try calls.enter(object.owner, Load(bytes: introspectionSize))
      countedSize = introspectionSize
    }
    interfaces = declared
    addCommands()
    try expose()
    try bound.check()
    let readable = bound.properties.filter(\.value.isReadable).keys.map(\.interface.text)
    let asked = Set(readable).union(choice.interfaces ?? [])
    awaited = asked.count
    if asked.isEmpty { try finish() }
    return try asked.sorted().map { name in try InterfaceName(name) }
  }

  /// The owner has answered `GetAll` of `interface`.
  /// - Returns: the keys to read one by one, since it does not tell them at once: sd-bus refuses all if it cannot tell one.
  func read(_ interface: InterfaceName, _ answer: Result<Message, DBusError>, _ calls: OwnerCalls) throws -> [Key] {
    let reply = try answer.get()
    let readable = Dictionary(bound.readableKeys(of: interface.text).map { ($0.member.text, $0) }) { $1 }
    if let error = reply.error, error.name != .unknownObject { return readable.values.sorted() }
    // An object may have properties that it does not declare.
    if !readable.isEmpty || reply.signatureText == "a{sv}" {
      try takeProperties(of: interface, readable, reply.success(), calls)
    }
    return []
  }

  /// The owner has answered `Get` of `key`.
  ///
  /// An error means that the key is nil, unless the owner has told a value since `Introspect`.
  func read(_ key: Key, _ answer: Result<Message, DBusError>, _ calls: OwnerCalls) throws {
    let reply = try answer.get()
    if let error = reply.error, error.name != .unknownObject { return }
    let value = try reply.success().propertyValue(of: key)
    keep(value, of: key, calls)
    if value == nil { unfit[key] = OwnerAnswer.tooLarge }
  }

  /// All properties of an interface have been read.
  func interfaceIsRead() throws {
    awaited -= 1
    if awaited == 0 { try finish() }
  }

  /// Ends the look with what speaks against the object, as the registrant is told it.
  func end(_ error: any Error) {
    var error = DBusError(any: error)
    switch error.name {
    case Focus1.ownerGone, Focus1.nothingToExpose, .limitsExceeded: break
    case .timeout:
      error = DBusError(
        .timeout,
        "the object \(object.path) did not reply within 5 seconds: it must reply while it is registered or examined")
    default: error = DBusError(.invalidArgs, "the object \(object.path) cannot back a field: \(error.message)")
    }
    outcome = .failure(error)
  }

  private func finish() throws {
    // GDBus and others answer for objects that are not there, with the standard interfaces alone.
    guard hasResponder || showsAny || !interfaces.isEmpty else {
      if let misnamed { throw misnamed }
      throw DBusError(
        Focus1.nothingToExpose,
        "the object \(object.path) has neither an interface to expose, none below org.freedesktop among them, nor "
          + "\(Focus1.responder): give the path of one that has, or name in 'interfaces' what its introspection leaves out"
      )
    }
    if !isAgain {
      let shown = Set(interfaces.map(\.name.text))
      if let missing = choice.interfaces?.first(where: { !shown.contains($0) }) {
        throw DBusError(.invalidArgs, "it does not have the interface '\(missing)' that 'interfaces' lists")
      }
      if let command = choice.commands.keys.sorted().first(where: { !shown.contains($0.interface.text) }) {
        throw DBusError(
          .invalidArgs, "'commands' lists \(command), but the interface '\(command.interface)' is not exposed")
      }
    }
    try bound.check()
    outcome = .success(())
  }
}

/// What the object tells.
extension Look {
  /// Exposes the interfaces, as the object declares or tells them.
  /// - Throws: `SyntaxError` if a member cannot be a key.
  private func expose() throws {
    var properties: [Key: BoundObject.Property] = [:]
    var commands: [Key: BoundObject.Command] = [:]
    var signals: [InterfaceName: [InterfaceDescription.Signal]] = [:]
    for interface in interfaces {
      for property in interface.properties {
        let key = try Key(interface: interface.name.text, member: property.name.text)
        properties[key] = .init(
          type: property.type, isReadable: property.access != .write, isWritable: property.access != .read,
          emits: choice.live.contains(key) ? .never : property.emits)
      }
      for method in interface.methods {
        let key = try Key(interface: interface.name.text, member: method.name.text)
        do throws(VocabularyError) {
          try Vocabulary.check(Signature(known: method.input.map(\.type)), of: key)
          commands[key, default: .init()].methods.append(method)
          unfit[key] = nil
        } catch {
          if commands[key] == nil { unfit[key] = error.description }
        }
      }
      if !interface.signals.isEmpty { signals[interface.name] = interface.signals }
    }
    bound = BoundObject(
      choice, properties: properties, commands: commands, signals: signals, interfaces: Set(interfaces.map(\.name)),
      hasResponder: hasResponder, values: bound.values, introspectionSize: introspectionSize)
  }

  /// Adds the commands that the registrant says the object has, as far as their interfaces are exposed.
  private func addCommands() {
    for (key, signature) in choice.commands.sorted(by: { $0.key < $1.key }) {
      let method = InterfaceDescription.Method(key.member, in: signature.types.map { .init("", $0) })
      if let place = interfaces.firstIndex(where: { $0.name == key.interface }) {
        if !interfaces[place].methods.contains(where: { $0.name == key.member }) {
          interfaces[place].methods.append(method)
        }
      } else if choice.interfaces?.contains(key.interface.text) == true {
        interfaces.append(InterfaceDescription(key.interface, methods: [method]))
      }
    }
  }

  /// Takes the answer to `GetAll` of `interface`, of one that the registrant chose also what is not declared; changes
  /// signalled meanwhile came before it.
  /// - Throws: `DBusError.invalidArgs` if it is not a dictionary.
  private func takeProperties(
    of interface: InterfaceName, _ readable: [String: Key], _ answer: Message, _ calls: OwnerCalls
  ) throws {
    guard answer.signatureText == "a{sv}" else {
      throw DBusError(.invalidArgs, "the reply to GetAll for \(interface) is not a dictionary of properties")
    }
    let mayAdd = choice.interfaces?.contains(interface.text) == true
    let declared = Set(interfaces.first { $0.name == interface }?.properties.map(\.name.text) ?? [])
    var found: [InterfaceDescription.Property] = []
    try answer.withBody { bytes throws(DBusError) in
      var reader = BodyReader(bytes, elementLimit: OwnerAnswer.elementLimit)
      _ = try? reader.array(ofEntries: true) { entry throws(WireError) in
        let name = try entry.text()
        let isNew = mayAdd && !declared.contains(name)
        guard
          let key = readable[name]
            ?? (isNew ? try? Key(interface: interface.text, member: name) : nil),
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
    if !interfaces.contains(where: { $0.name == interface }) { interfaces.append(InterfaceDescription(interface)) }
    for index in interfaces.indices where interfaces[index].name == interface { interfaces[index].properties += found }
    try expose()
  }

  /// Keeps what the owner tells, nil for no value any more; what is past its allowance is nil.
  func keep(_ value: MarshalledValue?, of key: Key, _ calls: OwnerCalls) {
    if let old = bound.values.removeValue(forKey: key) { calls.leave(object.owner, Load(bytes: old.size)) }
    unfit[key] = nil
    guard let value else { return }
    do {
      try calls.enter(object.owner, Load(bytes: value.size))
      bound.values[key] = value
    } catch {
      unfit[key] = "too many values of the owner wait to be shown"
    }
  }

  /// Lets go of what was kept.
  func detach(_ calls: OwnerCalls) {
    calls.leave(object.owner, Load(bytes: bound.values.values.reduce(countedSize) { $0 + $1.size }))
    (bound.values, countedSize) = ([:], 0)
    object.looks.removeAll { $0 === self }
  }
}

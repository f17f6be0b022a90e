internal import DBus
internal import DBusTypes

/// The object that stands behind one field: its properties are the bindings, its methods the commands.
final class ExportedField {
  typealias Waiter = (Result<ObjectPath, FocusError>) -> Void

  private enum Stage {
    case waiting
    case taken(ObjectPath)
    case refused(FocusError)
  }

  /// The field that the program knows.
  let owner: UInt64
  /// Its own number: another where it is the scene-scoped half of a field.
  let number: UInt64
  let label: String?
  let parent: UInt64?
  let isSceneScoped: Bool
  let isSensitive: Bool
  let focus: FieldDefinition.Focus?
  let objectPath: ObjectPath
  private(set) var id: String
  private var stage = Stage.waiting
  private var waiters: [Waiter] = []

  private let letters: Worker.Letters
  private(set) var properties: [KeyName: PublishedProperty] = [:]
  private(set) var commands: [KeyName: PublishedCommand] = [:]
  /// What is told to others, one change after another.
  private let teller: ChangeTeller
  /// The keys of whose changes Observation tells.
  private var observed: Set<KeyName> = []
  private var cancellations: [@Sendable () -> Void] = []

  private static let sceneBit: UInt64 = 1 << 63

  private init(
    _ definition: FieldDefinition, number: UInt64, id: String, parent: UInt64?, isSceneScoped: Bool,
    focus: FieldDefinition.Focus?, _ publications: [Publication], _ link: Link
  ) {
    let letters = link.letters
    owner = definition.number
    self.number = number
    self.id = id
    label = definition.label
    self.parent = parent
    self.isSceneScoped = isSceneScoped
    isSensitive = definition.isSensitive
    self.focus = focus
    self.letters = letters
    objectPath = ObjectPath(known: "/org/focusd/FocusKit/\(isSceneScoped ? "scene" : "field")\(definition.number)")
    teller = ChangeTeller(objectPath, link)
    for publication in publications { publish(publication) }
    if let focus {
      cancellations.append(focus.follow { letters.post { $0.fields.focusStateChanged(number) } })
    }
  }

  convenience init(_ definition: FieldDefinition, _ link: Link) {
    self.init(
      definition, number: definition.number, id: definition.id, parent: definition.parent, isSceneScoped: false,
      focus: definition.focus, definition.values, link)
  }

  /// What a field publishes for its whole scene is a field of its own within it; nil where that is nothing.
  convenience init?(sceneOf definition: FieldDefinition, _ link: Link) {
    guard !definition.sceneValues.isEmpty else { return nil }
    self.init(
      definition, number: definition.number | Self.sceneBit, id: definition.id.isEmpty ? "" : definition.id + "_scene",
      parent: definition.number, isSceneScoped: true, focus: nil, definition.sceneValues, link)
  }

  private func publish(_ publication: Publication) {
    do throws(FocusError) {
      let key = try KeyName(publication.name)
      switch publication.content {
      case .property(let property): publish(property, key)
      case .command(let command): commands[key] = command
      case .unsupported(let type):
        throw FocusError("'\(publication.name)' is of type '\(type)', which D-Bus cannot represent")
      }
    } catch {
      letters.post { $0.report(error) }
    }
  }

  private func publish(_ property: PublishedProperty, _ key: KeyName) {
    let (number, letters) = (number, letters)
    properties[key] = property
    let cancel = property.follow { value in letters.post { $0.fields.changed(number, key, value) } }
    if let cancel { cancellations.append(cancel) } else { observed.insert(key) }
    if let value = try? read(key, property) { teller.begin(key, value) }
  }

  /// The value now; where Observation tells of changes, it tells of the next one.
  private func read(_ key: KeyName, _ property: PublishedProperty) throws -> DBusValue {
    guard observed.contains(key) else { return try property.get() }
    let (number, letters) = (number, letters)
    return try property.observed { letters.post { $0.fields.changed(number, key, nil) } }
  }

  func close() {
    for cancel in cancellations { cancel() }
    cancellations = []
  }

  // MARK: Registration

  var path: ObjectPath? {
    guard case .taken(let path) = stage else { return nil }
    return path
  }

  var isWaiting: Bool {
    guard case .waiting = stage else { return false }
    return true
  }

  var wantsFocus: Bool { focus?.isWanted() ?? false }

  func taken(_ path: ObjectPath) {
    stage = .taken(path)
    // So that it comes back at the same place.
    if let last = path.elements.last { id = String(last) }
    tellWaiters(.success(path))
  }

  func fail(_ error: FocusError) {
    stage = .refused(error)
    tellWaiters(.failure(error))
  }

  func daemonLeft() { stage = .waiting }

  func whenRegistered(_ handler: @escaping Waiter) {
    switch stage {
    case .waiting: waiters.append(handler)
    case .taken(let path): handler(.success(path))
    case .refused(let error): handler(.failure(error))
    }
  }

  private func tellWaiters(_ result: Result<ObjectPath, FocusError>) {
    let told = waiters
    waiters = []
    for waiter in told { waiter(result) }
  }

  // MARK: Values

  /// Tells of a new value, or reads it where none is given.
  func changed(_ key: KeyName, _ value: DBusValue?) {
    guard let property = properties[key], let value = try? value ?? read(key, property) else { return }
    teller.tell(key, value)
  }

  /// Reads what Observation may not have told of yet.
  private func refresh(_ key: KeyName) {
    if observed.contains(key) { changed(key, nil) }
  }

  // MARK: Calls

  /// Answers `message`; `settle` has what the program changed meanwhile told of.
  func called(_ message: Message, _ reply: FieldReply, _ settle: () -> Void) {
    do {
      switch (message.interface, message.member?.text) {
      case (.introspectable, "Introspect"): reply.succeed([.string(introspection)])
      case (.properties, "Get"): reply.succeed([.variant(try get(message))])
      case (.properties, "GetAll"): reply.succeed([try getAll(message)])
      case (.properties, "Set"):
        try set(message, settle)
        teller.afterAll { reply.succeed([]) }
      default: try run(message, reply)
      }
    } catch {
      reply.fail(FocusError(any: error).onBus)
    }
  }

  private func key(_ arguments: [DBusValue]) throws -> (KeyName, PublishedProperty) {
    guard arguments.count >= 2, case .string(let interface) = arguments[0], case .string(let member) = arguments[1]
    else { throw FocusError("expected an interface and a property", name: ErrorName.invalidArgs.text) }
    let key = try KeyName("\(interface).\(member)")
    guard let property = properties[key] else {
      throw FocusError("the field has no '\(interface).\(member)'", name: ErrorName.unknownProperty.text)
    }
    return (key, property)
  }

  private func get(_ message: Message) throws -> DBusValue {
    let (key, property) = try key(message.arguments())
    refresh(key)
    return try teller.told[key] ?? property.get()
  }

  private func getAll(_ message: Message) throws -> DBusValue {
    guard case .string(let interface)? = try message.arguments().first else {
      throw FocusError("expected an interface", name: ErrorName.invalidArgs.text)
    }
    let keys = properties.keys.filter { interface.isEmpty || $0.interface.text == interface }
    for key in keys { refresh(key) }
    return .properties(
      keys.sorted { $0.member < $1.member }.compactMap { key in
        teller.told[key].map { (name: key.member.text, value: $0) }
      })
  }

  private func set(_ message: Message, _ settle: () -> Void) throws {
    let arguments = try message.arguments()
    let (key, property) = try key(arguments)
    guard arguments.count == 3, let value = arguments[2].variantContent else {
      throw FocusError("expected a value", name: ErrorName.invalidArgs.text)
    }
    guard let set = property.set else {
      throw FocusError("'\(key.interface).\(key.member)' is read-only", name: ErrorName.propertyReadOnly.text)
    }
    guard value.type == property.type else {
      throw FocusError(
        "'\(key.interface).\(key.member)' is of type '\(property.type)', not '\(value.type)'",
        name: FocusError.typeMismatch)
    }
    try set(value)
    settle()
    refresh(key)
  }

  private func run(_ message: Message, _ reply: FieldReply) throws {
    guard let interface = message.interface, let member = message.member,
      let command = commands[try KeyName("\(interface).\(member)")]
    else {
      throw FocusError(
        "the field has no command '\(message.member?.text ?? "")'", name: ErrorName.unknownMethod.text)
    }
    let arguments = try message.arguments()
    guard arguments.map(\.type) == command.input else {
      let expected = command.input.map(\.description).joined()
      throw FocusError(
        "the command takes '\(expected)', not '\(message.signatureText)'", name: ErrorName.invalidArgs.text)
    }
    let token = reply.later()
    Task {
      do { token.succeed(try await command.run(arguments)) } catch { token.fail(FocusError(any: error)) }
    }
  }
}

public import DBusTypes
public import FocusContract

/// Which object stands behind a field, and what of it, as its registrant says.
public struct ObjectChoice: Hashable, Sendable {
  /// Where the object is, in the connection that has it.
  public var path: ObjectPath
  /// The interfaces that are exposed, or nil for all that the object shows.
  public var interfaces: [String]?
  /// The keys that are read from the object each time.
  public var live: Set<Key>
  /// The commands that the object has though its introspection may not show them, each with the signature of its arguments.
  public var commands: [Key: Signature]

  /// Creates a choice.
  public init(
    path: ObjectPath, interfaces: [String]? = nil, live: Set<Key> = [], commands: [Key: Signature] = [:]
  ) {
    (self.path, self.interfaces, self.live, self.commands) = (path, interfaces, live, commands)
  }

  /// Checks that those of the commands that programs share have their arguments.
  /// - Throws: `ModelError.vocabulary`.
  public func check() throws(ModelError) {
    for (key, signature) in commands.sorted(by: { $0.key < $1.key }) {
      do { try Vocabulary.check(signature, of: key) } catch { throw .vocabulary(error) }
    }
  }

  /// The bytes of the names in it.
  public var size: Int {
    (interfaces ?? []).reduce(0) { $0 + $1.utf8.count } + live.reduce(0) { $0 + $1.description.utf8.count }
      + commands.reduce(0) { $0 + $1.key.description.utf8.count + $1.value.text.utf8.count }
  }
}

/// The owner's own object behind a field: what it shows and emits, and which of its commands are enabled.
public struct BoundObject: Equatable, Sendable {
  /// A property that the object declares: a bound binding if the owner has sent a value, or it can only be written.
  public struct Property: Hashable, Sendable {
    /// The property's type, which its value may not have.
    public var type: DBusType
    /// Whether it can be read.
    public var isReadable: Bool
    /// Whether it can be written.
    public var isWritable: Bool
    /// How changes of it are told; `never` for one that is read from the object each time.
    public var emits: InterfaceDescription.Property.Emits

    /// Creates a declaration.
    public init(
      type: DBusType, isReadable: Bool = true, isWritable: Bool, emits: InterfaceDescription.Property.Emits = .always
    ) {
      self.type = type
      self.isReadable = isReadable
      self.isWritable = isWritable
      self.emits = emits
    }

    /// Whether the owner is asked for the value each time.
    public var isReadEachTime: Bool { isReadable && emits == .never }
  }

  /// A method that the object declares.
  public struct Command: Hashable, Sendable {
    /// Whether it can be called now.
    public internal(set) var isEnabled = true
    /// The declarations of that name: an object may have several, with other arguments.
    public var methods: [InterfaceDescription.Method]

    /// Creates an enabled command.
    public init(_ methods: [InterfaceDescription.Method] = []) { self.methods = methods }
  }

  /// Which object it is, and what of it is exposed.
  public let choice: ObjectChoice
  /// The properties that the object declares, or tells.
  public internal(set) var properties: [Key: Property]
  /// The methods that the object declares.
  public internal(set) var commands: [Key: Command]
  /// The signals that the object declares, by interface.
  public let signals: [InterfaceName: [InterfaceDescription.Signal]]
  /// The interfaces that the object declares, those without properties and methods included.
  public let interfaces: Set<InterfaceName>
  /// Whether the object may be asked to take focus.
  public let hasResponder: Bool
  /// The initial values of the properties.
  public var values: [Key: MarshalledValue]
  /// The bytes that the declaration takes, which count as the owner's.
  public let size: Int

  /// Creates an object that shows these properties and commands, and these interfaces beside theirs.
  public init(
    _ choice: ObjectChoice, properties: [Key: Property], commands: [Key: Command],
    signals: [InterfaceName: [InterfaceDescription.Signal]] = [:], interfaces: Set<InterfaceName> = [],
    hasResponder: Bool = false, values: [Key: MarshalledValue] = [:], introspectionSize: Int = 0
  ) {
    (self.choice, self.properties, self.commands, self.signals) = (choice, properties, commands, signals)
    self.interfaces = interfaces.union(properties.keys.map(\.interface)).union(commands.keys.map(\.interface))
    self.hasResponder = hasResponder
    self.values = values
    size = introspectionSize + choice.size
  }

  /// Where the object is, in the connection that has it.
  public var path: ObjectPath { choice.path }

  /// The keys and commands of the object.
  var keys: Set<Key> { Set(properties.keys).union(commands.keys) }

  /// How many of a field's keys the object takes up, whether its properties have values or not.
  var keyCount: Int { properties.count + commands.count }

  /// The commands that are disabled.
  var disabled: Set<Key> { Set(commands.filter { !$1.isEnabled }.keys) }

  /// The object with these of its commands disabled, and no others.
  func with(disabled: Set<Key>) -> BoundObject {
    var object = self
    for key in commands.keys { object.commands[key]?.isEnabled = !disabled.contains(key) }
    return object
  }

  /// The type that the object declares for `key`; nil if it has none, or if programs share the key and its type is another.
  func type(ofWritesTo key: Key) -> DBusType? {
    guard let type = properties[key]?.type else { return nil }
    return (try? Vocabulary.check(type, of: key)).map { type }
  }

  /// The keys that can only be written; one of the vocabulary has its type.
  var writeOnlyKeys: [Key] { properties.filter { !$1.isReadable && type(ofWritesTo: $0) != nil }.map(\.key) }

  /// The keys of the properties that can be read, of `interface`.
  public func readableKeys(of interface: String) -> [Key] {
    properties.compactMap { key, property in property.isReadable && key.interface.text == interface ? key : nil }
  }

  /// Whether `key` is a property that can be read.
  public func reads(_ key: Key) -> Bool { properties[key]?.isReadable == true }

  /// Checks that a field may have so many keys.
  /// - Throws: `ModelError.limitExceeded`.
  public func check() throws(ModelError) { try Limits.check(keys: keyCount) }
}

extension FocusModel {
  /// Updates the properties of a bound field, as far as they are declared, to the values that its owner sent; nil: none.
  /// - Returns: the keys whose values do not fit, which count as nil, and why.
  @discardableResult
  public func update(_ values: [Key: MarshalledValue?], of id: FieldID) -> [Key: ModelError] {
    guard let field = fields[id], let object = field.object else { return [:] }
    let values = values.filter { object.properties[$0]?.isReadable == true && field.bindings[$0]?.value != $1 }
    guard !values.isEmpty else { return [:] }
    var unfit: [Key: ModelError] = [:]
    amend(id, values.keys) { table in
      for (key, value) in values.sorted(by: { $0.key < $1.key }) {
        var binding: FieldBinding?
        if let value, let property = object.properties[key] {
          do throws(ModelError) {
            let extent = try FocusModel.extent(of: value, toldOf: key, of: field, table)
            binding = FieldBinding(value, revision: nextRevision(), extent: extent, of: property)
          } catch {
            unfit[key] = error
          }
        }
        table.set(binding, for: key, in: id)
      }
    }
    updateActivity(of: id)
    return unfit
  }

  /// Why `value`, which the field's owner sent, is not shown; nil if it is.
  public func reason(against value: MarshalledValue, toldOf key: Key, of id: FieldID) -> ModelError? {
    guard let field = fields[id], field.bindings[key] == nil else { return nil }
    do throws(ModelError) { _ = try FocusModel.extent(of: value, toldOf: key, of: field, table) } catch { return error }
    return nil
  }

  private static func extent(
    of value: MarshalledValue, toldOf key: Key, of field: Field, _ table: FieldTable
  ) throws(ModelError) -> Extent {
    let extent = try check(value, of: key)
    let growth = extent - (field.bindings[key]?.extent ?? .zero)
    try table.allowances.check(growth, of: field)
    return extent
  }

  /// Turns commands of a field off and on; while its object has not answered after a restart, it has those that were off.
  /// - Throws: `ModelError`: `noSuchField`, `accessDenied`, `unknownCommand` for the first that the field does not have.
  public func setEnabled(
    _ enabled: some Collection<(key: Key, value: Bool)>, of id: FieldID, by client: BusName
  ) throws(ModelError) {
    let field = try field(id, ownedBy: client, to: "enable commands of")
    let (commands, off) = (field.commands, field.awaited?.disabled ?? [])
    if let stray = enabled.first(where: { commands[$0.key] == nil && !off.contains($0.key) }) {
      throw .unknownCommand(stray.key, id)
    }

    edit(id, by: client) { table in
      for (key, isEnabled) in enabled { table.enable(key, isEnabled, in: id) }
    }
  }

  /// The field that a call of the command `key` at `place` goes to.
  /// - Throws: `ModelError`: `commandNotFocused` at `focused`, `unknownCommand` or `noSuchField` at a field, `disabled`.
  public func holder(ofCommand key: Key, at place: Place) throws(ModelError) -> FieldID {
    let id: FieldID
    switch place {
    case .field(let field):
      guard try self.field(field).commands[key] != nil else { throw .unknownCommand(key, field) }
      id = field
    case .focused:
      guard let field = resolve(command: key) else {
        if let id = resolve(key) { throw .unknownCommand(key, id) }
        throw .commandNotFocused(key)
      }
      id = field
    }
    guard fields[id]?.commands[key]?.isEnabled == true else { throw .disabled(key, id) }
    return id
  }

  /// The field that the command `key` resolves to now, enabled or not, or nil.
  public func resolve(command key: Key) -> FieldID? { nearby.holder(ofCommand: key) }

  /// The commands at `place`, each with the field that has it and whether it is enabled.
  /// - Throws: `ModelError.noSuchField`.
  public func commands(at place: Place) throws(ModelError) -> [Key: (field: FieldID, isEnabled: Bool)] {
    if case .field(let id) = place { return try field(id).commands.mapValues { (id, $0.isEnabled) } }
    return resolveAll(table.names.commands, of: nil) { $0.commands }.mapValues { ($0.field, $0.value.isEnabled) }
  }

  /// The command at `place` that is called `member`, the first in the order of their interfaces; nil for none.
  /// - Throws: `ModelError.noSuchField`.
  public func command(named member: MemberName, at place: Place) throws(ModelError) -> Key? {
    func own(_ id: FieldID) -> [Key] { fields[id]?.commands.keys.filter { $0.member == member } ?? [] }
    if case .field(let id) = place { return own(try field(id).id).min() }
    let nearby = nearby
    let inScenes = nearby.scenes.flatMap { scene in
      table.names.interfaces.names(in: scene).lazy.map { Key($0, member) }
    }
    return ((focusPath + sessionFields).flatMap(own) + inScenes).filter { nearby.holder(ofCommand: $0) != nil }.min()
  }

  /// The field that `interface` resolves to now: the innermost on the focus path that has it, else the newest
  /// scene-scoped one of the path's scene, else the first session-scoped one; else one of the path or its scene whose object
  /// declares it, for its signals; nil for none.
  public func resolve(_ interface: InterfaceName) -> FieldID? { nearby.holder(of: interface) }

  /// The interfaces of the objects behind fields at `place`, each with the field that it resolves to.
  /// - Throws: `ModelError.noSuchField`.
  public func objectInterfaces(at place: Place) throws(ModelError) -> [InterfaceName: FieldID] {
    var found: [InterfaceName: FieldID] = [:]
    switch place {
    case .field(let id):
      for interface in try field(id).object?.interfaces ?? [] { found[interface] = id }
    case .focused:
      var interfaces: Set<InterfaceName> = []
      for id in focusPath { interfaces.formUnion(fields[id]?.object?.interfaces ?? []) }
      for scene in nearby.scenes { interfaces.formUnion(table.names.declared.names(in: scene)) }
      interfaces.formUnion(table.session.interfaces)
      for interface in interfaces { found[interface] = resolve(interface) }
    }
    return found
  }
}

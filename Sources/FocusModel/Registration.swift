public import DBusTypes
public import FocusContract

extension FocusModel {
  /// Adds a field with stored bindings of these values.
  /// - Returns: the field's name: `id`, or one that is free.
  /// - Throws: `ModelError`: `fieldExists`, `noSuchField` for the parent, `invalid`, `vocabulary`, `limitExceeded`.
  public func register(
    _ id: FieldID?, _ values: [Key: MarshalledValue], _ options: FieldOptions = FieldOptions(), owner: BusName
  ) throws(ModelError) -> FieldID {
    if let id, fields[id] != nil || reserved.contains(id) { throw .fieldExists(id) }
    if let parent = options.parent {
      guard fields[parent] != nil else { throw .noSuchField(parent.text) }
      guard table.path(from: parent).count(where: { fields[$0]?.window == nil }) < Limits.fieldDepth else {
        throw .limitExceeded("fields may be nested \(Limits.fieldDepth) deep, and '\(parent)' already is at that depth")
      }
    }
    let isWindow = options.parent == nil && owner == windowBridge
    guard !isWindow || !options.lingers else {
      throw .invalid("a window cannot have the option 'linger': it is removed with its bridge")
    }
    guard !isWindow || options.service == nil else {
      throw .invalid("a window cannot have the option 'service': its object is its bridge's own")
    }
    guard options.active == nil || options.scope == .session else {
      throw .invalid("the option 'active' needs the scope 'session'")
    }
    if let key = options.active?.key, options.object?.choice.live.contains(key) == true {
      throw .invalid("\(key) is in 'live' and in 'active': a key that is read each time makes no field active")
    }
    let label = options.label ?? id?.text
    if let label, label.utf8.count > Limits.labelLength {
      throw .limitExceeded("a label may have \(Limits.labelLength) bytes, but this one has \(label.utf8.count)")
    }
    let bound = options.object
    if let parent = options.parent {
      try checkScene(table.scene(of: parent), options.scope, keys: values.count + (bound?.keyCount ?? 0))
    }
    guard bound == nil || !options.lingers else {
      throw .invalid("a field with the option 'object' cannot have 'linger': it is removed with its owner")
    }
    if let key = values.keys.sorted().first(where: { bound?.properties[$0] != nil }) {
      throw .invalid("\(key) is both a stored value and a property of the field's object: choose one")
    }
    if let active = options.active { _ = try Limits.check(active.value, of: active.key) }
    let checked = try check(values, readOnly: options.readOnly, of: nil, object: bound)

    let registration = lastRegistration + 1
    let id = id ?? unusedID(from: registration)
    var field = Field(
      id: id, label: label ?? id.text, scope: options.scope, lingers: options.lingers,
      isSensitive: options.isSensitive, owner: owner, parent: options.parent, registration: registration,
      service: bound == nil ? nil : options.service, process: options.process, window: isWindow ? Window() : nil,
      activity: options.scope == .session ? Activity(options.active) : nil)
    if options.parent == nil, !isWindow, let home = table.home(of: field.connection) {
      field.parts.parent = home
      field.parts.isAdopted = true
    }
    field.parts.object = bound
    field.parts.object?.values = [:]
    for (key, (value, extent)) in checked {
      field.bindings[key] = FieldBinding(
        value: value, revision: 0, isReadOnly: options.readOnly.contains(key), extent: extent)
    }
    for key in bound?.writeOnlyKeys ?? [] { field.bindings[key] = .writeOnly(key) }
    try table.allowances.check(field.extent, fields: 1, of: field)
    for key in checked.keys.sorted() { field.bindings[key]?.revision = nextRevision() }
    insert(field)
    // The registrant cannot change the object's values: one that does not fit is nil.
    update(bound?.values ?? [:], of: id)
    return id
  }

  private func unusedID(from first: UInt64) -> FieldID {
    var number = first
    func id() -> FieldID { FieldID(known: "field\(number)") }
    while fields[id()] != nil || reserved.contains(id()) { number += 1 }
    return id()
  }

  /// Checks values that `field`, or a new field, will publish.
  /// - Throws: `ModelError`: `invalid`, `typeMismatch`, `vocabulary`, `limitExceeded`.
  /// - Returns: the values, numbers in the type that the field's binding has, and what each takes up.
  private func check(
    _ values: [Key: MarshalledValue], readOnly: Set<Key>, of field: Field?, object: BoundObject?
  ) throws(ModelError) -> [Key: (value: MarshalledValue, extent: Extent)] {
    let bound = object?.properties ?? [:]
    let present = field?.bindings ?? [:]
    let stored = Set(values.keys).union(present.keys).filter { bound[$0] == nil }
    if let stray = readOnly.sorted().first(where: { !stored.contains($0) }) {
      throw .invalid("'read_only' lists \(stray), which is not a stored key of the field")
    }
    try Limits.check(keys: stored.count + (object?.keyCount ?? 0))
    var checked: [Key: (value: MarshalledValue, extent: Extent)] = [:]
    for (key, value) in values {
      guard let old = present[key] else {
        checked[key] = (value, try FocusModel.check(value, of: key))
        continue
      }
      _ = try Limits.check(value, of: key)
      let fitting = try BindingPath(key).replacing(old.value, with: value)
      checked[key] = (fitting, try Limits.check(fitting, of: key))
    }
    return checked
  }

  /// Checks that `value` can be a new binding's of `key`, and measures it.
  /// - Throws: `ModelError`: `limitExceeded`, `invalid`, `vocabulary`.
  static func check(_ value: MarshalledValue, of key: Key) throws(ModelError) -> Extent {
    let extent = try Limits.check(value, of: key)
    do { try Vocabulary.check(value.type, of: key) } catch { throw .vocabulary(error) }
    return extent
  }

  /// Adds stored bindings to a field, or changes them: a number for a key that is there is converted to its type if nothing
  /// is lost; only the owner may write those in `readOnly` from now on; nil leaves that as it is.
  /// - Throws: `ModelError`: `noSuchField`, `accessDenied`, `invalid`, `typeMismatch`, `vocabulary`, `limitExceeded`.
  public func publish(
    _ values: [Key: MarshalledValue], readOnly: Set<Key>? = nil, on id: FieldID, by client: BusName
  ) throws(ModelError) {
    let field = try field(id, ownedBy: client, to: "publish on")
    if let key = values.keys.sorted().first(where: { field.object?.properties[$0] != nil }) {
      throw .invalid("\(key) is a property of the field's object: only the object can change it")
    }
    let checked = try check(values, readOnly: readOnly ?? [], of: field, object: field.object)
    var growth = Extent()
    for (key, measured) in checked { growth += measured.extent - (field.bindings[key]?.extent ?? .zero) }
    try table.allowances.check(growth, of: field)
    try checkScene(table.scene(of: id), field.scope, keys: values.keys.count { field.bindings[$0] == nil })

    let keys = Set(values.keys).union(readOnly ?? [])
    edit(id, by: client) { table in
      for key in keys.sorted() {
        let old = field.bindings[key]
        guard let value = checked[key]?.value ?? old?.value else { continue }
        let revision = old.flatMap { $0.value == value ? $0.revision : nil } ?? nextRevision()
        let binding = FieldBinding(
          value: value, revision: revision, isReadOnly: readOnly?.contains(key) ?? old?.isReadOnly ?? false,
          extent: checked[key]?.extent ?? old?.extent ?? .zero)
        table.set(binding, for: key, in: id)
      }
    }
  }

  /// Takes stored bindings away from a field.
  /// - Throws: `ModelError`: `noSuchField`, `accessDenied`, `unknownProperty` for the first key that the field does not publish.
  public func withdraw(
    _ keys: some Collection<Key>, from id: FieldID, by client: BusName
  ) throws(ModelError) {
    let field = try field(id, ownedBy: client, to: "withdraw keys from")
    for key in keys {
      guard let binding = field.bindings[key] else { throw .unknownProperty(key, id) }
      guard !binding.isBound else {
        throw .invalid("\(key) is a property of the field's object and cannot be withdrawn")
      }
    }

    edit(id, by: client) { table in
      for key in keys { table.set(nil, for: key, in: id) }
    }
  }
}

/// What `FocusModel.register` takes about a field beside its values.
public struct FieldOptions: Sendable {
  /// The field's name for people; nil: its id.
  public var label: String?
  /// The containing field, or nil for a scene.
  public var parent: FieldID?
  /// Where the field's keys resolve.
  public var scope = Scope.field
  /// The keys that only the owner may write.
  public var readOnly: Set<Key> = []
  /// Whether the field outlives its owner.
  public var lingers = false
  /// Whether its values are shown to its owner alone.
  public var isSensitive = false
  /// What makes a session-scoped field active.
  public var active: Activity.Condition?
  /// The owner's own object behind the field, or nil.
  public var object: BoundObject?
  /// The connection that has the object, or nil if that is the registrant's.
  public var service: BusName?
  /// The process that the field belongs to, as the registrant says, or nil.
  public var process: UInt32?

  /// Creates the options of a plain scene.
  public init() {}
}

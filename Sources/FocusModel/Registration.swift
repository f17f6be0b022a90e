public import DBusTypes

extension FocusModel {
  /// Keeps `id` for a field that is yet to be registered.
  /// - Throws: `FocusError.fieldExists`.
  public func reserve(_ id: FieldID) throws(FocusError) {
    guard fields[id] == nil, reserved.insert(id).inserted else { throw .fieldExists(id) }
  }

  /// Keeps for registrations what `other`, whose place this model takes, has kept for them.
  public func reserve(asIn other: FocusModel) { reserved = other.reserved }

  /// Undoes `reserve`.
  public func release(_ id: FieldID) { reserved.remove(id) }

  /// Adds a field with its stored bindings.
  /// - Parameters:
  ///   - id: the field's name, or nil to have one picked.
  ///   - values: the stored bindings' initial values.
  ///   - options: what else the field is.
  ///   - owner: the registrant.
  /// - Returns: the field's name, and what changed.
  /// - Throws: `FocusError`: `fieldExists`, `noSuchField` for the parent, `invalid`, `typeMismatch`, `limitExceeded`.
  public func register(
    _ id: FieldID?, _ values: [Key: MarshalledValue], _ options: FieldOptions = FieldOptions(), owner: BusName
  ) throws(FocusError) -> (id: FieldID, changes: [Change]) {
    if let id, fields[id] != nil || reserved.contains(id) { throw .fieldExists(id) }
    if let parent = options.parent {
      guard fields[parent] != nil else { throw .noSuchField(parent.text) }
      guard path(from: parent).count < Limits.fieldDepth else {
        throw .limitExceeded("fields may be nested \(Limits.fieldDepth) deep, and '\(parent)' already is at that depth")
      }
    }
    let label = options.label ?? id?.text
    if let label, label.utf8.count > Limits.labelLength {
      throw .limitExceeded("a label may have \(Limits.labelLength) bytes, but this one has \(label.utf8.count)")
    }
    let bound = options.object
    guard bound == nil || !options.lingers else {
      throw .invalid("a field with the option 'object' cannot have 'linger': it is removed with its owner")
    }
    if let key = values.keys.sorted().first(where: { bound?.properties[$0] != nil }) {
      throw .invalid("\(key) is both a stored value and a property of the field's object: choose one")
    }
    var all = values
    var extents = try check(values, readOnly: options.readOnly, of: nil, object: bound)
    var extent = Extent(bytes: (bound?.size ?? 0) + (label == id?.text ? 0 : label?.utf8.count ?? 0))
    for value in extents.values { extent += value }
    try checkAllowance(of: owner, lingers: options.lingers, fields: 1, extent)
    // What the object tells is not the registrant's to make smaller: a value too many is nil.
    for (key, value) in (bound?.values ?? [:]).sorted(by: { $0.key < $1.key }) {
      try types.check(value, of: key)
      guard let own = try? Limits.check(value, of: key) else { continue }
      var more = extent
      more += own
      guard (try? checkAllowance(of: owner, lingers: options.lingers, fields: 1, more)) != nil else { continue }
      (all[key], extents[key], extent) = (value, own, more)
    }

    var changes = settle()
    lastRegistration += 1
    let id = id ?? unusedID()
    var field = Field(
      id: id, label: label ?? id.text, scope: options.scope, lingers: options.lingers,
      isSensitive: options.isSensitive, owner: owner, parent: options.parent, registration: lastRegistration)
    field.object = bound
    field.object?.values = [:]
    for (key, value) in all.sorted(by: { $0.key < $1.key }) {
      let property = bound?.properties[key]
      field.bindings[key] = Binding(
        value: value, revision: nextRevision(),
        isReadOnly: property.map { !$0.isWritable } ?? options.readOnly.contains(key), isBound: property != nil,
        extent: extents[key] ?? .zero)
    }
    insert(field)
    changes.append(.fieldAdded(id))
    changes += refreshFocusedValues(after: id)
    return (id, changes)
  }

  private func insert(_ field: Field) {
    touch(field.id)
    fields[field.id] = field
    if let parent = field.parent {
      touch(parent)
      fields[parent]?.children.insert(field.id)
    }
    if let owner = field.owner { fieldsByOwner[owner, default: []].insert(field.id) }
    charge(field, fields: 1, field.extent)
    let scene = scene(of: field.id)
    for (key, binding) in field.bindings {
      types.add(key, binding.value.type)
      scenes.add(key, of: field, in: scene)
    }
    for key in field.commands.keys { sceneCommands.add(key, of: field, in: scene) }
    for interface in field.object?.interfaces ?? [] { sceneInterfaces.add(interface, of: field, in: scene) }
  }

  private func unusedID() -> FieldID {
    var number = lastRegistration
    func id() -> FieldID { FieldID(known: "field\(number)") }
    while fields[id()] != nil || reserved.contains(id()) { number += 1 }
    return id()
  }

  /// Checks values that are to be published by `field`, or by a new one.
  /// - Throws: `FocusError`: `invalid`, `typeMismatch`, `limitExceeded`.
  /// - Returns: what they take up.
  private func check(
    _ values: [Key: MarshalledValue], readOnly: Set<Key>, of field: Field?, object: BoundObject?
  ) throws(FocusError) -> [Key: Extent] {
    let bound = object?.properties ?? [:]
    let present = field?.bindings ?? [:]
    let stored = Set(values.keys).union(present.keys).filter { bound[$0] == nil }
    if let stray = readOnly.sorted().first(where: { !stored.contains($0) }) {
      throw .invalid("'read_only' lists \(stray), which is not a stored key of the field")
    }
    try Limits.check(keys: stored.count + (object?.keyCount ?? 0))
    var extents: [Key: Extent] = [:]
    for (key, value) in values {
      try types.check(value, of: key)
      extents[key] = try Limits.check(value, of: key)
    }
    return extents
  }

  /// Adds stored bindings to a field, or changes them.
  /// - Parameters:
  ///   - values: the bindings' values.
  ///   - readOnly: which of these keys only the owner may write from now on, or nil to leave that as it is.
  ///   - id: the field.
  ///   - client: who asks.
  /// - Returns: what changed.
  /// - Throws: `FocusError`: `noSuchField`, `accessDenied`, `invalid`, `typeMismatch`, `limitExceeded`.
  public func publish(
    _ values: [Key: MarshalledValue], readOnly: Set<Key>? = nil, on id: FieldID, by client: BusName
  ) throws(FocusError) -> [Change] {
    var field = try field(id, ownedBy: client, to: "publish on")
    if let key = values.keys.sorted().first(where: { field.object?.properties[$0] != nil }) {
      throw .invalid("\(key) is a property of the field's object: only the object can change it")
    }
    let extents = try check(values, readOnly: readOnly ?? [], of: field, object: field.object)
    var growth = Extent()
    for (key, extent) in extents { growth += extent - (field.bindings[key]?.extent ?? .zero) }
    try checkAllowance(of: field.owner, lingers: field.lingers, growth)

    var changes = settle()
    let before = field.shown
    let scene = scene(of: id)
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      if field.bindings[key] == nil {
        types.add(key, value.type)
        scenes.add(key, of: field, in: scene)
      }
      let old = field.bindings[key]
      field.bindings[key] = Binding(
        value: value, revision: old?.value == value ? old?.revision ?? 0 : nextRevision(),
        isReadOnly: readOnly?.contains(key) ?? old?.isReadOnly ?? false, extent: extents[key] ?? .zero)
    }
    for key in readOnly ?? [] { field.bindings[key]?.isReadOnly = true }
    charge(field, growth)
    touch(id)
    fields[id] = field
    changes += Change.difference(.field(id), from: before, to: field.shown)
    changes += refreshFocusedValues(after: id)
    return changes
  }

  /// Takes stored bindings away from a field.
  /// - Throws: `FocusError`: `noSuchField`, `accessDenied`, `unknownProperty` for a key that the field does not publish.
  public func withdraw(
    _ keys: Set<Key>, from id: FieldID, by client: BusName
  ) throws(FocusError) -> [Change] {
    var field = try field(id, ownedBy: client, to: "withdraw keys from")
    for key in keys.sorted() {
      guard let binding = field.bindings[key] else { throw .unknownProperty(key, id) }
      guard !binding.isBound else {
        throw .invalid("\(key) is a property of the field's object and cannot be withdrawn")
      }
    }

    var changes = settle()
    let before = field.shown
    let scene = scene(of: id)
    for key in keys {
      guard let binding = field.bindings.removeValue(forKey: key) else { continue }
      types.remove(key)
      scenes.remove(key, of: field, in: scene)
      charge(field, -binding.extent)
    }
    touch(id)
    fields[id] = field
    changes += Change.difference(.field(id), from: before, to: field.shown)
    changes += refreshFocusedValues(after: id)
    return changes
  }
}

public import DBusTypes
public import FocusContract

/// What a key's binding holds, and where.
public struct Reading: Hashable, Sendable {
  /// The value.
  public var value: MarshalledValue
  /// The field whose binding it is.
  public var field: FieldID
  /// The number of the binding's last change.
  public var revision: UInt64

  /// What stands for a value that nobody, or not everybody, is shown.
  static let hiddenValue = MarshalledValue(.string(""))

  /// What a writer is told who is not shown what `field` holds.
  public static func hidden(_ field: FieldID) -> Reading { Reading(value: hiddenValue, field: field, revision: 0) }
}

extension FocusModel {
  /// The field that `key` resolves to now, nil for none: the innermost on the focus path that publishes it, else the newest
  /// scene-scoped one of the path's scene that does, else the first session-scoped one that has its interface.
  public func resolve(_ key: Key) -> FieldID? {
    let fields = fields
    // It takes longer to find out where else keys are looked for.
    return focus.path.first { fields[$0]?.bindings[key] != nil } ?? nearby.holder(of: key)
  }

  /// The field whose binding `key` is at `place`, or nil.
  public func resolve(_ key: Key, at place: Place) -> FieldID? {
    switch place {
    case .focused: resolve(key)
    case .field(let id): table.publishes(key, id) ? id : nil
    }
  }

  /// The fields of the scene at `focused` whose objects declare `interface` and whose keys come before those of `holder`, all
  /// for nil; the nearest first, and `most` of them in each scene.
  public func sceneFields(declaring interface: InterfaceName, before holder: FieldID?, most: Int) -> [FieldID] {
    let holder = holder.flatMap { fields[$0] }
    if let holder, focusPath.contains(holder.id) { return [] }
    let last = holder.flatMap { $0.scope == .field ? nil : table.scene(of: $0.id) }
    var found: [FieldID] = []
    for scene in nearby.scenes {
      let limit = scene == last ? holder?.byRegistration : nil
      found += (table.names.declared.all(interface, in: scene)?.last(most, after: limit) ?? []).map(\.field)
      if scene == last { break }
    }
    return found
  }

  /// Where keys are looked for now.
  var nearby: Nearby { Nearby(self) }

  /// All that resolves now of what fields have by name, of `interface` or nil: of all, with the field that it resolves to;
  /// `index` says what scenes have.
  func resolveAll<Value>(
    _ index: FieldIndex<SceneInterface, Key>, of interface: InterfaceName?, _ own: (Field) -> [Key: Value]
  ) -> [Key: (field: FieldID, value: Value)] {
    let nearby = nearby
    var found: [Key: (field: FieldID, value: Value)] = [:]
    func add(_ name: InterfaceName?, of field: Field) {
      guard name.map({ field.interfaceCounts[$0] > 0 }) ?? true else { return }
      let all = own(field)
      resolutions += all.count
      for (key, value) in all where name ?? key.interface == key.interface { found[key] = (field.id, value) }
    }
    for scene in nearby.scenes.reversed() {
      for name in interface.map({ [$0] }) ?? Array(table.names.interfaces.names(in: scene)) {
        let place = SceneInterface(scene: scene, interface: name)
        let keys = index.names(in: place)
        resolutions += keys.count
        for key in keys {
          guard let id = index.last(key, in: place), let value = fields[id].flatMap({ own($0)[key] }) else { continue }
          found[key] = (id, value)
        }
      }
    }
    for id in focusPath.reversed() { if let field = fields[id] { add(interface, of: field) } }
    for name in interface.map({ [$0] }) ?? Array(table.session.interfaces) {
      if let field = nearby.supplier(of: name).flatMap({ fields[$0] }) { add(name, of: field) }
    }
    return found
  }

  /// The field whose binding `key` is at `place`.
  /// - Throws: `ModelError`: at `focused` `notFocused`; at a field `unknownProperty` or `noSuchField`.
  func holder(of key: Key, at place: Place) throws(ModelError) -> Field {
    if let id = resolve(key, at: place), let field = fields[id] { return field }
    guard case .field(let id) = place else { throw .notFocused(key) }
    throw .unknownProperty(key, try field(id).id)
  }

  /// What `path` leads to at `place`.
  /// - Throws: `ModelError`: `notFocused` at `focused`, `unknownProperty` or `noSuchField` at a field, `accessDenied`
  ///   if the field is sensitive and not the client's, or the key can only be written, `noSuchElement`.
  public func read(_ path: BindingPath, at place: Place, by client: BusName) throws(ModelError) -> Reading {
    let key = path.key
    let field = try holder(of: key, at: place)
    guard let binding = field.bindings[key] else { throw .unknownProperty(key, field.id) }
    guard field.isVisible(to: client) else {
      throw .accessDenied("the field '\(field.id)' is sensitive: only its owner may read \(key)")
    }
    guard !binding.isWriteOnly else { throw .accessDenied("\(key) of the field '\(field.id)' can only be written") }
    return Reading(value: try path.element(of: binding.value), field: field.id, revision: binding.revision)
  }

  /// What every key of `interface`, or nil: of all, holds at `place` that can be read, but for the sensitive ones that are not
  /// the client's.
  /// - Throws: `ModelError.noSuchField`.
  public func readAll(
    at place: Place, of interface: InterfaceName? = nil, by client: BusName
  ) throws(ModelError) -> [Key: Reading] {
    try bindings(at: place, of: interface).compactMapValues { holder in
      guard let field = fields[holder.field], field.isVisible(to: client), !holder.binding.isWriteOnly else {
        return nil
      }
      return Reading(value: holder.binding.value, field: holder.field, revision: holder.binding.revision)
    }
  }

  /// Every binding of `interface`, or nil: of all, at `place`, with its field, including those whose values not every client
  /// may see.
  /// - Throws: `ModelError.noSuchField`.
  public func bindings(
    at place: Place, of interface: InterfaceName? = nil
  ) throws(ModelError) -> [Key: (field: FieldID, binding: FieldBinding)] {
    if case .field(let id) = place {
      let bindings = try field(id).bindings.mapValues { (field: id, binding: $0) }
      return interface.map { wanted in bindings.filter { $0.key.interface == wanted } } ?? bindings
    }
    return resolveAll(table.names.keys, of: interface) { $0.bindings }.mapValues { ($0.field, $0.value) }
  }
}

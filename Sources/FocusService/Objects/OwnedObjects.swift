internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// The objects behind fields, by field and by address.
struct OwnedObjects {
  private var byField: [FieldID: OwnedObject] = [:]
  private var byOwner: [BusName: [ObjectPath: OwnedObject]] = [:]
  private var folders: [BusName: [ObjectPath?: Folder]] = [:]
  /// The objects that the turn may leave without a field, or a look.
  private var touched: [ObjectIdentifier: OwnedObject] = [:]

  /// The object behind the field `id`.
  subscript(id: FieldID) -> OwnedObject? { byField[id] }

  /// Whether no field has an object behind it.
  var isEmpty: Bool { byField.isEmpty }

  func at(_ path: ObjectPath, of owner: BusName) -> OwnedObject? { byOwner[owner]?[path] }

  /// The objects that `owner` has.
  func all(of owner: BusName) -> [OwnedObject] { byOwner[owner].map { Array($0.values) } ?? [] }

  /// The object at an address, from now on known.
  mutating func object(at path: ObjectPath, of owner: BusName) -> OwnedObject {
    if let object = at(path, of: owner) { return object }
    let folder = folders[owner]?[path.parent] ?? Folder(path.parent)
    folders[owner, default: [:]][path.parent] = folder
    _ = folder.count(1)
    let object = OwnedObject(owner: owner, path: path, in: folder)
    byOwner[owner, default: [:]][path] = object
    return object
  }

  /// The fields that `object` is behind now.
  func fields(of object: OwnedObject) -> [FieldID] { object.fields.filter { byField[$0] === object } }

  /// Drops what is under way.
  func end() {
    for objects in byOwner.values { for object in objects.values { object.end() } }
  }

  /// Puts `object` behind the field `id`.
  mutating func bind(_ id: FieldID, to object: OwnedObject) {
    object.fields.insert(id)
    byField[id] = object
    touch(object)
  }

  /// Takes note that the field `id` is gone; its object is followed until the turn's end.
  mutating func fieldRemoved(_ id: FieldID) {
    guard let object = byField.removeValue(forKey: id) else { return }
    object.lostField()
    touch(object)
  }

  /// Takes note that a look at `object` has ended.
  mutating func touch(_ object: OwnedObject) { touched[ObjectIdentifier(object)] = object }

  /// Gives the fields as they are in `model`, to which a turn has been taken back, their objects.
  /// - Returns: objects, with the keys whose values have to be asked for again.
  mutating func takeBack(_ model: FocusModel) -> [(object: OwnedObject, keys: Set<Key>)] {
    for object in touched.values { for id in fields(of: object) { byField[id] = nil } }
    for object in touched.values { for id in object.fields where model.isBehind(object, id) { byField[id] = object } }
    return touched.values.map { object in
      defer { object.endTurn() }
      return (object, object.toldInVain)
    }
  }

  /// Ends a turn.
  /// - Returns: the objects that have neither a field nor a look any more, and are forgotten.
  mutating func endTurn(_ calls: OwnerCalls) -> [OwnedObject] {
    guard !touched.isEmpty else { return [] }
    defer { touched = [:] }
    return touched.values.filter { object in
      object.endTurn()
      for look in object.looks where look.isCompleted { look.detach(calls) }
      object.fields = Set(fields(of: object))
      guard object.fields.isEmpty, object.looks.isEmpty, at(object.path, of: object.owner) === object else {
        return false
      }
      forget(object)
      return true
    }
  }

  private mutating func forget(_ object: OwnedObject) {
    byOwner[object.owner]?[object.path] = nil
    if byOwner[object.owner]?.isEmpty == true { byOwner[object.owner] = nil }
    guard !object.folder.count(-1) else { return }
    folders[object.owner]?[object.path.parent] = nil
    if folders[object.owner]?.isEmpty == true { folders[object.owner] = nil }
  }
}

extension FocusModel {
  /// Whether `object` is behind the field `id`.
  fileprivate func isBehind(_ object: OwnedObject, _ id: FieldID) -> Bool {
    guard let field = fields[id], let bound = field.object else { return false }
    return bound.path == object.path && field.connection == object.owner
  }
}

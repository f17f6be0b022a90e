internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// The objects behind fields, by field and by address.
struct OwnedObjects {
  /// What is known of one owner.
  private struct Owner {
    var objects: [ObjectPath: OwnedObject] = [:]
    var folders: [ObjectPath?: Folder] = [:]
  }

  private var byField: [FieldID: OwnedObject] = [:]
  private var owners: [BusName: Owner] = [:]
  /// The objects that the turn may leave without a field, or a look.
  private var touched: [ObjectIdentifier: OwnedObject] = [:]

  /// The object behind the field `id`.
  subscript(id: FieldID) -> OwnedObject? { byField[id] }

  /// Whether no field has an object behind it.
  var isEmpty: Bool { byField.isEmpty }

  func at(_ path: ObjectPath, of owner: BusName) -> OwnedObject? { owners[owner]?.objects[path] }

  /// The objects that `owner` has.
  func all(of owner: BusName) -> [OwnedObject] { owners[owner].map { Array($0.objects.values) } ?? [] }

  /// The object at an address, from now on known.
  mutating func object(at path: ObjectPath, of owner: BusName) -> OwnedObject {
    if let object = at(path, of: owner) { return object }
    let folder = owners[owner]?.folders[path.parent] ?? Folder(path.parent)
    folder.count += 1
    let object = OwnedObject(owner: owner, path: path, in: folder)
    owners[owner, default: Owner()].folders[path.parent] = folder
    owners[owner]?.objects[path] = object
    return object
  }

  /// Drops what is under way.
  func end() {
    for owner in owners.values { for object in owner.objects.values { object.end() } }
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
    object.fields.remove(id)
    object.lostFields.insert(id)
    touch(object)
  }

  /// Takes note that a look at `object` has ended.
  mutating func touch(_ object: OwnedObject) { touched[ObjectIdentifier(object)] = object }

  /// Gives the fields as they are in `model`, to which a turn has been taken back, their objects.
  /// - Returns: objects, with the keys whose values have to be asked for again.
  mutating func takeBack(_ model: FocusModel) -> [(object: OwnedObject, keys: Set<Key>)] {
    for object in touched.values { for id in object.fields { byField[id] = nil } }
    return touched.values.map { object in
      defer { object.endTurn() }
      object.fields = object.fields.union(object.lostFields).filter { model.isBehind(object, $0) }
      for id in object.fields { byField[id] = object }
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
      guard object.fields.isEmpty, object.looks.isEmpty, at(object.path, of: object.owner) === object else {
        return false
      }
      forget(object)
      return true
    }
  }

  private mutating func forget(_ object: OwnedObject) {
    object.folder.count -= 1
    if object.folder.count == 0 { owners[object.owner]?.folders[object.path.parent] = nil }
    owners[object.owner]?.objects[object.path] = nil
    if owners[object.owner]?.objects.isEmpty == true { owners[object.owner] = nil }
  }
}

extension FocusModel {
  /// Whether `object` is behind the field `id`.
  fileprivate func isBehind(_ object: OwnedObject, _ id: FieldID) -> Bool {
    guard let field = fields[id], let bound = field.object else { return false }
    return bound.path == object.path && field.connection == object.owner
  }
}

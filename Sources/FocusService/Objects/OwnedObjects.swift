internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// What the bus passes on of one owner: what one object emits, or all whose paths differ in the last element alone.
///
/// A bridge has an object for each element that it shows: one match rule for them all saves a call for each, and the bus
/// allows a connection only so many rules.
final class Following {
  enum State {
    case none
    /// The bus has been asked to; the looks wait for its answer.
    case asked([Look])
    case taken
  }

  let rule: MatchRule
  var state = State.none
  /// How many objects are followed so.
  var count = 0

  init(_ rule: MatchRule) { self.rule = rule }

  /// Takes note that an object less is followed so.
  /// - Returns: the rule if it was the last.
  func leave() -> MatchRule? {
    count -= 1
    guard count == 0 else { return nil }
    defer { state = .none }
    return if case .none = state { nil } else { rule }
  }
}

/// The objects behind fields, by field and by address.
struct OwnedObjects {
  /// What is known of one owner.
  private struct Owner {
    var objects: [ObjectPath: OwnedObject] = [:]
    /// How many objects have paths that differ in the last element alone, and how all but the first of them are followed.
    var folders: [ObjectPath: (count: Int, following: Following)] = [:]
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
    let object = OwnedObject(owner: owner, path: path, following(path, of: owner))
    owners[owner, default: Owner()].objects[path] = object
    return object
  }

  private mutating func following(_ path: ObjectPath, of owner: BusName) -> Following {
    let own = Following(MatchRule(sender: owner, path: path))
    // At the root each object is followed by itself.
    guard let parent = path.parent else { return own }
    let (count, shared) =
      owners[owner]?.folders[parent] ?? (0, Following(MatchRule(sender: owner, pathNamespace: parent)))
    owners[owner, default: Owner()].folders[parent] = (count + 1, shared)
    return count == 0 ? own : shared
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

  /// Takes note that a request or a question to `object` has ended, for which it may have been kept.
  mutating func requestEnded(at object: OwnedObject) { if object.fields.isEmpty { touch(object) } }

  /// Takes note that `object` may be without use at the turn's end.
  mutating func touch(_ object: OwnedObject) { touched[ObjectIdentifier(object)] = object }

  /// Gives the fields as they are in `model`, to which a turn has been taken back, their objects.
  /// - Returns: those whose values have to be asked for again.
  mutating func takeBack(_ model: FocusModel) -> [OwnedObject] {
    for object in touched.values { for id in object.fields { byField[id] = nil } }
    for object in touched.values {
      object.fields = object.fields.union(object.lostFields).filter { model.isBehind(object, $0) }
      for id in object.fields { byField[id] = object }
    }
    defer { for object in touched.values { object.endTurn() } }
    return touched.values.filter(\.hasToldInVain)
  }

  /// Ends a turn: objects that have no field any more, and of which nobody waits for anything, are forgotten.
  /// - Returns: the rules by which nothing is followed any more.
  mutating func endTurn(_ calls: OwnerCalls) -> [MatchRule] {
    guard !touched.isEmpty else { return [] }
    defer { touched = [:] }
    return touched.values.compactMap { object in
      object.endTurn()
      for look in object.looks where look.isCompleted { look.detach(calls) }
      guard object.fields.isEmpty, object.isIdle, at(object.path, of: object.owner) === object else { return nil }
      return forget(object)
    }
  }

  private mutating func forget(_ object: OwnedObject) -> MatchRule? {
    if let parent = object.path.parent, let (count, following) = owners[object.owner]?.folders[parent] {
      owners[object.owner]?.folders[parent] = count > 1 ? (count - 1, following) : nil
    }
    owners[object.owner]?.objects[object.path] = nil
    if owners[object.owner]?.objects.isEmpty == true { owners[object.owner] = nil }
    return object.following.leave()
  }
}

extension FocusModel {
  /// Whether `object` is behind the field `id`.
  fileprivate func isBehind(_ object: OwnedObject, _ id: FieldID) -> Bool {
    guard let field = fields[id], let bound = field.object else { return false }
    return bound.path == object.path && field.connection == object.owner
  }
}

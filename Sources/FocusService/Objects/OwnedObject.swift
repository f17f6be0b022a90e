internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// A registrant's own object as it stands behind one field.
final class OwnedObject {
  /// Where the object is.
  struct Address: Hashable {
    let owner: BusName
    let path: ObjectPath
  }

  let address: Address
  /// The interfaces that the registrant chose to expose, or nil for all.
  let chosen: [String]?
  /// The keys that the registrant has read from the object each time.
  let live: Set<Key>
  /// Whether this is a second look at an object that has a field.
  let isAgain: Bool
  /// The field while it is registered.
  fileprivate(set) var field: FieldID?
  /// The interfaces that the field exposes.
  private(set) var interfaces: [InterfaceDescription] = []
  /// The interfaces' properties, by interface and name.
  private var properties: [String: [String: (key: Key, description: InterfaceDescription.Property)]] = [:]
  /// The keys that the owner is asked for each time.
  private(set) var keysReadEachTime: Set<Key> = []
  /// The bytes of the introspection data.
  var introspectionSize = 0
  /// Whether the object may be asked to take focus.
  var hasResponder = false
  /// The property values that the owner sent before the field was registered.
  var values: [Key: MarshalledValue] = [:]
  /// The keys whose values do not fit, before the field is registered, and why.
  var unfit: [Key: String] = [:]
  /// The keys whose values do not fit and that the log has named.
  var named: Set<Key> = []
  /// The bytes of these, as far as they count among what waits for the owner.
  fileprivate(set) var keptBytes = 0
  /// What goes on with the object; other fields that it stands behind share it.
  fileprivate(set) var traffic = ObjectTraffic()

  init(owner: BusName, path: ObjectPath, chosen: [String]? = nil, live: Set<Key> = []) {
    address = Address(owner: owner, path: path)
    self.chosen = chosen
    self.live = live
    isAgain = false
  }

  /// The object behind a field once more, to look at it anew.
  init(again object: OwnedObject) {
    address = object.address
    chosen = object.chosen
    live = object.live
    isAgain = true
  }

  /// Becomes what `fresh` has found.
  func become(_ fresh: OwnedObject) {
    (interfaces, properties, keysReadEachTime) = (fresh.interfaces, fresh.properties, fresh.keysReadEachTime)
    (introspectionSize, hasResponder) = (fresh.introspectionSize, fresh.hasResponder)
    unfit = fresh.unfit
  }

  var owner: BusName { address.owner }
  var path: ObjectPath { address.path }

  func interface(_ name: InterfaceName) -> InterfaceDescription? { interfaces.first { $0.name == name } }

  /// The methods of one name, of which an object may have several with different arguments.
  func methods(_ key: Key) -> [InterfaceDescription.Method] {
    interface(key.interface)?.methods.filter { $0.name == key.member } ?? []
  }

  func property(_ key: Key) -> InterfaceDescription.Property? {
    properties[key.interface.text]?[key.member.text]?.description
  }

  /// The key of the property `name` of `interface`, if it can be read.
  func readableKey(_ interface: String, _ name: String) -> Key? {
    guard let (key, property) = properties[interface]?[name], property.access != .write else { return nil }
    return key
  }

  /// The keys of the properties of `interface` that can be read.
  func readableKeys(_ interface: String) -> [Key] {
    properties[interface]?.values.filter { $0.description.access != .write }.map(\.key) ?? []
  }

  /// Whether `key` is a property that can be read.
  func reads(_ key: Key) -> Bool { property(key).map { $0.access != .write } ?? false }

  /// Whether the owner is asked for `key` each time.
  func isReadEachTime(_ key: Key) -> Bool { keysReadEachTime.contains(key) }

  /// Exposes `interfaces`.
  func expose(_ interfaces: [InterfaceDescription]) {
    self.interfaces = interfaces
    properties = [:]
    keysReadEachTime = []
    for (place, interface) in interfaces.enumerated() {
      for (index, property) in interface.properties.enumerated() {
        guard let key = try? Key(interface: interface.name.text, member: property.name.text) else { continue }
        if live.contains(key) { self.interfaces[place].properties[index].emits = .never }
        let description = self.interfaces[place].properties[index]
        properties[interface.name.text, default: [:]][property.name.text] = (key, description)
        if description.emits == .never, description.access != .write { keysReadEachTime.insert(key) }
      }
    }
  }

  /// Whether the owner has to be asked before the value is known.
  func mustFetch(_ key: Key) -> Bool {
    guard reads(key) else { return false }
    return isReadEachTime(key) || traffic.stale.contains(key) || traffic.refreshes[key] != nil
  }
}

/// What goes on between the daemon and an object.
final class ObjectTraffic {
  /// Whether the bus passes on what the object emits.
  enum Match {
    case none
    /// The bus has been asked to, and these wait for its answer.
    case asked([(Result<Void, DBusError>) -> Void])
    case taken
  }

  var match = Match.none
  /// The keys whose value the owner said is another now, and not which.
  var stale: Set<Key> = []
  /// The values that the owner is being asked for, so that several who want one wait for one answer.
  var refreshes: [Key: Refresh] = [:]
  /// The writes of each key, in order; the first is under way.
  var writes: [Key: [BoundWrite]] = [:]
  /// The examination that waits for the writes under way, or is under way itself.
  var examination: Examination?
  /// What waits for its end.
  var later: [() -> Void] = []

  fileprivate func end() {
    (match, refreshes, writes, examination, later) = (.none, [:], [:], nil, [])
  }
}

/// One question to an owner for a stale value, and who waits for the answer.
struct Refresh {
  /// What the answer, or what prevents one, is handed to.
  typealias Handler = (Result<Message, any Error>) -> Void

  /// They asked before the question was sent, or while its answer would still do.
  var waiting: [Handler] = []
  /// They asked after the owner had said that the value is another once more.
  var waitingForNext: [Handler] = []
}

/// The objects behind fields, by field and by address.
struct OwnedObjects {
  private var byField: [FieldID: OwnedObject] = [:]
  private var byAddress: [OwnedObject.Address: [OwnedObject]] = [:]
  /// The objects of fields that the turn has removed, which are let go of once that is saved.
  private var released: [(id: FieldID, object: OwnedObject)] = []
  /// The objects that the turn has found no field for.
  private var dropped: [OwnedObject] = []
  /// What both kinds of objects, and those that the turn has bound again, have told since: to take the turn back loses it.
  private var told: [ObjectIdentifier: (object: OwnedObject, keys: Set<Key>)] = [:]

  subscript(id: FieldID) -> OwnedObject? { byField[id] }

  func at(_ address: OwnedObject.Address) -> [OwnedObject] { byAddress[address] ?? [] }

  mutating func add(_ object: OwnedObject) {
    let others = at(object.address)
    if let other = others.first { object.traffic = other.traffic }
    byAddress[object.address] = others + [object]
  }

  /// Drops what is under way: who waits for an answer holds the object, which holds who waits.
  func end() {
    for objects in byAddress.values {
      for object in objects { object.traffic.end() }
    }
  }

  mutating func setField(_ id: FieldID, of object: OwnedObject) {
    object.field = id
    byField[id] = object
  }

  /// Gives the saved field `id` its object back.
  mutating func bind(_ id: FieldID, to object: OwnedObject) {
    setField(id, of: object)
    follow(object)
  }

  /// Takes the object of the field `id`, which is gone, away from it; it is watched until the turn's end.
  mutating func release(_ id: FieldID) {
    guard let object = byField.removeValue(forKey: id) else { return }
    object.field = nil
    released.append((id, object))
    follow(object)
  }

  /// Lets go of an object without a field at the turn's end: if the turn is taken back, the object may find its field.
  mutating func drop(_ object: OwnedObject) {
    dropped.append(object)
    follow(object)
  }

  private mutating func follow(_ object: OwnedObject) {
    if told[ObjectIdentifier(object)] == nil { told[ObjectIdentifier(object)] = (object, []) }
  }

  /// Notes that `object` has told new values of `keys`.
  mutating func note(_ keys: some Sequence<Key>, toldBy object: OwnedObject) {
    if !told.isEmpty { told[ObjectIdentifier(object)]?.keys.formUnion(keys) }
  }

  /// Whether the turn has left `object` without a field.
  func isReleased(_ object: OwnedObject) -> Bool { object.field == nil && told[ObjectIdentifier(object)] != nil }

  /// Gives fields that the turn has removed, and that are there again, their objects back.
  /// - Returns: the objects with the keys whose values have to be asked for again, if they find their fields.
  mutating func takeBack() -> [(object: OwnedObject, keys: Set<Key>)] {
    defer { (released, dropped, told) = ([], [], [:]) }
    // A field that was removed two times has the object that it had first.
    for (id, object) in released.reversed() { setField(id, of: object) }
    return Array(told.values)
  }

  /// Ends a turn.
  /// - Returns: the objects that it has left without a field, to be watched no more.
  mutating func endTurn() -> [OwnedObject] {
    guard !told.isEmpty else { return [] }
    defer { (released, dropped, told) = ([], [], [:]) }
    return released.map(\.object) + dropped
  }

  /// - Returns: whether it was the last at its address.
  mutating func remove(_ object: OwnedObject) -> Bool {
    if let id = object.field, byField[id] === object { byField[id] = nil }
    object.field = nil
    let others = at(object.address).filter { $0 !== object }
    byAddress[object.address] = others.isEmpty ? nil : others
    return others.isEmpty
  }
}

extension OwnedObject {
  /// Keeps values sent before the field is registered; those past the owner's allowance are nil.
  func keep(_ value: MarshalledValue?, of key: Key, _ calls: OwnerCalls) {
    forget(key, calls)
    unfit[key] = nil
    guard let value else { return }
    guard calls.keep(address.owner, bytes: value.size) else {
      unfit[key] = "too many values of the owner wait to be shown"
      return
    }
    values[key] = value
    keptBytes += value.size
  }

  private func forget(_ key: Key, _ calls: OwnerCalls) {
    guard let old = values.removeValue(forKey: key) else { return }
    calls.release(address.owner, bytes: old.size)
    keptBytes -= old.size
  }

  /// Lets go of what was kept, or of having it counted.
  func releaseKept(_ calls: OwnerCalls) {
    calls.release(address.owner, bytes: keptBytes)
    keptBytes = 0
    values = [:]
  }
}

internal import DBus
internal import DBusTypes
internal import FocusContract

/// One published field: where its registration stands, and the values that its object shows.
final class PublishedField {
  typealias Waiter = (Result<ObjectPath, DBusError>) -> Void

  private enum Stage {
    case waiting
    case registered(ObjectPath)
    case refused(DBusError)
  }

  let description: FieldDescription
  /// What the object serves: the standard interfaces, and those of the field's keys.
  let interfaces: ServedInterfaces<FieldMethod, FieldProperty>
  /// Emits the changes of the object one after another.
  let emitter: ChangeEmitter
  /// The id to register under, so that the field comes back at the same place.
  private(set) var id: String
  private var stage = Stage.waiting
  private var waiters: [Waiter] = []

  init(_ description: FieldDescription, _ link: Link) {
    self.description = description
    id = description.id
    interfaces = ServedInterfaces(PublishedField.tables(of: description))
    emitter = ChangeEmitter(description.objectPath, link)
    for (key, property) in description.properties {
      if let value = try? property.read() { emitter.begin(key, value) }
    }
  }

  var number: UInt64 { description.number }
  var focus: FieldFocus? { description.focus }

  // MARK: Registration

  var path: ObjectPath? {
    guard case .registered(let path) = stage else { return nil }
    return path
  }

  var isWaiting: Bool {
    guard case .waiting = stage else { return false }
    return true
  }

  /// The options of `Register`; `parent` is the path of the field's parent.
  func options(parent: ObjectPath?) -> [(name: String, value: DBusValue)] {
    var options: [(name: String, value: DBusValue)] = []
    if description.showsAnything { options.append(("object", .objectPath(description.objectPath))) }
    if let label = description.label { options.append(("label", .string(label))) }
    if let parent { options.append(("parent", .objectPath(parent))) }
    if description.isSceneScoped { options.append(("scope", .string("scene"))) }
    if description.isSensitive { options.append(("sensitive", .boolean(true))) }
    if focus?.isWanted() == true { options.append(("focus", .boolean(true))) }
    return options
  }

  func registered(at path: ObjectPath) {
    stage = .registered(path)
    id = path.elements.last.map(String.init) ?? id
    tellWaiters(.success(path))
  }

  func fail(_ error: DBusError) {
    stage = .refused(error)
    tellWaiters(.failure(error))
  }

  func daemonLeft() { stage = .waiting }

  /// Calls `handler` once with the field's path, or with why it has none.
  func whenRegistered(_ handler: @escaping Waiter) {
    switch stage {
    case .waiting: waiters.append(handler)
    case .registered(let path): handler(.success(path))
    case .refused(let error): handler(.failure(error))
    }
  }

  private func tellWaiters(_ result: Result<ObjectPath, DBusError>) {
    let ended = waiters
    waiters = []
    for waiter in ended { waiter(result) }
  }

  // MARK: Values

  /// Emits a new value, or the one that is read if none is given.
  func changed(_ key: Key, _ value: DBusValue?) {
    guard let property = description.properties[key], let value = try? value ?? property.read() else { return }
    emitter.emit(key, value)
  }

  /// Reads a property whose changes are not all emitted.
  func refresh(_ key: Key) {
    if description.properties[key]?.tellsChanges == false { changed(key, nil) }
  }

  /// The value that others are answered.
  func value(of key: Key, _ property: FieldProperty) throws(DBusError) -> DBusValue {
    refresh(key)
    if let emitted = emitter.emitted[key] { return emitted }
    return try property.read()
  }
}

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

  private(set) var description: FieldDescription
  /// Which of the program's fields it is, counted as they were added.
  let order: UInt64
  /// What the object serves: the standard interfaces, and those of the field's keys.
  private(set) var interfaces: ServedInterfaces<FieldMethod, FieldProperty>
  /// Emits the changes of the object one after another.
  let emitter: ChangeEmitter
  /// The id to register under, so that the field comes back at the same place.
  private(set) var id: String
  private var stage = Stage.waiting
  private var waiters: [UInt64: Waiter] = [:]
  /// Whether a daemon has ever taken it.
  private(set) var wasRegistered = false
  /// Whether the daemon had it from before it came back.
  private(set) var isRestored = false
  /// Whether it had focus for the program when the daemon left; nil if that daemon may not have been told.
  var toldFocus: Bool?
  /// Whether the daemon must be told that the field has no focus, once it knows it.
  var isBlurDue = false
  /// Whether the daemon must look at the object anew.
  private var isUnexamined = false
  /// How often it is doing so.
  private var examinations = 0
  private var examinationWaiters: [() -> Void] = []
  /// The commands that were turned on.
  private(set) var enabledCommands: Set<Key> = []

  init(_ description: FieldDescription, order: UInt64, _ link: Link) {
    self.description = description
    self.order = order
    id = description.id
    interfaces = ServedInterfaces(PublishedField.tables(of: description))
    emitter = ChangeEmitter(
      description.objectPath, link, takesTurns: !description.isCoalesced, isSensitive: description.isSensitive)
  }

  var number: UInt64 { description.number }
  var focus: FieldFocus? { description.focus }

  // MARK: Registration

  var path: ObjectPath? {
    guard case .registered(let path) = stage else { return nil }
    return path
  }

  /// The path that the daemon before gave it; nil if none has taken it.
  var formerPath: ObjectPath? { wasRegistered ? try? FieldID(id).path : nil }

  var isWaiting: Bool {
    guard case .waiting = stage else { return false }
    return true
  }

  var isRefused: Bool { if case .refused = stage { true } else { false } }

  /// The options of `Register`; `parent` is the path of the field's parent, and `hadFocus` says that the daemon before
  /// knew it as the one with focus.
  func options(parent: ObjectPath?, hadFocus: Bool) -> [(name: String, value: DBusValue)] {
    var options = description.options
    if description.showsAnything { options.append(("object", .objectPath(description.objectPath))) }
    if let label = description.label { options.append(("label", .string(label))) }
    if let parent { options.append(("parent", .objectPath(parent))) }
    if description.isSceneScoped { options.append(("scope", .string("scene"))) }
    if description.isSensitive { options.append(("sensitive", .boolean(true))) }
    if let process = description.process { options.append(("process", .uint32(process))) }
    // A field with commands that are off takes focus when the daemon knows that.
    if disabledCommands.isEmpty, focus?.isWanted() ?? hadFocus { options.append(("focus", .boolean(true))) }
    return options
  }

  func registered(at path: ObjectPath, isRestored: Bool) {
    stage = .registered(path)
    wasRegistered = true
    self.isRestored = isRestored
    id = path.elements.last.map(String.init) ?? id
    tellWaiters(.success(path))
  }

  /// Notes whether a command is on when the field is registered again.
  func declareCommand(_ key: Key, isEnabled: Bool) {
    if isEnabled { description.disabled.remove(key) } else { description.disabled.insert(key) }
    if isEnabled { enabledCommands.insert(key) } else { enabledCommands.remove(key) }
  }

  /// The commands that the daemon must be told are off: the names of others are declared for the program's fields that have them.
  var disabledCommands: Set<Key> { description.disabled.filter { description.commands[$0] != nil } }

  /// Has another parent when it is registered again: its own was removed.
  func move(to parent: UInt64?) { description.parent = parent }

  /// Shows other keys from now on; where it is, and which commands are off, stays as it was declared.
  func describe(_ description: FieldDescription) {
    let (parent, disabled) = (self.description.parent, self.description.disabled)
    self.description = description
    (self.description.parent, self.description.disabled) = (parent, disabled)
    emitter.forget { description.properties[$0] == nil }
    interfaces = ServedInterfaces(PublishedField.tables(of: description))
    mustBeExamined()
  }

  /// Has the daemon look at the object anew, if it may still have it.
  func mustBeExamined() {
    if case .refused = stage { return }
    isUnexamined = true
  }

  /// The field's path if the daemon must look at the object anew, once.
  func pathToExamine() -> ObjectPath? {
    guard isUnexamined, examinations == 0, let path else { return nil }
    isUnexamined = false
    examinations += 1
    return path
  }

  /// The daemon has looked, or did not; `isDone` if it need not do so again.
  func examined(isDone: Bool) {
    examinations -= 1
    if !isDone { mustBeExamined() }
    tellExaminationWaiters()
  }

  /// Calls `handler` when the daemon has looked at the object as it is described.
  func whenExamined(_ handler: @escaping () -> Void) {
    if isUnexamined || examinations > 0 { examinationWaiters.append(handler) } else { handler() }
  }

  private func tellExaminationWaiters() {
    guard !isUnexamined, examinations == 0 else { return }
    let ended = examinationWaiters
    examinationWaiters = []
    for waiter in ended { waiter() }
  }

  func fail(_ error: DBusError) {
    stage = .refused(error)
    tellWaiters(.failure(error))
    isUnexamined = false
    tellExaminationWaiters()
  }

  func daemonLeft() { stage = .waiting }

  /// Calls `handler` once with the field's path, or with why it has none, unless `stopWaiting` is called with `id` before.
  func whenRegistered(_ id: UInt64, _ handler: @escaping Waiter) {
    switch stage {
    case .waiting: waiters[id] = handler
    case .registered(let path): handler(.success(path))
    case .refused(let error): handler(.failure(error))
    }
  }

  func stopWaiting(_ id: UInt64) { waiters[id] = nil }

  /// Calls whoever waits for the field to be registered.
  func tellWaiters(_ result: Result<ObjectPath, DBusError>) {
    let ended = waiters
    waiters = [:]
    for (_, waiter) in ended.sorted(by: { $0.key < $1.key }) { waiter(result) }
  }

  // MARK: Values

  /// Emits a new value, or the one that is read if none is given.
  func changed(_ key: Key, _ value: DBusValue?) {
    if let value { return emitter.emit([(key, value)]) }
    read(key) { _ in }
  }

  /// Reads a property, and hands over what others are answered.
  func read(_ key: Key, _ handler: @escaping FieldProperty.Reading) {
    guard let read = description.properties[key]?.read else {
      return handler(.failure(DBusError(.unknownProperty, "\(key) is not readable any more")))
    }
    read { [weak self] result in
      guard let self else { return handler(result) }
      var value: DBusValue?
      switch result {
      case .success(let known): value = known
      case .failure(let error) where error.name == .unknownProperty: break
      case .failure: return handler(result)
      }
      // The first answer to a question is no change.
      if emitter.knows(key) { emitter.emit([(key, value)]) } else { emitter.begin(key, value) }
      guard value != nil, case .success(let value) = result else { return handler(result) }
      handler(.success(emitter.emitted[key] ?? value))
    }
  }
}

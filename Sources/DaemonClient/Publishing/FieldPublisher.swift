package import DBus
package import DBusTypes
internal import EventLoop
internal import FocusContract

/// The fields of this program, in the order in which they were added, so that they come back in it.
package final class FieldPublisher {
  /// How long after the daemon waited in vain for this program's answers it is asked again.
  private static let retryDelay = Duration.seconds(1)

  let link: Link
  var fields = FieldIndex()
  private var lastOrder: UInt64 = 0
  /// The field that the daemon is asked to take.
  private var underWay: PublishedField?
  /// The daemon that was asked; the answer of one before it means nothing.
  private(set) var session = 0
  /// How often a daemon came; if none has come since it was asked in vain, it is not asked again.
  private var arrivals = 0
  /// The calls about focus whose outcome is not known yet.
  var focusCalls = 0
  /// Those of them that only ask.
  var focusQuestions = 0
  /// The fields that may give up focus when another has been looked for.
  var focusWaits = 0
  /// Whether the daemon has left without an answer to one of the others.
  var hasLostFocusCall = false
  /// Whether the daemon could not save the last registration; it sends no signal when it can.
  private var cannotSave = false
  private var isRetryDue = false
  /// The last number of a wait of its own for a registration; those of others count up.
  var lastWait = UInt64.max
  /// The field that has focus, or nil.
  var focusedField: ObjectPath?
  /// The fields whose focus states may say that they have focus.
  var claimants: Set<UInt64> = []
  /// The field that had focus when the daemon left.
  var returning: UInt64?
  /// The fields that were removed, which a daemon that comes back may still have.
  private var removed: Set<ObjectPath> = []

  /// Called with an error that reaches no caller.
  package var onError: ((DBusError) -> Void)?
  /// Called with the reason when a field waits for a daemon that is not there.
  package var onWaiting: ((DBusError) -> Void)?

  package init(_ link: Link) { self.link = link }

  /// Whether the field `number` was added, and not removed since.
  package func contains(_ number: UInt64) -> Bool { fields[number] != nil }

  /// Whether the daemon has refused the field `number`.
  package func isRefused(_ number: UInt64) -> Bool { fields[number]?.isRefused == true }

  /// The field `number` as it is described, or nil.
  package func description(of number: UInt64) -> FieldDescription? { fields[number]?.description }

  /// Where the daemon has the field `number`, or nil.
  package func path(of number: UInt64) -> ObjectPath? { fields[number]?.path }

  /// Whether the daemon that has the field `number` came back with it.
  package func isRestored(_ number: UInt64) -> Bool { fields[number]?.isRestored == true }

  /// Whether the daemon has answered all that it was asked of the field `number` and of focus.
  package func isSettled(_ number: UInt64) -> Bool {
    focusCalls == 0 && focusWaits == 0 && (cannotSave || fields[number]?.isWaiting == false)
  }

  /// Registers a field, now and whenever the daemon comes back, until it is removed.
  package func add(_ description: FieldDescription) {
    guard !contains(description.number) else { return }
    lastOrder += 1
    fields.add(PublishedField(description, order: lastOrder, link))
    registerNext()
  }

  /// Takes the fields of `group` away; `isLetGo` if the program did not ask for it.
  package func remove(group: UInt64, isLetGo: Bool = false) {
    let members = fields.remove(group: group)
    let wasRegistered = members.contains(where: \.wasRegistered)
    for field in members {
      claimants.remove(field.number)
      // What waits for it finds that the field is gone.
      defer { field.emitter.end() }
      if let path = field.path { unregister(path) } else if let path = field.formerPath { removed.insert(path) }
      guard isLetGo, field.isWaiting, !wasRegistered else {
        field.fail(DBusError(.unknownObject, "the field was unregistered"))
        continue
      }
      let error = DBusError(
        .unknownObject,
        "the field '\(field.description.label ?? field.id)' was let go of before it was registered: keep the result of "
          + "'register()'")
      field.fail(error)
      onError?(error)
    }
  }

  /// Calls `handler` once with the path of the field `number`, or with why it has none, unless `stopWaiting` is called
  /// with `id` before.
  package func whenRegistered(
    _ number: UInt64, id: UInt64, _ handler: @escaping (Result<ObjectPath, DBusError>) -> Void
  ) {
    guard let field = fields[number] else {
      return handler(.failure(DBusError(.failed, "the field is not registered: call 'register()' first")))
    }
    field.whenRegistered(id, handler)
  }

  /// Ends a wait of `whenRegistered`.
  package func stopWaiting(_ number: UInt64, id: UInt64) { fields[number]?.stopWaiting(id) }

  /// A daemon is there: registers every field with it, those that it still has included.
  ///
  /// It may have been asked already: the signal of its arrival can come after that.
  package func registerAll() {
    arrivals += 1
    registerNext()
  }

  /// The daemon is gone: every field waits for the next.
  package func daemonLeft() {
    session += 1
    underWay = nil
    if let field = fields.field(at: focusedField) { returning = field.number }
    focusedField = nil
    let isKnown = focusCalls == focusQuestions && focusWaits == 0 && !hasLostFocusCall
    for field in fields.all where field.path != nil { field.toldFocus = isKnown ? field.focus?.isWanted() : nil }
    hasLostFocusCall = false
    (cannotSave, isRetryDue) = (false, false)
    fields.daemonLeft()
  }

  /// Takes a field of this program away from the daemon, or from the next one if this one does not answer.
  private func unregister(_ path: ObjectPath) {
    link.call(.field(path, "Unregister")) { [weak self] result in
      guard let self, case .failure(let error) = result else { return }
      let isUnsaved = error.name == Focus1.ioError
      guard isUnsaved || Self.waitsForDaemon(after: error), fields.field(at: path) == nil else { return }
      removed.insert(path)
      if isUnsaved { retryLater() }
    }
  }

  private func registerNext() {
    guard underWay == nil, !isRetryDue, link.daemon != nil else { return }
    // Before another field has the same name.
    let former = removed
    removed = []
    for path in former.sorted() { unregister(path) }
    guard let (field, parentPath) = nextWithParent() else { return }
    underWay = field
    let (session, arrivals) = (session, arrivals)
    let options = field.options(parent: parentPath, hadFocus: returning == field.number)
    let shown = Set(field.description.commands.keys)
    link.call(.register(field.id, [], options), patiently: true) { [weak self] result in
      guard let self, session == self.session else { return }
      underWay = nil
      if case .failure(let error) = result, Self.waitsForDaemon(after: error), arrivals == self.arrivals {
        // The daemon is there, but this program did not answer what it asked of the object.
        if error.name == .timeout { later { $0.registerNext() } }
        if error.meansNoDaemon { onWaiting?(error) }
        return
      }
      if case .failure(let error) = result, error.name == Focus1.ioError {
        let isNews = !cannotSave
        cannotSave = true
        // Whoever waits goes on without them.
        for field in fields.all where field.isWaiting { field.tellWaiters(.failure(error)) }
        if isNews { onError?(error) }
        return retryLater()
      }
      cannotSave = false
      answered(field, result, shown)
      registerNext()
    }
  }

  private func retryLater() {
    guard !isRetryDue else { return }
    isRetryDue = true
    later {
      $0.isRetryDue = false
      $0.registerNext()
    }
  }

  /// Asks the daemon again in a while, unless it has gone by then.
  func later(_ ask: @escaping (FieldPublisher) -> Void) {
    link.loop.schedule(after: Self.retryDelay) { [weak self, session] in
      if let self, session == self.session { ask(self) }
    }
  }

  /// The first field that waits for a daemon, with its parent's path; those without a parent any more are refused.
  private func nextWithParent() -> (PublishedField, ObjectPath?)? {
    while let field = fields.firstWaiting() {
      guard let parent = field.description.parent else { return (field, nil) }
      if let path = fields[parent]?.path { return (field, path) }
      refused(field, DBusError(.failed, "the parent of the field '\(field.id)' is not registered, or was refused"))
    }
    return nil
  }

  /// Whether a field waits for a daemon after `error`.
  static func waitsForDaemon(after error: DBusError) -> Bool {
    error.meansNoDaemon || [.disconnected, .noReply, .timeout].contains(error.name)
  }

  private func answered(_ field: PublishedField, _ result: Result<ObjectPath, DBusError>, _ shown: Set<Key>) {
    do throws(DBusError) {
      registered(field, try result.get(), shown)
    } catch  where error.name == Focus1.fieldExists {
      reclaim(field, error)
    } catch {
      if !Self.waitsForDaemon(after: error) { refused(field, error) }
    }
  }

  private func registered(
    _ field: PublishedField, _ path: ObjectPath, _ shown: Set<Key>, isRestored: Bool = false
  ) {
    guard fields[field.number] === field else { return unregister(path) }
    removed.remove(path)
    let hadFocus = returning == field.number
    if hadFocus { returning = nil }
    fields.registered(field, at: path)
    field.registered(at: path, isRestored: isRestored)
    let isDisabled = disable(shown, of: field, isRestored: isRestored)
    examine(field)
    if isDisabled, hadFocus, field.focus == nil { callFocus("Focus", path) { _ in } }
    if field.isBlurDue {
      field.isBlurDue = false
      if field.focus?.isWanted() == false { blur(field.number) }
    }
    // A daemon that came back knows of focus what it was told, and what others told it since.
    if isRestored, field.toldFocus != false, let isWanted = field.focus?.isWanted() {
      if field.toldFocus == true, isWanted { return followFocus() }
      if !isWanted { giveUpFocus(field, path) }
    }
    focusWanted(field.number)
    focusChanged()
  }

  private func refused(_ field: PublishedField, _ error: DBusError) {
    // One that was removed meanwhile had no object any more.
    guard fields[field.number] === field else { return }
    field.fail(error)
    onError?(error)
  }

  /// A daemon that came back has the fields of who is still on the bus.
  private func reclaim(_ field: PublishedField, _ error: DBusError) {
    // One that another field of this program has is taken as much as another program's.
    guard let path = try? FieldID(field.id).path, fields.field(at: path) == nil else { return refused(field, error) }
    let session = session
    underWay = field
    link.call(.owner(of: path), patiently: true) { [weak self] result in
      guard let self, session == self.session else { return }
      underWay = nil
      // It may be told before the daemon's end; the field waits for the next.
      if case .failure(let error) = result, Self.waitsForDaemon(after: error) { return }
      if case .success(let owner) = result, owner == link.daemon?.connection.uniqueName?.text {
        // The daemon looked at its object before it had its name: what is sensitive was not shown to it.
        let isHidden = field.description.isSensitive
        if isHidden { field.mustBeExamined() }
        registered(field, path, isHidden ? [] : Set(field.description.commands.keys), isRestored: true)
      } else {
        refused(field, error)
      }
      registerNext()
    }
  }
}

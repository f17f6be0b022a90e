internal import DBus
internal import DBusTypes
internal import FocusBus
internal import FocusContract

/// The fields of this program, in the order in which they were registered, so that they come back in it.
final class FieldRegistry {
  private let link: Link
  private let watcher: FocusedWatcher
  private var fields: [ExportedField] = []
  /// The field that the daemon is asked to take.
  private var underWay: ExportedField?
  /// The daemon that was asked; the answer of one before it means nothing.
  private var session = 0
  /// How often a daemon came; where none has come since it was asked in vain, it is not asked again.
  private var arrivals = 0
  /// The calls of `Focus` and `Blur` whose outcome is not known yet.
  private var focusCalls = 0

  init(_ link: Link, _ watcher: FocusedWatcher) {
    self.link = link
    self.watcher = watcher
  }

  // MARK: Registration

  func add(_ definition: FieldDefinition) {
    guard !fields.contains(where: { $0.number == definition.number }) else { return }
    let field = ExportedField(definition, link)
    fields.append(field)
    if let scene = ExportedField(sceneOf: definition, link) { fields.append(scene) }
    registerNext()
  }

  func remove(_ number: UInt64) {
    for field in fields where field.owner == number {
      field.close()
      if let path = field.path { link.call(.field(path, "Unregister")) { _ in } }
      field.fail(FocusError("the field was unregistered", name: ErrorName.unknownObject.text))
    }
    fields.removeAll { $0.owner == number }
  }

  func whenRegistered(_ number: UInt64, _ handler: @escaping ExportedField.Waiter) {
    guard let field = fields.first(where: { $0.number == number }) else {
      return handler(.failure(FocusError("the field is not registered: call 'register()' first")))
    }
    field.whenRegistered(handler)
  }

  /// A daemon is there: it is to know every field, those that it still has included.
  ///
  /// It may have been asked already: the news of its arrival can be behind that.
  func registerAll() {
    arrivals += 1
    registerNext()
  }

  func daemonLeft() {
    session += 1
    underWay = nil
    for field in fields { field.daemonLeft() }
  }

  private func path(of number: UInt64) -> ObjectPath? { fields.first { $0.number == number }?.path }

  private func registerNext() {
    guard underWay == nil, link.daemon != nil, let field = fields.first(where: \.isWaiting) else { return }
    var options: [(name: String, value: DBusValue)] = []
    if field.showsAnything { options.append((name: "object", value: .objectPath(field.objectPath))) }
    if let label = field.label { options.append((name: "label", value: .string(label))) }
    if let parent = field.parent {
      guard let path = path(of: parent) else {
        refused(field, FocusError("the field's parent is not registered, or was refused"))
        return registerNext()
      }
      options.append((name: "parent", value: .objectPath(path)))
    }
    if field.isSceneScoped { options.append((name: "scope", value: .string("scene"))) }
    if field.isSensitive { options.append((name: "sensitive", value: .boolean(true))) }
    if field.wantsFocus { options.append((name: "focus", value: .boolean(true))) }
    underWay = field
    let (session, arrivals) = (session, arrivals)
    link.call(.register(field.id, [], options)) { [weak self] result in
      guard let self, session == self.session else { return }
      underWay = nil
      if case .failure(let error) = result, Self.noDaemon.contains(error.name), arrivals == self.arrivals { return }
      answered(field, result)
      registerNext()
    }
  }

  /// The errors after which a field waits for a daemon.
  private static let noDaemon = [
    ErrorName.serviceUnknown, .nameHasNoOwner, .disconnected, .noReply, .timeout,
  ].map(\.text)

  private func answered(_ field: ExportedField, _ result: Result<ObjectPath, FocusError>) {
    do throws(FocusError) {
      taken(field, try result.get())
    } catch  where error.name == FocusError.fieldExists {
      reclaim(field, error)
    } catch {
      if !Self.noDaemon.contains(error.name) { refused(field, error) }
    }
  }

  private func taken(_ field: ExportedField, _ path: ObjectPath) {
    guard fields.contains(where: { $0 === field }) else {
      return link.call(.field(path, "Unregister")) { _ in }
    }
    field.taken(path)
    focusWanted(field.number)
    focusChanged()
  }

  private func refused(_ field: ExportedField, _ error: FocusError) {
    field.fail(error)
    link.report(error)
  }

  /// A daemon that came back has the fields of who is still on the bus.
  private func reclaim(_ field: ExportedField, _ error: FocusError) {
    guard let path = try? Focus1.field(field.id) else { return refused(field, error) }
    let session = session
    underWay = field
    link.call(.owner(of: path)) { [weak self] result in
      guard let self, session == self.session else { return }
      underWay = nil
      if case .success(let owner) = result, owner == link.daemon?.connection.uniqueName?.text {
        taken(field, path)
      } else {
        refused(field, error)
      }
      registerNext()
    }
  }

  // MARK: Focus

  /// The program, or the registry itself, changed the focus state of the field `number`.
  func focusStateChanged(_ number: UInt64) {
    guard let field = fields.first(where: { $0.number == number }) else { return }
    field.focus?.acknowledge()
    focusWanted(number)
    focusChanged()
  }

  /// Has the daemon do what the focus state of the field `number` says.
  private func focusWanted(_ number: UInt64) {
    guard let field = fields.first(where: { $0.number == number }), let focus = field.focus, let path = field.path
    else { return }
    let isWanted = focus.isWanted()
    // While calls are under way, which field has focus when they are done is not known.
    guard focusCalls > 0 || isWanted != (watcher.focusedField == path) else { return }
    if !isWanted {
      // After the focus of another field, which makes it needless.
      focusCalls += 1
      link.loop.schedule(after: .zero) { [weak self] in
        guard let self else { return }
        focusCalls -= 1
        if !focus.isWanted() { callFocus("Blur", path) { _ in } } else { focusChanged() }
      }
    } else {
      callFocus("Focus", path) { [link] result in
        if case .failure(let error) = result { link.report(error) }
      }
    }
  }

  private func callFocus(_ member: String, _ path: ObjectPath, _ reply: @escaping (Result<Void, FocusError>) -> Void) {
    focusCalls += 1
    link.call(.field(path, member)) { [weak self] result in
      self?.focusCalls -= 1
      reply(result)
      self?.focusChanged()
    }
  }

  /// Has the focus states say what the daemon says, unless what they say themselves is still on its way there.
  func focusChanged() {
    guard focusCalls == 0 else { return }
    let focused = watcher.focusedField
    for field in fields where field.path != nil && field.path == focused { field.focus?.set(true) }
    for field in fields where field.path != nil && field.path != focused { field.focus?.set(false) }
  }

  // MARK: Calls

  /// Answers a call of one of the exported objects; `settle` has what the program changed meanwhile told of.
  func called(_ message: Message, settle: () -> Void) {
    guard let path = message.path, let connection = link.daemon?.connection else { return }
    let reply = FieldReply(message, connection, link.letters)
    if let field = fields.first(where: { $0.objectPath == path }) {
      if message.interface == Focus1.responder { return requestFocus(field, reply) }
      return field.called(message, reply, settle)
    }
    guard message.interface == .introspectable,
      let children = ExportedField.children(of: path, among: fields.map(\.objectPath))
    else { return reply.fail(DBusError(.unknownObject, "there is no object at '\(path)'")) }
    reply.succeed([.string(IntrospectionDocument.xml(interfaces: [], children: children))])
  }

  private func requestFocus(_ field: ExportedField, _ reply: FieldReply) {
    guard let focus = field.focus, let path = field.path else {
      return reply.fail(DBusError(.unknownMethod, "the field does not take focus on request"))
    }
    focus.set(true)
    callFocus("Focus", path) { result in
      switch result {
      case .success: reply.succeed([])
      case .failure(let error): reply.fail(error.onBus)
      }
    }
  }

  /// The field `number` has a new value for `key`, or one that has to be read where none is given.
  func changed(_ number: UInt64, _ key: KeyName, _ value: DBusValue?) {
    guard let field = fields.first(where: { $0.number == number }) else { return }
    field.changed(key, value)
  }
}

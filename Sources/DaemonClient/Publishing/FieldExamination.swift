internal import DBus
internal import DBusTypes
package import FocusContract

/// What the daemon is told about a field that is registered: which commands are off, and that it must examine the object again.
extension FieldPublisher {
  /// Tells the daemon which commands of the field are off, of those that were `shown` to it: it refuses a list with others.
  ///
  /// One that came back is told which were turned on, too: it may have them off.
  /// - Returns: whether any are off.
  @discardableResult
  func disable(_ shown: Set<Key>, of field: PublishedField, isRestored: Bool = false) -> Bool {
    let off = field.disabledCommands.intersection(shown)
    let on = isRestored ? field.enabledCommands.intersection(shown) : []
    guard !off.isEmpty || !on.isEmpty, let path = field.path else { return false }
    let states = off.map { ($0.description, false) } + on.map { ($0.description, true) }
    link.call(.setEnabled(Dictionary(uniqueKeysWithValues: states), at: path)) { [weak self] result in
      guard let self, case .failure(let error) = result else { return }
      if error.name == Focus1.ioError {
        return later { if $0.fields[field.number] === field { $0.disable(shown, of: field, isRestored: isRestored) } }
      }
      // The next daemon is told anew.
      if !Self.waitsForDaemon(after: error) { onError?(error) }
    }
    return !off.isEmpty
  }

  /// Notes whether the command `key` of the fields of `group` is on, for each daemon that they are registered with from
  /// now on.
  package func declareCommand(_ key: Key, isEnabled: Bool, group: UInt64) {
    for field in fields.inGroup(group) { field.declareCommand(key, isEnabled: isEnabled) }
  }

  /// Replaces the description of a field that was added, when its changes until now have been emitted; the daemon looks at
  /// its object anew if it has it, and `handler` is called after that.
  package func describe(_ description: FieldDescription, _ handler: @escaping () -> Void = {}) {
    guard let field = fields[description.number] else { return }
    var isDelayed = false
    field.emitter.afterAll { [weak self] in
      field.describe(description)
      field.whenExamined(handler)
      self?.examine(field)
      // Its state may have changed before it was followed.
      if isDelayed { self?.focusStateChanged(field.number) }
    }
    isDelayed = true
  }

  /// Calls `handler` when all changes of the field `number` until now have been told.
  package func whenTold(_ number: UInt64, _ handler: @escaping () -> Void) {
    if let field = fields[number] { field.emitter.afterAll(handler) } else { handler() }
  }

  /// Calls `handler` when the daemon has looked at the object of the field `number` as it is described, and knows which
  /// commands are off.
  package func whenExamined(_ number: UInt64, _ handler: @escaping () -> Void) {
    // What is published and not described yet waits for the changes before it.
    whenTold(number) { [weak self] in
      if let field = self?.fields[number] { field.whenExamined(handler) } else { handler() }
    }
  }

  func examine(_ field: PublishedField) {
    guard let path = field.pathToExamine() else { return }
    let shown = Set(field.description.commands.keys)
    link.call(.field(path, "Examine")) { [weak self, session] result in
      guard let self else { return field.examined(isDone: true) }
      if case .failure(let error) = result {
        if error.name == .timeout, session == self.session {
          field.examined(isDone: false)
          return later { $0.examine(field) }
        }
        // A field whose daemon is gone comes back with all of its keys; one that was removed had no object any more.
        if !Self.waitsForDaemon(after: error), fields[field.number] === field { onError?(error) }
      }
      if session == self.session { disable(shown, of: field, isRestored: field.isRestored) }
      field.examined(isDone: true)
      // What was described meanwhile.
      examine(field)
    }
  }
}

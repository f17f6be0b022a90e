internal import DBus
package import DBusTypes
internal import EventLoop
internal import FocusContract

/// Focus of the fields: the program's own states and the daemon follow each other.
extension FieldPublisher {
  /// The program, or the registry itself, changed the focus state of the field `number`.
  package func focusStateChanged(_ number: UInt64) {
    guard let field = fields[number] else { return }
    if field.focus?.isWanted() == true { returning = nil }
    focusWanted(number)
    focusChanged()
  }

  /// The program says that the field `number` has no focus, whoever has it now: the window that it is in would remember it.
  package func blur(_ number: UInt64) {
    guard let field = fields[number] else { return }
    guard let path = field.path else {
      field.isBlurDue = true
      return
    }
    callFocus("Blur", path) { [weak field] result in
      if case .failure(let error) = result, Self.waitsForDaemon(after: error) { field?.isBlurDue = true }
    }
  }

  /// The daemon says that the field at `path` has focus, nil for none.
  package func focusMoved(to path: ObjectPath?) {
    focusedField = path
    focusChanged()
  }

  /// Makes the daemon follow the focus state of the field `number`.
  func focusWanted(_ number: UInt64) {
    guard let field = fields[number], let focus = field.focus, let path = field.path else { return }
    let isWanted = focus.isWanted()
    if isWanted { claimants.insert(number) }
    // While calls are under way, which field has focus when they are done is not known.
    guard focusCalls > 0 || isWanted != (focusedField == path) else { return }
    if !isWanted {
      focusWaits += 1
      link.loop.schedule(after: .zero) { [weak self] in
        guard let self else { return }
        focusWaits -= 1
        guard !focus.isWanted() else { return focusChanged() }
        // The program may have chosen another field and not said so yet: with that first, focus is never nowhere.
        // Or this one, when it had been registered, has taken focus from the other.
        for other in fields.all
        where other.focus?.isWanted() == true && (focusCalls == 0 || !claimants.contains(other.number)) {
          focusWanted(other.number)
        }
        // A field that is being registered takes focus then, unless it is refused or does not want it any more.
        if let next = fields.all.first(where: { $0.isWaiting && $0.focus?.isWanted() == true }) {
          focusWaits += 1
          lastWait -= 1
          return next.whenRegistered(lastWait) { [weak self] _ in
            guard let self else { return }
            focusWaits -= 1
            focusWanted(number)
            focusChanged()
          }
        }
        // It may have left by itself: the next one has been registered with focus.
        guard focusCalls > 0 || focusedField == path else { return focusChanged() }
        callFocus("Blur", path) { _ in }
      }
    } else {
      callFocus("Focus", path) { [weak self] result in
        // What is lost with its daemon is asked of the next one.
        if case .failure(let error) = result, !Self.waitsForDaemon(after: error) { self?.onError?(error) }
      }
    }
  }

  func callFocus(_ member: String, _ path: ObjectPath, _ reply: @escaping (Result<Void, DBusError>) -> Void) {
    focusCalls += 1
    link.call(.field(path, member)) { [weak self, session] result in
      guard let self else { return reply(result) }
      focusCalls -= 1
      // That a call was lost may be told before the daemon's end, or after it.
      if session == self.session, case .failure(let error) = result, Self.waitsForDaemon(after: error) {
        hasLostFocusCall = true
      }
      reply(result)
      focusChanged()
    }
  }

  /// Gives up the focus that a daemon which came back may remember for the field.
  func giveUpFocus(_ field: PublishedField, _ path: ObjectPath) {
    // Not one of `focusQuestions`: if this daemon leaves before it answers, the next must be asked, too.
    focusCalls += 1
    link.call(.focusedField()) { [weak self] result in
      guard let self else { return }
      focusCalls -= 1
      if case .success(path) = result, field.focus?.isWanted() == false { callFocus("Blur", path) { _ in } }
    }
  }

  /// Asks which field has focus, and makes the focus states follow.
  func followFocus() {
    focusCalls += 1
    focusQuestions += 1
    link.call(.focusedField()) { [weak self] result in
      guard let self else { return }
      focusCalls -= 1
      focusQuestions -= 1
      if case .success(let path) = result { focusedField = path }
      focusChanged()
    }
  }

  /// Makes the focus states follow the daemon, unless what they say themselves is still on its way there.
  func focusChanged() {
    guard focusCalls == 0, focusWaits == 0 else { return }
    let focused = fields.field(at: focusedField)
    if let focused {
      focused.focus?.set(true)
      claimants.insert(focused.number)
    }
    for number in claimants where number != focused?.number {
      guard let field = fields[number], field.path != nil else { continue }
      field.focus?.set(false)
      if field.focus?.isWanted() != true { claimants.remove(number) }
    }
  }
}

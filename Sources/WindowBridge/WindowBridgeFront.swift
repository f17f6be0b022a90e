internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import EventLoop
internal import FocusContract

/// The window in front, which has focus, and those that are brought to it.
extension WindowBridge {
  /// How long a window manager may take to bring a window to the front: less than the daemon's own patience, 5 s.
  private static let patience = Duration.seconds(4)
  /// How long none may be in front before nothing has focus.
  private static let blurGrace = Duration.milliseconds(30)

  func tellFront() {
    // Not before the programs in the window: focus would go to the window alone for a moment.
    guard isOwner, residents.isSettled, retryTimer == nil else { return }
    guard let (id, field) = frontField else { return blurLater() }
    // Who waits for it is told, too, if none was in front for a moment.
    guard toldFront != id || !hasTold || requests.isAwaited(id), let path = field.path else { return }
    (toldFront, hasTold) = (id, true)
    focus(path, of: id)
  }

  /// The window in front, unless the daemon refuses it.
  private var frontField: (id: WindowID, field: WindowField)? {
    guard let id = desktop.front, let field = fields[id], !field.isRefused || field.path != nil else { return nil }
    return (id, field)
  }

  /// Window managers say that no window is in front before each switch: that counts only if none follows.
  private func blurLater() {
    guard blurTimer == nil, toldFront != nil else { return }
    blurTimer = link.loop.schedule(after: Self.blurGrace) { [weak self] in
      guard let self else { return }
      blurTimer = nil
      guard frontField == nil else { return }
      if let told = toldFront.flatMap({ fields[$0] }) { blur(told) }
      toldFront = nil
    }
  }

  private func focus(_ path: ObjectPath, of id: WindowID) {
    link.call(.field(path, "Focus")) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success: requests.succeed(id)
      case .failure(let error):
        if toldFront == id { toldFront = nil }
        requests.fail(id, error.message)
        if error.name == Focus1.ioError { retryLater() }
      }
    }
  }

  func blur(_ field: WindowField) {
    guard let path = field.path else { return }
    link.call(.field(path, "Blur")) { [weak self] result in
      guard let self, case .failure(let error) = result, error.name == Focus1.ioError else { return }
      unsavedBlurs.insert(field.id)
      retryLater()
    }
  }

  /// Repeats in a second the calls that the daemon could not save: it sends no signal when it can.
  func retryLater() {
    guard retryTimer == nil else { return }
    retryTimer = loop.schedule(after: .seconds(1)) { [weak self] in
      guard let self else { return }
      let blurs = unsavedBlurs
      (retryTimer, unsavedBlurs) = (nil, [])
      for id in blurs where desktop.front != id {
        if let field = fields[id] { blur(field) }
      }
      tellAdoptions()
      tellFront()
    }
  }
}

extension WindowBridge: WindowFieldDelegate {
  func window(_ id: WindowID) -> Window? { desktop.windows[id] }

  func perform(_ action: WindowAction, on id: WindowID, _ completion: @escaping (Result<Void, DBusError>) -> Void) {
    source.perform(action, on: id) { refusal in
      completion(
        refusal.map { .failure(DBusError(.failed, "cannot \(action.rawValue) the window \(id): \($0)")) }
          ?? .success(()))
    }
  }

  /// Succeeds once the daemon knows that the window is in front.
  func bringToFront(_ id: WindowID, _ completion: @escaping (Result<Void, DBusError>) -> Void) {
    guard fields[id] != nil else { return completion(.failure(DBusError(.failed, "the window was closed"))) }
    var timer: TimerID?
    let number = requests.add(id) { [weak loop] result in
      if let timer { loop?.cancel(timer) }
      completion(result)
    }
    timer = loop.schedule(after: Self.patience) { [weak self] in
      self?.requests.fail(id, number: number, "the window manager did not do so within \(Self.patience)")
    }
    source.raise(id) { [weak self] refusal in
      guard let self else { return }
      if let refusal { return requests.fail(id, refusal) }
      // A field outside of all windows may have focus while this one is in front.
      guard desktop.front == id, let field = fields[id], let path = field.path else { return }
      blur(field)
      focus(path, of: id)
    }
  }
}

internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusContract

/// Running the items of a window's menus.
extension WindowMenus {
  /// How long a window may take to be in front, and an item to be enabled then.
  private static let patience = Duration.milliseconds(400)
  private static let step = Duration.milliseconds(50)
  /// How long a program may take to show that an item is not checked any more.
  private static let unchecking = Duration.seconds(1)
  /// An item that is not done after this time has begun: it may have opened a dialog.
  private static let begun = Duration.milliseconds(300)

  /// All items, each as `Menu.Items` returns it.
  func items(_ done: @escaping (Result<[DBusValue], DBusError>) -> Void) {
    read(isWhole: true) { [weak self] all in
      var (shown, keys) = ([[MenuItem]](), [MenuItem]())
      for (source, items) in zip(self?.sources ?? [], all) {
        if source.canRun { shown.append(items.filter { !$0.isHidden }) } else { keys += items }
      }
      let items = MenuMerge.items(shown, keys: keys).map(\.value)
      if items.isEmpty, let self, let failure = failure ?? (isPartial ? .unread : nil) {
        return done(.failure(failure))
      }
      done(.success([.array(DBusArray(known: MenuKey.itemType, items))]))
      self?.forget()
    }
  }

  /// Runs the standard command `key`; if its item is gone, or opens a menu, the one that has taken its place.
  func run(_ key: String, isAgain: Bool = false, _ done: @escaping Completion) {
    guard let place = places[key] else {
      return done(.failure(DBusError(.failed, "the menus of the window do not have '\(key)' any more")))
    }
    let refused: Completion = { [weak self] result in
      let (gone, opener) = (DBusError.itemGone(place.id), DBusError.opensMenu(place.id))
      guard let self, !isAgain, case .failure(let error) = result, error == gone || error == opener else {
        return done(result)
      }
      read(isWhole: false) { _ in
        // The command is not offered any more.
        if error == opener, self.places[key] == nil { return done(result) }
        self.run(key, isAgain: true) { result in
          // What a program did not tell in time may still be there.
          if case .failure(.itemGone(place.id)) = result, let late = self.late { return done(.failure(late)) }
          done(result)
        }
      }
    }
    whenReady(place, since: .now, refused) { [weak self] _ in self?.perform(place, done) }
  }

  /// Runs the item `id`.
  func activate(_ id: String, _ done: @escaping Completion) {
    find(id, done) { [weak self] place, done in
      self?.whenReady(place, since: .now, done) { _ in self?.perform(place, done) }
    }
  }

  /// Makes the item `id` checked or not, after who does so already: two at once would both run it.
  func check(_ id: String, _ isChecked: Bool, _ done: @escaping Completion) {
    guard checks[id] == nil else {
      checks[id]?.append { [weak self] in
        self?.check(id, isChecked, done) ?? done(.failure(.itemGone(id)))
      }
      return
    }
    checks[id] = []
    checkNow(id, isChecked) { [weak self] result in
      let waiting = self?.checks.removeValue(forKey: id) ?? []
      done(result)
      for next in waiting { next() }
    }
  }

  private func checkNow(_ id: String, _ isChecked: Bool, _ done: @escaping Completion) {
    find(id, done) { [weak self] place, done in
      self?.whenReady(place, since: .now, mustBeEnabled: false, done) { item in
        guard let now = item.isChecked else {
          return done(
            .failure(DBusError(.invalidArgs, "the item '\(id.excerpt)' does not show that it can be checked")))
        }
        guard now != isChecked else { return done(.success(())) }
        guard item.isEnabled else { return done(.failure(.disabled(id))) }
        self?.perform(place) { result in
          guard case .success = result, !isChecked else { return done(result) }
          self?.waitUntilUnchecked(place, since: .now, done)
        }
      }
    }
  }

  /// Waits until an item is not checked any more, and fails if it stays so: a radio item does when it is run again.
  private func waitUntilUnchecked(_ place: Place, since start: SuspendingClock.Instant, _ done: @escaping Completion) {
    guard !isEnded, sources.indices.contains(place.source) else { return done(.success(())) }
    sources[place.source].look(at: place.id) { [weak self] result in
      guard let self, case .success(let item) = result, item.isChecked == true else { return done(.success(())) }
      guard SuspendingClock.now - start < Self.unchecking else { return done(.failure(.stillChecked(place.id))) }
      loop.schedule(after: Self.step) { self.waitUntilUnchecked(place, since: start, done) }
    }
  }

  /// Finds an item by id for a call, which ends with `done`; reads all items if none that was read before has it, and again if it is forgotten while it is used.
  private func find(
    _ id: String, _ done: @escaping Completion, _ use: @escaping (Place, @escaping Completion) -> Void
  ) {
    calls += 1
    let end: Completion = { [weak self] result in
      done(result)
      self?.callEnded()
    }
    find(id, readings: 0, end, use)
  }

  private func find(
    _ id: String, readings: Int, _ done: @escaping Completion,
    _ use: @escaping (Place, @escaping Completion) -> Void
  ) {
    let readAll = { [weak self] in
      self?.mustForget = true
      self?.read(isWhole: true) { _ in
        self?.find(id, readings: readings + 1, done, use)
      } ?? done(.failure(.itemGone(id)))
    }
    look(id) { [weak self] result in
      guard let self, !isEnded else { return done(.failure(.itemGone(id))) }
      switch result {
      case .success(let place):
        use(place) { result in
          guard case .failure(let error) = result, error == .itemGone(id), readings < 2 else {
            return done(result)
          }
          readAll()
        }
      case .failure(let error) where readings > 0 || error.isLate: done(.failure(late ?? error))
      case .failure: readAll()
      }
    }
  }

  /// Finds the first source that has an item; if none does, and one did not answer in time, that is why.
  private func look(
    _ id: String, from index: Int = 0, late: DBusError? = nil, _ found: @escaping (Result<Place, DBusError>) -> Void
  ) {
    guard sources.indices.contains(index) else { return found(.failure(late ?? .itemGone(id))) }
    sources[index].look(at: id) { [weak self] result in
      switch result {
      case .success: return found(.success(Place(source: index, id: id)))
      case .failure(let error):
        self?.look(id, from: index + 1, late: error.isLate ? error : late, found) ?? found(.failure(.itemGone(id)))
      }
    }
  }

  /// Waits, for a while, until the window is in front and the item enabled: a launcher may have been in front.
  private func whenReady(
    _ place: Place, since start: SuspendingClock.Instant, mustBeEnabled: Bool = true, _ done: @escaping Completion,
    _ use: @escaping (MenuItem) -> Void
  ) {
    guard !isEnded, sources.indices.contains(place.source) else { return done(.failure(.itemGone(place.id))) }
    let isInFront = delegate?.timeInFront(of: window) != nil
    let mayWait = SuspendingClock.now - start < Self.patience
    let again = { [weak self] in
      guard let self else { return done(.failure(.itemGone(place.id))) }
      loop.schedule(after: Self.step) { self.whenReady(place, since: start, mustBeEnabled: mustBeEnabled, done, use) }
    }
    guard isInFront || !mayWait else { return again() }
    sources[place.source].look(at: place.id) { [weak self] result in
      guard let self, !isEnded else { return done(.failure(.itemGone(place.id))) }
      switch result {
      case .failure(let error): done(.failure(error))
      case .success(let item) where item.isEnabled || !mustBeEnabled: use(item)
      case .success:
        // Also if it was in front all the time: while a key of i3 is held, programs that ask who has the keyboard get no answer,
        // and some disable what they offer for a selection.
        if mayWait { again() } else { done(.failure(.disabled(place.id))) }
      }
    }
  }

  private func perform(_ place: Place, _ done: @escaping Completion) {
    guard !isEnded, sources.indices.contains(place.source) else { return done(.failure(.itemGone(place.id))) }
    var answer: Completion? = done
    let timer = loop.schedule(after: Self.begun) {
      answer?(.success(()))
      answer = nil
    }
    sources[place.source].run(place.id) { [loop] result in
      loop.cancel(timer)
      // It was there a moment ago: an item may end its program at once.
      if case .failure(.programLeft) = result { answer?(.success(())) } else { answer?(result) }
      answer = nil
    }
  }
}

extension DBusError {
  fileprivate static let unread = DBusError(.timeout, "the items cannot be read: \(programSilent.message)")

  fileprivate static func stillChecked(_ id: String) -> DBusError {
    DBusError(
      .failed,
      "the program was asked, and the item '\(id.excerpt)' is still checked: check another of its group instead")
  }

  fileprivate static func disabled(_ id: String) -> DBusError {
    DBusError(Focus1.disabled, "the program has disabled the item '\(id.excerpt)'")
  }
}

internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import EventLoop

/// Windows that no event tells of: those that were there before the bridge, or came back too soon.
extension Bridge {
  // MARK: Looking for windows

  func findWindows() {
    isRegistryUnread = true
    bus?.children(of: .registry, atMost: 256) { [weak self] answer in
      guard let self, case .success(let roots) = answer else { return }
      isRegistryUnread = false
      for root in roots { appeared(root.application) }
    }
  }

  /// The registry tells of a program.
  func appeared(_ name: BusName) {
    let application = application(name)
    application.isExpected = true
    lookAt(application)
  }

  /// The registry tells of a program that has left, which it may have told of after the bus said so.
  func departed(_ name: BusName) {
    guard let application = applications[name], application.fields.isEmpty, tracker.desired?.application != name else {
      return
    }
    switch application.stage {
    case .unknown, .asking: applications[name] = nil
    case .known, .ignored, .frames: break
    }
  }

  /// Looks for a window in front, as long as none is known.
  private func lookAt(_ application: Application) {
    guard let bus, tracker.window == nil else { return }
    guard case .known = application.stage else {
      application.ask(bus, ignored: ignored) { [weak self] in
        guard let self else { return }
        if case .known = application.stage { lookAt(application) }
        settle()
      }
      return
    }
    bus.children(of: application.root, atMost: 64) { [weak self] answer in
      guard case .success(let windows) = answer else { return }
      // A program speaks of its own windows only.
      for window in windows where window.application == application.name { self?.lookAt(window) }
    }
  }

  /// Looks at the windows that are known: Qt tells nothing of one that was left for less than a tenth of a second.
  func lookAgain() {
    for window in Set(kept.compactMap(\.window)) { lookAt(window) }
  }

  private func lookAt(_ window: ElementReference) {
    bus?.states(of: window) { [weak self] answer in
      guard let self, tracker.window == nil else { return }
      if answer.isLate { applications[window.application]?.isExpected = true }
      if case .success(let states) = answer, states.contains(.active) { take(.activated(window)) }
    }
  }

  // MARK: Looking again

  /// Looks again for what should be shown, a few times and less and less often, until something is.
  ///
  /// What was late, as programs that start are, is told by no other event. If it `isNew`, something has happened since it was
  /// looked for last.
  func lookAgainLater(isNew: Bool = false) {
    guard isMissing else { return }
    if let looks {
      guard isNew, looks.count > 0 else { return }
      stopLooking()
    }
    lookLater(0)
  }

  func stopLooking() {
    if let timer = looks?.timer { loop.cancel(timer) }
    looks = nil
  }

  private func lookLater(_ count: Int) {
    guard Self.retries.indices.contains(count) else {
      looks = (nil, count)
      for application in applications.values { application.isExpected = false }
      return
    }
    let timer = loop.schedule(after: Self.retries[count]) { [weak self] in
      guard let self else { return }
      looks = nil
      guard isMissing else { return }
      // Before that: what comes of it ends it.
      lookLater(count + 1)
      look()
    }
    looks = (timer, count)
  }

  private func look() {
    guard !tracker.isWaiting else { return }
    if let window = tracker.window { search(window, epoch: tracker.epoch, isLast: false) } else { lookAtAll() }
    if shown == nil { settle() }
  }

  private func lookAtAll() {
    guard !isRegistryUnread else { return findWindows() }
    for application in applications.values where application.isExpected { lookAt(application) }
    lookAgain()
  }

  /// Whether nothing is shown, or only the window in front, though there may be more.
  private var isMissing: Bool {
    guard bus != nil else { return false }
    guard let window = tracker.window else {
      return shown == nil
        && (tracker.desired != nil || isRegistryUnread || applications.values.contains(where: \.isExpected))
    }
    let application = application(window.application)
    if case .ignored = application.stage { return false }
    return !isOwn(application) && (shown == nil || tracker.desired == window)
  }

  // MARK: Searching windows

  func search(_ window: ElementReference, epoch: UInt64, isLast: Bool, attempt: Int = 0) {
    guard let bus, !tracker.isOver(epoch) else { return }
    let found = { [weak self] (element: ElementReference?) -> Void in
      self?.take(.found(element, epoch: epoch, isLast: isLast))
    }
    let noAnswer = { [weak self] in
      guard let self, isLast, !tracker.isOver(epoch) else { return }
      searchAgain(window, epoch: epoch, attempt: attempt)
    }
    let application = application(window.application)
    switch application.stage {
    case .unknown, .asking:
      application.ask(bus, ignored: ignored) { [weak self] in
        guard let self else { return }
        if application.stage == .unknown { return noAnswer() }
        search(window, epoch: epoch, isLast: isLast, attempt: attempt)
      }
    // What must not be looked into still has the window in front.
    case .ignored, .frames: found(nil)
    case .known:
      guard !isOwn(application) else { return found(nil) }
      let isOver = { [weak self] in self?.tracker.isOver(epoch) ?? true }
      let target: FocusSearch.Target = application.toolkit.hasFocusProxies ? .editableFirst : .any
      FocusSearch.find(in: window, on: bus, target, isOver: isOver) { [weak self] outcome in
        switch outcome {
        case .found(let element, let isPreferred):
          if isPreferred { return found(element) }
          self?.findLast(in: window, on: bus) { found($0 ?? element) }
        case .nothing: found(nil)
        case .noAnswer: noAnswer()
        }
      }
    }
  }

  /// Hands over what had focus last in a window of Qt's if it has it still: each page's tab in front, for one, says that it has.
  private func findLast(
    in window: ElementReference, on bus: ProgramBus, _ handler: @escaping (ElementReference?) -> Void
  ) {
    let last = kept.last { field in
      field.frame == window && ![window, tracker.doubted].contains(field.element) && !field.snapshot.role.mayPassFocus
    }
    guard let last else { return handler(nil) }
    bus.states(of: last.element) { [weak self] answer in
      guard let self, (try? answer.get())?.contains(.focused) == true else { return handler(nil) }
      guard last.snapshot.role.isItem else { return handler(last.element) }
      findView(of: last.element, in: application(last.element.application), after: last.element, on: bus) { isSure in
        handler(isSure == true ? last.element : nil)
      }
    }
  }

  /// Searches once more a window whose program did not answer in time; after some attempts it has none that is focused.
  private func searchAgain(_ window: ElementReference, epoch: UInt64, attempt: Int) {
    guard attempt < Self.retries.count else { return take(.found(nil, epoch: epoch, isLast: true)) }
    timers.append(
      loop.schedule(after: Self.retries[attempt]) { [weak self] in
        self?.search(window, epoch: epoch, isLast: true, attempt: attempt + 1)
      })
  }
}

internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import EventLoop
internal import ProgramSupport

/// From what should have focus to what the daemon has: one loop, which each event and each answer turns once.
extension Bridge {
  /// Takes an event, and does what it leads to.
  func take(_ event: FocusTracker.Event) {
    if case .activated(let window) = event { applications[window.application]?.isExpected = false }
    let before = tracker.window
    let steps = tracker.take(event)
    if tracker.window != before { frontChanged(from: before) }
    carryOut(steps)
  }

  func carryOut(_ steps: [FocusTracker.Step]) {
    // Timers of an older epoch would find nothing to do; those of this one have yet to look.
    if timersEpoch != tracker.epoch { cancelTimers() }
    timersEpoch = tracker.epoch
    for step in steps { perform(step) }
  }

  private func perform(_ step: FocusTracker.Step) {
    switch step {
    case .desire(let element):
      if failures?.element != element { failures = nil }
      settle(isTold: true)
      if element == nil, tracker.window == nil {
        lookAgain()
        lookAgainLater(isNew: true)
      } else if element == tracker.window {
        lookAgainLater()
      }
    case .wait(let time, let epoch):
      timers.append(loop.schedule(after: time) { [weak self] in self?.take(.waited(epoch: epoch)) })
    case .search(let window, let delay, let epoch, let isLast):
      timers.append(
        loop.schedule(after: delay) { [weak self] in self?.search(window, epoch: epoch, isLast: isLast) })
    case .forget(let window):
      let gone = kept.filter { [$0.window, $0.frame, $0.element].contains(window) }
      let isAwaited = gone.map(remove).contains(true)
      applications[window.application]?.forget(window, after: isAwaited ? Self.answerTime : .zero)
    }
  }

  /// Takes the daemon to what is desired, or a step nearer.
  ///
  /// If another program has moved focus in the daemon, only what a program tells (`isTold`) moves it back.
  func settle(isTold: Bool = false) {
    guard let bus, let element = tracker.desired else { return show(nil) }
    let application = application(element.application)
    hideLater(element)
    switch application.stage {
    case .unknown:
      application.ask(bus, ignored: ignored) { [weak self, weak application] in
        guard let self else { return }
        guard application?.stage == .unknown else { return settle() }
        show(nil)
        retryLater(element)
      }
    case .asking: break
    case .ignored, .frames: show(nil)
    case .known:
      guard !isOwn(application), !(application.isDesktop && element == tracker.window) else { return show(nil) }
      // Which window is active may be told after the element that has focus.
      let isInFront = shown?.frame == tracker.window || shown?.window != tracker.window
      if let shown, shown.element == element, isInFront {
        if isTold { publisher(of: shown)?.focusStateChanged(shown.number) }
        // Something in it may have taken focus since.
        guard application.toolkit.isFiller(shown.snapshot), readEpoch != tracker.epoch else { return }
      }
      if application.reading == nil { read(element, of: application) }
    }
  }

  /// Reads an element that should have focus, and shows it if that is still so.
  func read(_ element: ElementReference, of application: Application) {
    guard let bus else { return }
    let context = context(of: application, element, before: nil)
    application.reading = (element, context.marks, [])
    readEpoch = tracker.epoch
    listen()
    var place = ElementPlace(application: application.title, process: application.process)
    place.isShown = !ownPrograms.hasWindows
    var window = application.fields[element]?.window
    var frame: ElementReference?
    var outcome: ElementReader.Outcome = .failure(.elementGone)
    let answers = Answers { [weak self] in
      // Until it has its field, what changes of it is kept.
      let earlier = application.checking?.element == element ? application.checking?.changed ?? [] : []
      application.checking = (element, earlier.union(application.reading?.changed ?? []))
      application.reading = nil
      guard let self, isCurrent(application) else { return }
      checkFocus(of: element, in: window, application, outcome) { [weak self] isSure in
        if !isSure { place.isIncomplete = true }
        self?.finish(element, of: application, outcome, (window, frame), place)
      }
    }
    let findTitle = answers.expect { (title: WindowTitle) in
      place.title = title.text
      if title.isLate { place.isIncomplete = true }
    }
    let findFrame = answers.expect { (found: ElementReference?) in frame = found }
    let knownFrame = application.fields[element]?.frame
    let look = { [weak self] (window: ElementReference) -> Void in
      self?.title(of: window) { [weak self] title in
        findTitle(title)
        self?.frame(of: window, known: knownFrame, findFrame)
      }
    }
    if let window, let shown, shown.window == window, !shown.place.isIncomplete {
      // Its changes are told.
      findTitle(WindowTitle(text: shown.place.title))
      self.frame(of: window, known: knownFrame, findFrame)
    } else if let window {
      look(window)
    } else {
      application.windows.find(from: element, below: application.root, on: bus) { found in
        window = found.window
        if case .notYet = found { place.isIncomplete = true }
        if let found = found.window { return look(found) }
        findTitle(WindowTitle())
        findFrame(knownFrame)
      }
    }
    let take = answers.expect { (result: ElementReader.Outcome) in outcome = result }
    if let field = application.fields[element] {
      refresh(field, .all, take)
    } else {
      ElementReader.read(element, on: bus, context, take)
    }
    answers.finish()
  }

  /// What another program shows does not stay writable while the one that should have focus does not answer.
  private func hideLater(_ element: ElementReference) {
    guard hideTimer == nil, let shown, shown.element.application != element.application else { return }
    hideTimer = loop.schedule(after: FocusTracker.blurGrace) { [weak self] in
      guard let self else { return }
      hideTimer = nil
      guard self.shown === shown, tracker.desired?.application != shown.element.application else { return }
      show(nil)
    }
  }

  func context(
    of application: Application, _ element: ElementReference, before: ElementSnapshot?
  ) -> ElementReader.Context {
    ElementReader.Context(
      toolkit: application.toolkit, showsTerminals: options.showsTerminals, isSecret: application.isSecret(element),
      secretPositions: application.secrets.positions, before: before)
  }

  private func finish(
    _ element: ElementReference, of application: Application, _ outcome: ElementReader.Outcome,
    _ windows: (own: ElementReference?, frame: ElementReference?), _ place: ElementPlace
  ) {
    let checking = application.checking?.element == element ? application.checking : nil
    if checking != nil { application.checking = nil }
    defer { listen() }
    guard tracker.desired == element, !isOwn(application) else { return settle() }
    switch outcome {
    case .failure(let error):
      log.debug("an element cannot be read: \(error.name)")
      if error.isLate {
        // Its field stays, and what is shown of it already; nothing else stays writable.
        if shown?.element != element { show(nil) }
        return retryLater(element)
      }
      if let field = application.fields[element] { remove(field) }
      show(nil)
      // What is not there any more, or not yet, may be told by no other event either.
      lookAgainLater()
    case .success(let snapshot):
      if isOwn(snapshot, of: application) { return show(nil) }
      if application.isDesktop, !ElementShape(snapshot).holdsValue {
        show(nil)
        if snapshot.isIncomplete { retryLater(element) }
        return
      }
      failures = nil
      var place = place
      // Both may have changed while the element was read.
      place.isShown = !ownPrograms.hasWindows
      if let window = windows.own, let title = application.titles[window], !title.isEmpty { place.title = title }
      note(snapshot, of: element, application)
      let field: ElementField
      if let known = application.fields[element] {
        field = known
        move(field, to: windows.frame, application)
        field.window = windows.own
        // It may have been read again while its window was looked for.
        publish(field.snapshot, at: place, in: field)
      } else {
        lastNumber += 1
        field = ElementField(
          element, number: lastNumber, window: windows.own, frame: windows.frame, snapshot, at: place)
        application.fields[element] = field
      }
      show(field)
      retryUnlessWhole(field)
      // What changed of a field that was known before is in `pending` already; it is read only once the field is shown.
      field.pending.formUnion(checking?.changed ?? [])
      if !field.pending.isEmpty { readLater() }
    }
  }

  /// Lets the field be where the window is that it is in after all.
  private func move(_ field: ElementField, to frame: ElementReference?, _ application: Application) {
    guard field.frame != frame else { return }
    let isLearned = field.frame == nil && application.nameWindow(of: field, frame, isActive: frame == tracker.window)
    if !isLearned { publisher(of: field)?.remove(group: field.number) }
    field.frame = frame
    if !isLearned, shown === field { shown = nil }
  }

  /// Makes the daemon follow: `field` has focus now, or none.
  private func show(_ field: ElementField?) {
    let before = shown
    guard before !== field else { return }
    shown = field
    if let field, field.element != tracker.window { stopLooking() }
    stopPolling()
    listen()
    defer {
      // Who had a search of the desktop's in front looks back at the program before it.
      if let before, applications[before.element.application]?.isDesktop == true { remove(before) }
    }
    guard let field, let application = applications[field.element.application] else {
      if let before { publisher(of: before)?.focusStateChanged(before.number) }
      return
    }
    let connection = application.connection(
      for: field.frame, isActive: field.frame == tracker.window, connection)
    if connection.fields.contains(field.number) {
      connection.fields.focusStateChanged(field.number)
    } else {
      connection.fields.add(field.description(fieldActions))
    }
    keep(field)
    tellFocusWaiters(field.element)
    pollIfNeeded(field)
  }

  func publisher(of field: ElementField) -> FieldPublisher? {
    applications[field.element.application]?.connections[field.frame]?.fields
  }

  /// Tells all who wait for `element` to have focus what came of it.
  func tellFocusWaiters(_ element: ElementReference, _ outcome: Result<Void, DBusError> = .success(())) {
    let due = focusWaiters.filter { $0.element == element }
    focusWaiters.removeAll { $0.element == element }
    for waiter in due {
      loop.cancel(waiter.timer)
      waiter.done(outcome)
    }
  }

  private func cancelTimers() {
    for timer in timers { loop.cancel(timer) }
    timers = []
  }

  func stopTimers() {
    cancelTimers()
    stopPolling()
    stopLooking()
    stopRetrying()
    for timer in [refreshTimer, hideTimer, closedTimer].compactMap(\.self) { loop.cancel(timer) }
    (refreshTimer, hideTimer, closedTimer, closing) = (nil, nil, nil, [])
  }
}

internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import EventLoop
internal import ProgramSupport

/// From what should have focus to what the daemon has: one loop, which each event and each answer turns once.
extension Bridge {
  /// Takes an event, and does what it leads to.
  func take(_ event: FocusTracker.Event) { carryOut(tracker.take(event)) }

  private func carryOut(_ steps: [FocusTracker.Step]) {
    guard !steps.isEmpty else { return }
    // Timers of older steps would find nothing to do.
    if steps.contains(where: \.beginsAnew) { cancelTimers() }
    for step in steps { perform(step) }
  }

  private func perform(_ step: FocusTracker.Step) {
    switch step {
    case .desire(let element):
      settle(isTold: true)
      if element == nil, tracker.window == nil { lookAgain() }
    case .wait(let time, let epoch):
      timers.append(loop.schedule(after: time) { [weak self] in self?.take(.waited(epoch: epoch)) })
    case .search(let window, let delay, let epoch, let isLast):
      timers.append(
        loop.schedule(after: delay) { [weak self] in self?.search(window, epoch: epoch, isLast: isLast) })
    case .forget(let window):
      applications[window.application]?.windows.forget(window)
      applications[window.application]?.titles[window] = nil
      for field in kept where field.window == window || field.element == window { remove(field) }
    }
  }

  private func search(_ window: ElementReference, epoch: UInt64, isLast: Bool, attempt: Int = 0) {
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
    case .ignored: found(nil)
    case .known:
      guard !isOwn(application) else { return found(nil) }
      let isOver = { [weak self] in self?.tracker.isOver(epoch) ?? true }
      let prefersEditable = application.toolkit.hasFocusProxies
      FocusSearch.find(in: window, on: bus, prefersEditable: prefersEditable, isOver: isOver) { outcome in
        switch outcome {
        case .found(let element): found(element)
        case .nothing: found(nil)
        case .noAnswer: noAnswer()
        }
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
    case .ignored: show(nil)
    case .known:
      guard !isOwn(application) else { return show(nil) }
      if let shown, shown.element == element {
        if isTold { application.connection?.fields.focusStateChanged(shown.number) }
      } else if application.reading == nil {
        read(element, of: application)
      }
    }
  }

  /// Reads an element that should have focus, and shows it if that is still so.
  private func read(_ element: ElementReference, of application: Application) {
    guard let bus else { return }
    let context = context(of: application, element, before: nil)
    application.reading = (element, context.marks, [])
    listen()
    let place = Box(ElementPlace(application: application.title, process: application.process))
    place.content.isShown = !ownPrograms.hasWindows
    let window = Box<ElementReference?>(application.fields[element]?.window)
    let outcome = Box<ElementReader.Outcome>(.failure(.elementGone))
    let answers = Answers { [weak self] in
      let changed = application.reading?.changed ?? []
      application.reading = nil
      guard let self, applications[application.name] === application else { return }
      checkFocus(of: element, application, outcome.content) { [weak self] in
        self?.finish(element, of: application, outcome.content, window.content, place.content)
      }
      guard !changed.isEmpty, let field = application.fields[element] else { return }
      field.pending.formUnion(changed)
      readLater()
    }
    let findTitle = answers.expect { (title: String?) in place.content.title = title }
    if let window = window.content, let shown, shown.window == window {
      // Its changes are told.
      findTitle(shown.place.title)
    } else if let window = window.content {
      title(of: window, findTitle)
    } else {
      application.windows.find(from: element, below: application.root, on: bus) { [weak self] found in
        window.content = found
        if let self, let found { title(of: found, findTitle) } else { findTitle(nil) }
      }
    }
    let take = answers.expect { (result: ElementReader.Outcome) in outcome.content = result }
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
      before: before)
  }

  /// The title of a window; of one without, such as a menu, that of the window in front.
  func title(of window: ElementReference, _ handler: @escaping (String?) -> Void) {
    guard let bus else { return handler(nil) }
    bus.get(window, AccessibilityNames.accessible, "Name") { [weak self] result in
      if case .success(.string(let title)?) = result, !title.isEmpty {
        self?.applications[window.application]?.titles[window] = title
        return handler(title)
      }
      guard let self, let front = tracker.window, front != window, front.application == window.application else {
        return handler(nil)
      }
      title(of: front, handler)
    }
  }

  /// Goes on if the element has focus as its program told.
  private func checkFocus(
    of element: ElementReference, _ application: Application, _ outcome: ElementReader.Outcome,
    _ goOn: @escaping () -> Void
  ) {
    guard let bus, case .success(let snapshot) = outcome else { return goOn() }
    let goElsewhere = { [weak self] (event: FocusTracker.Event) in
      guard let self, tracker.desired == element else { return goOn() }
      let steps = tracker.take(event)
      if steps.isEmpty { goOn() } else { carryOut(steps) }
    }
    if snapshot.role.isPane {
      let isOver = { [weak self] in self?.tracker.desired != element }
      FocusSearch.find(in: element, on: bus, prefersEditable: true, isOver: isOver) { outcome in
        if case .found(let inner) = outcome { goElsewhere(.gained(inner)) } else { goOn() }
      }
    } else if application.toolkit.hasFocusProxies, snapshot.role.isItem {
      bus.get(element, AccessibilityNames.accessible, "Parent") { parent in
        guard case .success(let parent) = parent, let view = ElementReference(parent) else { return goOn() }
        bus.ask(view, "GetState") { answer in
          guard case .success(let values) = answer, ElementStates(values.first)?.contains(.focused) == false
          else { return goOn() }
          goElsewhere(.doubted(element))
        }
      }
    } else {
      goOn()
    }
  }

  private func finish(
    _ element: ElementReference, of application: Application, _ outcome: ElementReader.Outcome,
    _ window: ElementReference?, _ place: ElementPlace
  ) {
    guard tracker.desired == element, !isOwn(application) else { return settle() }
    switch outcome {
    case .failure(let error):
      log.debug("an element cannot be read: \(error.name)")
      if let field = application.fields[element] { remove(field) }
      show(nil)
      if [.timeout, .noReply].contains(error.name) { retryLater(element) }
    case .success(let snapshot):
      if !snapshot.isSuspect { failures = nil }
      note(snapshot, of: element, application)
      if let field = application.fields[element] {
        publish(snapshot, at: place, in: field)
        show(field)
      } else {
        lastNumber += 1
        let field = ElementField(element, number: lastNumber, window: window, snapshot, at: place)
        application.fields[element] = field
        show(field)
      }
    }
  }

  /// Tries an element again whose program did not answer in time, as one that starts or is busy, if nothing else happens.
  func retryLater(_ element: ElementReference) {
    let count = failures?.element == element ? (failures?.count ?? 0) + 1 : 0
    failures = (element, count)
    if let retryTimer { loop.cancel(retryTimer) }
    retryTimer = nil
    guard count < Self.retries.count else { return }
    retryTimer = loop.schedule(after: Self.retries[count]) { [weak self] in
      guard let self else { return }
      retryTimer = nil
      guard tracker.desired == element else { return }
      if shown == nil { settle() } else if let shown, shown.snapshot.isSuspect { refresh(shown) }
    }
  }

  static var retries: [Duration] {
    [.milliseconds(300), .seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16)]
  }

  /// Makes the daemon follow: `field` has focus now, or none.
  private func show(_ field: ElementField?) {
    let before = shown
    guard before !== field else { return }
    shown = field
    stopPolling()
    listen()
    guard let field, let application = applications[field.element.application] else {
      if let before { publisher(of: before)?.focusStateChanged(before.number) }
      return
    }
    let connection = application.connection ?? connection()
    application.connection = connection
    if connection.fields.contains(field.number) {
      connection.fields.focusStateChanged(field.number)
    } else {
      connection.fields.add(field.description(fieldActions))
    }
    keep(field)
    tellFocusWaiters(field.element)
    if application.toolkit.mustBePolled, field.shape.range != nil { pollLater(field) }
  }

  func publisher(of field: ElementField) -> FieldPublisher? {
    applications[field.element.application]?.connection?.fields
  }

  private func tellFocusWaiters(_ element: ElementReference) {
    let due = focusWaiters.filter { $0.element == element }
    focusWaiters.removeAll { $0.element == element }
    for waiter in due {
      loop.cancel(waiter.timer)
      waiter.done(.success(()))
    }
  }

  private func cancelTimers() {
    for timer in timers { loop.cancel(timer) }
    timers = []
  }

  func stopTimers() {
    cancelTimers()
    stopPolling()
    for timer in [refreshTimer, retryTimer, hideTimer].compactMap(\.self) { loop.cancel(timer) }
    (refreshTimer, retryTimer, hideTimer) = (nil, nil, nil)
  }
}

extension FocusTracker.Step {
  /// Whether what waited for older steps is over.
  fileprivate var beginsAnew: Bool {
    if case .forget = self { false } else { true }
  }
}

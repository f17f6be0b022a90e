internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import EventLoop
internal import FocusContract

/// The fields of elements: what they show, and what others do with them.
extension Bridge {
  /// How long changes of an element are collected before it is read.
  private static let coalescing = Duration.milliseconds(25)
  private static let pollInterval = Duration.milliseconds(500)
  /// How long a program may take to move focus to an element; the daemon waits two seconds longer.
  private static let focusTimeout = Duration.seconds(3)

  // MARK: Reading

  /// The fields whose elements are heard: the one that a program claims has focus, and the one that the daemon says has it.
  var followed: [ElementField] {
    guard let focused, focused !== shown else { return shown.map { [$0] } ?? [] }
    return [shown, focused].compactMap(\.self)
  }

  /// Hears what is followed, and what is about to be read, so that no change is missed after it was.
  func listen() {
    var elements = Set(followed.map(\.element))
    for application in applications.values {
      elements.formUnion([application.reading?.element, application.checking?.element].compactMap(\.self))
    }
    listener?.follow(elements)
    for field in followed {
      let hasText = field.snapshot.interfaces.contains(.text)
      listener?.register(field.element.application, text: field.shape.text, hasText: hasText)
    }
  }

  /// An element, or the title of a window, changed.
  func changed(_ element: ElementReference, _ aspects: ElementAspects, isName: Bool) {
    guard let application = applications[element.application] else { return }
    if isName, application.titles[element] != nil { readTitleLater(element) }
    // A program answers after the events it sent before: its first answer already shows them.
    let answers = bus?.answers(of: application.name) ?? 0
    guard let field = application.fields[element] else {
      if let reading = application.reading, reading.element == element, !reading.marks.contains(aspects, answers) {
        application.reading?.changed.formUnion(aspects)
      }
      if application.checking?.element == element { application.checking?.changed.formUnion(aspects) }
      return
    }
    let isNext = [application.reading?.element, application.checking?.element].contains(element)
    guard isNext || followed.contains(where: { $0 === field }) else { return }
    // Qt does not tell that a text can be edited again; whoever edits it does.
    let isLocked = field.snapshot.interfaces.contains(.editableText) && !field.shape.text.isEditable
    let aspects = isLocked ? aspects.union(.all) : aspects
    retryAnew(field)
    if let reading = field.reading, reading.aspects.isSuperset(of: aspects), reading.marks.contains(aspects, answers) {
      return
    }
    field.pending.formUnion(aspects)
    readLater()
  }

  private var isShownSettled: Bool {
    shown.map { publisher(of: $0)?.isSettled($0.number) ?? true } ?? true
  }

  func readLater() {
    guard refreshTimer == nil else { return }
    refreshTimer = loop.schedule(after: Self.coalescing) { [weak self] in
      guard let self else { return }
      let titles = changedTitles
      (refreshTimer, changedTitles) = (nil, [])
      for window in titles { readTitle(window) }
      for field in followed where !field.pending.isEmpty && field.reading == nil {
        // The one that had focus is of interest only if the daemon keeps it there, the one that loses it no more.
        let isCurrent = field === shown ? tracker.desired == field.element : isShownSettled
        if isCurrent { refresh(field, field.pending) } else { readLater() }
      }
    }
  }

  /// Reads an element anew, and publishes what it tells; one reading is under way at a time, and `waiter` gets the next.
  func refresh(_ field: ElementField, _ aspects: ElementAspects = .all, _ waiter: ElementField.Waiter? = nil) {
    if let waiter { field.waiters.append(waiter) }
    field.pending.formUnion(aspects)
    guard field.reading == nil else { return }
    let waiters = field.waiters
    field.waiters = []
    guard let bus, let application = applications[field.element.application] else {
      for waiter in waiters { waiter(.failure(.elementGone)) }
      return
    }
    var context = context(of: application, field.element, before: field.snapshot)
    context.aspects = field.pending
    field.reading = (field.pending, context.marks)
    field.pending = []
    ElementReader.read(field.element, on: bus, context) { [weak self, weak application] outcome in
      field.reading = nil
      if let self, case .success(let snapshot) = outcome, let application,
        application.fields[field.element] === field
      {
        note(snapshot, of: field.element, application)
        publish(snapshot, at: field.place, in: field)
        retryUnlessWhole(field)
      }
      for waiter in waiters { waiter(outcome) }
      guard let self else { return }
      if case .failure(let error) = outcome, error.isLate {
        refreshAgain(field)
      } else {
        field.failures = 0
      }
      if case .failure(let error) = outcome, error.isOfMissingObject {
        // Qt does not tell that an element which has focus is gone, and nobody that one which had it is.
        guard tracker.desired != field.element, shown !== field else { return take(.lost(field.element)) }
        tellFocusWaiters(field.element, .failure(.elementGone))
        remove(field)
        return
      }
      if !field.waiters.isEmpty { refresh(field) } else if !field.pending.isEmpty { readLater() }
    }
  }

  /// Notes what is secret for good.
  func note(_ snapshot: ElementSnapshot, of element: ElementReference, _ application: Application) {
    if snapshot.isSecret, !snapshot.isSuspect { application.noteSecret(element, at: snapshot.position) }
  }

  /// Publishes what an element tells now.
  func publish(_ snapshot: ElementSnapshot, at place: ElementPlace, in field: ElementField) {
    let (wasSecret, before) = (field.snapshot.isSecret, field.values)
    let hasOtherKeys = field.update(snapshot, at: place)
    guard let publisher = publisher(of: field) else { return }
    publisher.changed(field.number, from: before, to: field.values, isSecret: snapshot.isSecret)
    if hasOtherKeys { publisher.describe(field.description(fieldActions)) }
    if snapshot.isSecret != wasSecret { listen() }
    // What a program does not tell at first may be a range.
    if field === shown { pollIfNeeded(field) }
  }

  /// Asks for what the program never tells of the field that is shown, unless that is done already.
  func pollIfNeeded(_ field: ElementField) {
    guard poll == nil, applications[field.element.application]?.toolkit.mustBePolled(field) == true else { return }
    pollLater(field)
  }

  /// Asks again and again for what is not told: the value of a range, or whether a menu is open.
  private func pollLater(_ field: ElementField) {
    guard poll == nil else { return }
    poll = loop.schedule(after: Self.pollInterval) { [weak self] in
      self?.poll = nil
      guard let self, shown === field, let bus else { return }
      if field.shape.range != nil { pollRange(field, bus) } else { pollMenu(field, bus) }
    }
  }

  private func pollRange(_ field: ElementField, _ bus: ProgramBus) {
    bus.get(field.element, AccessibilityNames.value, "CurrentValue") { [weak self] result in
      guard let self, shown === field else { return }
      if case .success(.double(let value)?) = result, value != field.snapshot.range?.value {
        refresh(field, .value)
      }
      pollLater(field)
    }
  }

  private func pollMenu(_ field: ElementField, _ bus: ProgramBus) {
    bus.states(of: field.element) { [weak self] answer in
      guard let self, shown === field else { return }
      if case .success(let states) = answer, field.snapshot.isClosedMenu(in: states) { take(.doubted(field.element)) }
      if shown === field { pollLater(field) }
    }
  }

  func stopPolling() {
    if let poll { loop.cancel(poll) }
    poll = nil
  }

  // MARK: Keeping

  /// Notes that the field took focus, and lets go of the one of its program that did longest ago.
  func keep(_ field: ElementField) {
    kept.removeAll { $0 === field }
    kept.append(field)
    let siblings = kept.filter { $0.element.application == field.element.application }
    guard siblings.count > Self.keptElements else { return }
    if let oldest = siblings.first(where: { each in !followed.contains { $0 === each } }) { remove(oldest) }
  }

  /// Takes a field away.
  /// - Returns: whether whoever has written into it is still to be answered.
  @discardableResult
  func remove(_ field: ElementField) -> Bool {
    let isAwaited = field.onRemoval?(false) ?? false
    kept.removeAll { $0 === field }
    letGo { $0 === field }
    guard let application = applications[field.element.application] else { return false }
    application.fields[field.element] = nil
    application.connections[field.frame]?.fields.remove(group: field.number)
    if application.fields.isEmpty { close(application, after: Self.answerTime) }
    return isAwaited
  }

  /// Takes all fields of a program away.
  func remove(_ application: Application, programHasLeft: Bool) {
    for field in application.fields.values { _ = field.onRemoval?(programHasLeft) }
    kept.removeAll { $0.element.application == application.name }
    letGo { $0.element.application == application.name }
    close(application)
  }

  private func close(_ application: Application, after delay: Duration = .zero) {
    application.close(after: delay)
    listener?.forget(application.name)
  }

  private func letGo(_ isGone: (ElementField) -> Bool) {
    if let shown, isGone(shown) {
      self.shown = nil
      stopPolling()
    }
    listen()
  }

  // MARK: What others do

  var fieldActions: FieldActions {
    FieldActions(
      read: { [weak self] field, key, done in
        guard let writer = self?.writer(field, key, done) else { return done(.failure(.elementGone)) }
        writer.withNow { _ in done(.success(())) }
      },
      write: { [weak self] field, key, value, expected, done in
        guard let writer = self?.writer(field, key, done) else { return done(.failure(.elementGone)) }
        writer.write(value, expecting: expected)
      },
      run: { [weak self] field, key, arguments, done in
        if let writer = self?.writer(field, key, done) { writer.run(arguments) } else { done(.failure(.elementGone)) }
      },
      isFocused: { [weak self] field in self?.shown === field },
      requestFocus: { [weak self] field, done in
        if let self { requestFocus(field, done) } else { done(.failure(.elementGone)) }
      })
  }

  private func writer(
    _ field: ElementField, _ key: Key, _ done: @escaping FieldProperty.Completion
  ) -> ElementWriter? {
    guard let bus, let application = applications[field.element.application] else { return nil }
    return ElementWriter(
      bus, field, key, application.toolkit,
      reading: { [weak self] waiter in
        if let self { refresh(field, .all, waiter) } else { waiter(.failure(.elementGone)) }
      }, done)
  }

  /// Asks the program to move focus to the element, and waits until that is shown, or at least told.
  private func requestFocus(_ field: ElementField, _ done: @escaping FieldProperty.Completion) {
    guard let bus, shown !== field else { return done(.success(())) }
    let refusal = DBusError(.accessDenied, "the program did not move focus to the element")
    let element = field.element
    let timer = loop.schedule(after: Self.focusTimeout) { [weak self] in
      guard let self else { return }
      // Its timer is the first: all are told at once when it is shown.
      guard let index = focusWaiters.firstIndex(where: { $0.element == element }) else { return }
      let waiter = focusWaiters.remove(at: index)
      // What has focus may still be read.
      waiter.done(tracker.desired == element ? .success(()) : .failure(refusal))
    }
    focusWaiters.append((element, timer, done))
    bus.call(element, AccessibilityNames.component, "GrabFocus", []) { [weak self] answer in
      // An element that is gone has nothing else to read either.
      if case .failure(let error) = answer, error.isOfMissingObject { self?.refresh(field) }
    }
  }
}

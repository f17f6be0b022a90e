internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusClient
internal import FocusContract

/// The fields of elements: what they show, and what others do with them.
extension Bridge {
  /// How long changes of an element are collected before it is read.
  private static let coalescing = Duration.milliseconds(25)
  private static let pollInterval = Duration.milliseconds(500)
  /// How long a program may take to move focus to an element.
  private static let focusTimeout = Duration.seconds(1)

  // MARK: Reading

  /// The element, or the title of its window, changed.
  func changed(_ element: ElementReference) {
    guard let shown, shown.element == element || shown.window == element else { return }
    if element != shown.element { hasOtherTitle = true }
    guard refreshTimer == nil else { return }
    refreshTimer = loop.schedule(after: Self.coalescing) { [weak self] in
      guard let self else { return }
      let hasOtherTitle = hasOtherTitle
      (refreshTimer, self.hasOtherTitle) = (nil, false)
      guard let shown = self.shown else { return }
      if let window = shown.window, hasOtherTitle { readTitle(window, of: shown) }
      refresh(shown)
    }
  }

  private func readTitle(_ window: ElementReference, of field: ElementField) {
    bus?.get(window, AccessibilityNames.accessible, "Name") { [weak self] result in
      guard let self, case .success(.string(let title)?) = result else { return }
      var place = field.place
      place.title = title
      publish(field.snapshot, at: place, in: field)
    }
  }

  /// Reads an element anew, and publishes what it tells; one reading is under way at a time, and `waiter` gets the next.
  func refresh(_ field: ElementField, _ waiter: ElementField.Waiter? = nil) {
    field.waiters.append(waiter ?? { _ in })
    guard !field.isBeingRead else { return }
    guard let bus, let application = applications[field.element.application] else {
      let waiters = field.waiters
      field.waiters = []
      for waiter in waiters { waiter(.failure(.elementGone)) }
      return
    }
    field.isBeingRead = true
    let waiters = field.waiters
    field.waiters = []
    let context = context(of: application, field.element, before: field.snapshot)
    ElementReader.read(field.element, on: bus, context) { [weak self, weak application] outcome in
      field.isBeingRead = false
      if let self, case .success(let snapshot) = outcome, let application,
        application.fields[field.element] === field
      {
        if snapshot.isSecret { application.noteSecret(field.element) }
        publish(snapshot, at: field.place, in: field)
      }
      for waiter in waiters { waiter(outcome) }
      if !field.waiters.isEmpty { self?.refresh(field) }
    }
  }

  /// Publishes what an element tells now.
  func publish(_ snapshot: ElementSnapshot, at place: ElementPlace, in field: ElementField) {
    let wasSecret = field.snapshot.isSecret
    let (changes, hasOtherKeys) = field.update(snapshot, at: place)
    guard let publisher = publisher(of: field) else { return }
    // Whoever sees that it is secret now does not see an older text beside that: the daemon has let go of it before.
    let gone = snapshot.isSecret ? changes.filter { $0.value == nil } : []
    for part in [gone, changes.filter { gone.isEmpty || $0.value != nil }] where !part.isEmpty {
      publisher.changed(field.number, part)
    }
    if hasOtherKeys { publisher.describe(field.description(fieldActions)) }
    if snapshot.isSecret != wasSecret, shown === field { listener?.follow(field) }
  }

  /// GTK 4 does not tell what the keyboard does to a range.
  func pollLater(_ field: ElementField) {
    poll = loop.schedule(after: Self.pollInterval) { [weak self] in
      guard let self, shown === field, let bus else { return }
      bus.get(field.element, AccessibilityNames.value, "CurrentValue") { [weak self] result in
        guard let self, shown === field else { return }
        if case .success(.double(let value)?) = result, value != field.snapshot.range?.value { refresh(field) }
        pollLater(field)
      }
    }
  }

  func stopPolling() {
    if let poll { loop.cancel(poll) }
    poll = nil
  }

  // MARK: Keeping

  /// Notes that the field took focus, and lets go of the one that did longest ago.
  func keep(_ field: ElementField) {
    kept.removeAll { $0 === field }
    kept.append(field)
    if kept.count > Self.keptElements { remove(kept[0]) }
  }

  func remove(_ field: ElementField) {
    kept.removeAll { $0 === field }
    if shown === field {
      shown = nil
      listener?.follow(nil)
      stopPolling()
    }
    guard let application = applications[field.element.application] else { return }
    application.fields[field.element] = nil
    application.connection?.fields.remove(group: field.number)
    if application.fields.isEmpty { application.close(on: loop) }
  }

  /// Takes all fields of a program away.
  func remove(_ application: Application) {
    kept.removeAll { $0.element.application == application.name }
    if shown?.element.application == application.name {
      shown = nil
      listener?.follow(nil)
      stopPolling()
    }
    application.close(on: loop)
  }

  // MARK: What others do

  var fieldActions: FieldActions {
    FieldActions(
      write: { [weak self] field, key, value, done in
        if let writer = self?.writer(field, key, done) { writer.write(value) } else { done(.failure(.elementGone)) }
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
    guard let bus else { return nil }
    return ElementWriter(
      bus, field, key,
      reading: { [weak self] waiter in
        if let self { refresh(field, waiter) } else { waiter(.failure(.elementGone)) }
      }, done)
  }

  /// Asks the program to move focus to the element, and waits until it tells that it did.
  private func requestFocus(_ field: ElementField, _ done: @escaping FieldProperty.Completion) {
    guard let bus, shown !== field else { return done(.success(())) }
    let refusal = DBusError(.accessDenied, "the program did not move focus to the element")
    let element = field.element
    let timer = loop.schedule(after: Self.focusTimeout) { [weak self] in
      guard let self else { return }
      let late = focusWaiters.filter { $0.element == element }
      focusWaiters.removeAll { $0.element == element }
      for waiter in late { waiter.done(.failure(refusal)) }
    }
    focusWaiters.append((element, timer, done))
    bus.call(element, AccessibilityNames.component, "GrabFocus", []) { _ in }
  }
}

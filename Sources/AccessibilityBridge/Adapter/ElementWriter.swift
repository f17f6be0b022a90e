internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import EventLoop
internal import FocusContract

/// Carries out one write or command of an element, and reads back what came of it: some programs agree and do nothing.
final class ElementWriter {
  typealias Completion = FieldProperty.Completion

  /// A change may take effect only after its reply.
  static let patience: [Duration] = [.zero, .milliseconds(30), .milliseconds(100), .milliseconds(200)]

  /// After which times an element is read again whose program does not answer in time.
  ///
  /// Longer each time, as it is left alone meanwhile; with the answers, less than the five seconds that the daemon waits.
  private static let pauses: [Duration] = [.milliseconds(500), .seconds(1), .milliseconds(1500)]
  static let nothingChanged = "the program agreed and changed nothing"

  let bus: ProgramBus
  let field: ElementField
  let key: Key
  let toolkit: Toolkit
  let units: TextUnits
  /// Reads the element anew, and publishes what it tells.
  let read: (@escaping ElementField.Waiter) -> Void
  private var completion: Completion?
  /// What the element must have when it is read first; nil: anything.
  private var expected: DBusValue?
  /// Whether the program has been asked for a change, and may still make it if it does not answer.
  private var hasAsked = false
  /// Whether it was asked for one that is not optional, how many of these it has not answered, and whether it has agreed to the
  /// others.
  private var hasBegun = false
  private var unanswered = 0
  private var hasAgreed = true
  private var isRemoved = false
  /// How far the program has come with an action of the element.
  private var action = ActionState.none

  private enum ActionState { case none, asked, agreed }

  init(
    _ bus: ProgramBus, _ field: ElementField, _ key: Key, _ toolkit: Toolkit,
    reading read: @escaping (@escaping ElementField.Waiter) -> Void, _ done: @escaping Completion
  ) {
    (self.bus, self.field, self.key, self.toolkit, self.read, completion) = (bus, field, key, toolkit, read, done)
    units = toolkit.units(of: field.snapshot.role)
    field.onRemoval = { [weak self] in self?.removed(programHasLeft: $0) ?? false }
  }

  /// Writes `value` into the property `key`; fails with `Conflict` if that is not `expected` any more.
  func write(_ value: DBusValue, expecting expected: DBusValue?) {
    self.expected = expected
    switch (key, value) {
    case (ElementKey.content, .string(let text)): setContent(text)
    case (ElementKey.selectedText, .string(let text)): replaceSelection(text)
    case (ElementKey.caret, .int32(let caret)): select(caret..<caret)
    case (ElementKey.selection, .structure(let ends)):
      guard ends.count == 2, case .int32(let start) = ends[0], case .int32(let end) = ends[1] else {
        return done(.failure(DBusError(.invalidArgs, "\(key) must be two numbers")))
      }
      select(min(start, end)..<max(start, end))
    case (ElementKey.value, .double(let number)): set(number)
    case (ElementKey.checked, .boolean(let isOn)): toggle(isOn)
    default: done(.failure(DBusError(.propertyReadOnly, "\(key) is read-only")))
    }
  }

  /// Runs the command `key`.
  func run(_ arguments: [DBusValue]) {
    switch (key, arguments.first) {
    case (ElementKey.insert, .string(let text)?): replaceSelection(text)
    case (ElementKey.increment, _): step(1)
    case (ElementKey.decrement, _): step(-1)
    default:
      withAction { [self] index in
        action = .asked
        runAction(index) { [self] in
          action = .agreed
          // Whoever gets the reply finds what the action changed.
          read { [self] _ in done(.success(())) }
        }
      }
    }
  }

  /// Goes on with the action that the command names: elements name some by their state, and GTK 4 lists those of a text that can
  /// be run at the moment.
  private func withAction(_ next: @escaping (Int32) -> Void) {
    guard let index = ActionName.index(of: key, among: field.snapshot.actions) else { return lookForAction(next) }
    // As patiently as it is run.
    bus.action(index, of: field.element, timeout: ProgramBus.changeTimeout) { [self] answer in
      if case .failure(let error) = answer, error.isLate { return fail(error.name, error.message) }
      guard completion != nil else { return }
      let isThere = (try? answer.get()).map { ActionName.index(of: key, among: [$0]) != nil } ?? false
      if isThere { next(index) } else { lookForAction(next) }
    }
  }

  private func lookForAction(_ next: @escaping (Int32) -> Void) {
    bus.actions(of: field.element, timeout: ProgramBus.changeTimeout) { [self] answer in
      guard completion != nil else { return }
      switch answer {
      case .failure(let error): fail(error.name, error.message)
      case .success(let names):
        if let index = ActionName.index(of: key, among: names) { return next(index) }
        read { [self] _ in
          done(.failure(DBusError(Focus1.disabled, "\(key) cannot be run: the element does not offer it now")))
        }
      }
    }
  }

  /// Reads the element before a change, because what was read last may be out of date.
  func withNow(_ next: @escaping (ElementSnapshot) -> Void) {
    readLater(0) { [self] now in
      if let expected, ElementValues.values(of: now, at: field.place)[key] != expected {
        return fail(Focus1.conflict, "the program has changed it")
      }
      expected = nil
      next(now)
    }
  }

  // MARK: What comes of it

  /// Makes a change, and goes on with `next` unless the program refuses it.
  func change(
    _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue], hasResult: Bool = true,
    _ next: @escaping () -> Void
  ) {
    request(interface, member, arguments) { [self] answer in
      switch answer {
      case .failure(let error):
        fail(error.name, error.message)
      case .success(let values) where hasResult && values.first == .boolean(false):
        fail(.failed, "the program refused it")
      case .success: next()
      }
    }
  }

  /// Runs the action of a number, and goes on with `next` unless the program refuses it.
  func runAction(_ index: Int32, _ next: @escaping () -> Void) {
    change(AccessibilityNames.action, "DoAction", [.int32(index)], next)
  }

  /// Asks for a change; what it answers may not decide.
  func request(
    _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue],
    timeout: Duration = ProgramBus.changeTimeout, isOptional: Bool = false,
    _ handler: @escaping (ProgramBus.Answer) -> Void
  ) {
    // The caller may have been told that nothing was changed; a change that has begun is completed.
    guard completion != nil || hasBegun else { return }
    hasAsked = true
    guard !isOptional else {
      return bus.call(field.element, interface, member, arguments, timeout: timeout, isOptional: true, handler)
    }
    hasBegun = true
    unanswered += 1
    let take = { [self] (answer: ProgramBus.Answer) -> Void in
      unanswered -= 1
      let isRefused = if case .success(let values) = answer { values.first == .boolean(false) } else { true }
      if isRefused { hasAgreed = false }
      guard isRemoved else { return handler(answer) }
      if unanswered == 0 { endRemoved() }
    }
    if interface == AccessibilityNames.action, case .int32(let index)? = arguments.first, toolkit.offersConnections {
      bus.run(index, of: field.element, timeout: timeout, take)
    } else {
      bus.call(field.element, interface, member, arguments, timeout: timeout, take)
    }
  }

  /// Reads the element until it is as asked for.
  ///
  /// If it never is, `refusal` is what the program has said against it.
  func verify(refusal: @escaping () -> DBusError? = { nil }, _ isRight: @escaping (ElementSnapshot) -> Bool) {
    attempt(0, isRight) { [self] _ in refusal().map { notChanged($0) } }
  }

  /// Reads the element until that is over, and goes on with `next`, or at last enough.
  func attempt(
    _ number: Int, _ isOver: @escaping (ElementSnapshot) -> Bool,
    isEnough: @escaping (ElementSnapshot) -> Bool = { _ in false }, refusal: @escaping (ElementSnapshot) -> DBusError?,
    next: ((ElementSnapshot) -> Void)? = nil
  ) {
    readLater(number) { [self] now in
      let isLast = !Self.patience.indices.contains(number + 1)
      if let next, isOver(now) { return next(now) }
      if isOver(now) || (isLast && isEnough(now)) { return done(.success(())) }
      guard isLast else { return attempt(number + 1, isOver, isEnough: isEnough, refusal: refusal, next: next) }
      done(.failure(refusal(now) ?? notChanged(DBusError(.failed, Self.nothingChanged))))
    }
  }

  /// Reads the element for the attempt of a number, or fails with why it cannot be read.
  func readLater(_ attempt: Int, _ next: @escaping (ElementSnapshot) -> Void) {
    later(attempt) { [self] in readPatiently(Self.pauses[...], next) }
  }

  /// A program that lays out a long text is busy for longer than an answer may take.
  private func readPatiently(_ pauses: ArraySlice<Duration>, _ next: @escaping (ElementSnapshot) -> Void) {
    read { [self] outcome in
      switch outcome {
      case .success(let now): next(now)
      // Writer shows a paragraph that reaches another page in other elements.
      case .failure(let error) where error.isOfMissingObject && hasBegun && hasAgreed && unanswered == 0:
        done(.success(()))
      case .failure(let error):
        guard error.name == .timeout, let pause = pauses.first else {
          return fail(error.name, (error.isOfMissingObject ? .elementGone : error).message)
        }
        bus.loop.schedule(after: pause) { [self] in readPatiently(pauses.dropFirst(), next) }
      }
    }
  }

  /// Waits before the attempt of a number.
  func later(_ attempt: Int, _ next: @escaping () -> Void) {
    if attempt == 0 { next() } else { bus.loop.schedule(after: Self.patience[attempt], next) }
  }

  /// Ends the write or command, unless it has ended.
  func done(_ outcome: Result<Void, DBusError>) {
    completion?(outcome)
    completion = nil
  }

  /// The element goes: an action that takes it away is no failure, nor one that ends the program that has agreed to it.
  /// - Returns: whether the program is still to answer.
  private func removed(programHasLeft: Bool) -> Bool {
    // It may have agreed on a connection of its own, of which that is not read yet.
    if programHasLeft, action == .asked { bus.takeAnswers(of: field.element.application) }
    if programHasLeft ? action == .agreed : action != .none {
      done(.success(()))
    } else if programHasLeft || !hasBegun {
      fail(.unknownObject, (programHasLeft ? .programLeft : DBusError.elementGone).message)
    } else if unanswered > 0 {
      // A dialog that has what it wants may close before it answers.
      isRemoved = true
      return completion != nil
    } else {
      endRemoved()
    }
    return false
  }

  /// The program has answered all that it was asked for when the element went.
  private func endRemoved() {
    if hasAgreed { done(.success(())) } else { fail(.unknownObject, DBusError.elementGone.message) }
  }

  /// Fails with a reason; `outcome` says what became of the key, if not that it was not changed.
  func fail(_ name: ErrorName, _ reason: String, outcome: String? = nil) {
    let error = DBusError(name, reason)
    done(.failure(outcome.map { DBusError(name, "\(key) \($0): \(reason)") } ?? notChanged(error)))
  }

  private func notChanged(_ error: DBusError) -> DBusError {
    let outcome = hasAsked && error.isLate ? "may be changed later" : "was not changed"
    return DBusError(error.name, "\(key) \(outcome): \(error.message)")
  }
}

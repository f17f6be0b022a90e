internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import EventLoop
internal import ProgramSupport

/// What programs say of focus counts for the one whose window is in front: Qt says it of the window that it leaves, and a
/// program behind others may say anything.
extension Bridge {
  /// Takes an event with which a program claims to be in front, once its window says so, too.
  func claim(_ event: FocusTracker.Event, _ element: ElementReference) {
    let application = application(element.application)
    application.frontsAtClaim = tracker.fronts
    // What was looked for in vain may be there now.
    if looks != nil { lookAgainLater(isNew: true) }
    switch application.claimCheck {
    case .none: break
    case .asking: return application.claims.add(event)
    case .waiting(let timer):
      // What was not known of an earlier claim may be known of this one.
      loop.cancel(timer)
      application.claims.add(event)
      return check(application, attempt: 0)
    }
    if let window = tracker.window, window.application == element.application {
      // A window of its own that comes to the front may be another.
      if case .gained = event { return take(event) }
      if window == element { return take(event) }
    }
    application.claims.add(event)
    check(application, attempt: 0)
  }

  /// Takes an event with which a program says that something is not in front any more.
  func resign(_ event: FocusTracker.Event, _ element: ElementReference) {
    applications[element.application]?.claims.withdraw(element)
    take(event)
  }

  /// An object is active, which counts for windows: GTK 4 may tell it in no other way, and of dialogs never does.
  func becameActive(_ element: ElementReference, attempt: Int = 0) {
    let application = application(element.application)
    guard tracker.window != element,
      !application.tellsWindows || (application.toolkit.isGTK4 && mayComeToFront(element))
    else { return }
    bus?.role(of: element) { [weak self, weak application] answer in
      guard let self, let application, isCurrent(application) else { return }
      switch answer {
      case .success(let number):
        // Such a window's states do not say it either.
        let takeInFront = { [weak self] in
          if let self, mayComeToFront(element) { take(.activated(element)) }
        }
        guard ElementRole(rawValue: number).isWindow else {
          return isTopLevel(element, of: application) { if $0 { takeInFront() } }
        }
        guard application.tellsWindows else { return claim(.activated(element), element) }
        takeInFront()
      case .failure(let error) where error.isLate:
        askAgain(.role(element), of: application, attempt) { [weak self] in
          self?.becameActive(element, attempt: attempt + 1)
        }
      case .failure: break
      }
    }
  }

  /// Whether no window of another program is in front.
  private func mayComeToFront(_ window: ElementReference) -> Bool {
    tracker.window.map { $0.application == window.application } ?? true
  }

  /// Hands over whether an element is a window of GTK 4 without the role of one: GTK 4.8 calls it a filler if something in it has
  /// taken focus before it was shown.
  private func isTopLevel(
    _ element: ElementReference, of application: Application, _ handler: @escaping (Bool) -> Void
  ) {
    guard application.toolkit.isGTK4 else { return }
    bus?.parent(of: element) { [weak application] answer in
      handler(application.map { (try? answer.get()) == $0.root } ?? false)
    }
  }

  /// Whether the program is still on the bus, on the same connection.
  func isCurrent(_ application: Application) -> Bool { applications[application.name] === application }

  private func check(_ application: Application, attempt: Int) {
    guard let bus else { return }
    application.claimCheck = .asking
    application.claims.ask()
    application.ask(bus, ignored: ignored) { [weak self, weak application] in
      guard let self, let application, isCurrent(application) else { return }
      switch application.stage {
      // What must not be looked into still has the window in front, unless another came there while it was asked its name.
      case .ignored: checked(application, application.frontsAtClaim == tracker.fronts)
      // The program whose frame it is tells that itself, if it tells anything.
      case .frames: (application.claims, application.claimCheck) = (FocusClaims(), .none)
      case .known:
        findWindow(of: application) { [weak self, weak application] outcome in
          guard let self, let application, isCurrent(application) else { return }
          switch outcome {
          case .window(let window): checkState(of: window, application, attempt)
          case .notYet where tracker.window != nil: checkAgain(application, attempt)
          case .unknown, .notYet: checked(application, tracker.window == nil)
          }
        }
      case .unknown, .asking: checkAgain(application, attempt)
      }
    }
  }

  /// The window that the program claims to be in front, or in which it claims that something has focus.
  private func findWindow(of application: Application, _ handler: @escaping (WindowSearch.Outcome) -> Void) {
    for claim in application.claims.events.reversed() {
      if case .activated(let window) = claim { return handler(.window(window)) }
    }
    guard case .gained(let element)? = application.claims.events.last, let bus else { return handler(.unknown) }
    if let window = application.fields[element]?.window { return handler(.window(window)) }
    application.windows.find(from: element, below: application.root, on: bus, handler)
  }

  private func checkState(of window: ElementReference, _ application: Application, _ attempt: Int) {
    bus?.states(of: window) { [weak self, weak application] answer in
      guard let self, let application, isCurrent(application) else { return }
      switch answer {
      case .success(let states):
        let isActive = states.contains(.active)
        if isActive, !application.claims.events.isEmpty, tracker.window != window { take(.activated(window)) }
        checked(application, isActive)
      case .failure(let error) where error.isLate: checkAgain(application, attempt)
      case .failure: checked(application, tracker.window == nil)
      }
    }
  }

  private func checkAgain(_ application: Application, _ attempt: Int) {
    if application.claims.hasNewer { return check(application, attempt: 0) }
    guard Self.retries.indices.contains(attempt), !application.claims.events.isEmpty else {
      return checked(application, false)
    }
    log.debug("whether \(application.name) is in front as it claims is not known yet")
    let timer = loop.schedule(after: Self.retries[attempt]) { [weak self, weak application] in
      guard let self, let application, isCurrent(application) else { return }
      check(application, attempt: attempt + 1)
    }
    application.claimCheck = .waiting(timer)
  }

  private func checked(_ application: Application, _ isInFront: Bool) {
    if isInFront { return accept(application) }
    log.debug("\(application.name) is not in front as it claims")
    application.isExpected = true
    // What it has claimed since then may be true.
    application.claims.refuse()
    guard application.claims.events.isEmpty else { return check(application, attempt: 0) }
    application.claimCheck = .none
    lookAgainLater()
  }

  private func accept(_ application: Application) {
    let claims = application.claims.events
    (application.claims, application.claimCheck) = (FocusClaims(), .none)
    for claim in claims where claim != tracker.window.map({ .activated($0) }) { take(claim) }
  }
}

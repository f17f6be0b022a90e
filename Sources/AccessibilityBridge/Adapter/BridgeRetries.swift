internal import BridgeSupport
internal import EventLoop

/// Reading again what a program did not answer in time, which it may tell by no event.
extension Bridge {
  /// After which times something is tried again, one after the other.
  static var retries: [Duration] {
    [.milliseconds(300), .seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16)]
  }

  /// How long to wait after `count` attempts; the longest pause again and again.
  private static func pause(after count: Int) -> Duration { retries[min(count, retries.count - 1)] }

  /// Tries an element again whose program did not answer in time, as one that starts or is busy, if nothing else happens.
  ///
  /// One that was read in part keeps the count of its attempts until it is read as a whole, or changes: some stay so for good,
  /// and are not tried for ever.
  func retryLater(_ element: ElementReference) {
    guard tracker.desired == element, retry?.element != element else { return }
    stopRetrying()
    let application = application(element.application)
    let isRead = application.fields[element] != nil
    let earlier = failures?.element == element ? failures?.count : nil
    let count = (isRead ? application.attempts[element] : earlier) ?? 0
    guard !isRead || Self.retries.indices.contains(count) else { return }
    if isRead { application.noteAttempts(count + 1, at: element) } else { failures = (element, count + 1) }
    let timer = loop.schedule(after: Self.pause(after: count)) { [weak self] in
      guard let self else { return }
      retry = nil
      guard tracker.desired == element else { return }
      guard let shown else { return settle() }
      guard shown.element == element else { return }
      if shown.snapshot.isIncomplete || shown.place.isIncomplete {
        if let application = applications[element.application], application.reading == nil {
          read(element, of: application)
        }
      } else if shown.snapshot.isSuspect {
        refresh(shown)
      }
    }
    retry = (element, timer)
  }

  /// Tries an element again of which something is missing, or that may be secret.
  func retryUnlessWhole(_ field: ElementField) {
    guard field.isWhole else { return retryLater(field.element) }
    applications[field.element.application]?.attempts[field.element] = nil
    if retry?.element == field.element { stopRetrying() }
  }

  /// Tries an element again that has changed: what was missing may be there now.
  func retryAnew(_ field: ElementField) {
    guard !field.isWhole else { return }
    applications[field.element.application]?.attempts[field.element] = nil
    if retry?.element == field.element { stopRetrying() }
    retryLater(field.element)
  }

  func stopRetrying() {
    if let retry { loop.cancel(retry.timer) }
    retry = nil
  }

  /// Asks something again that a program did not answer in time: what it is about is told only once.
  func askAgain(
    _ question: Application.Question, of application: Application, _ attempt: Int, _ ask: @escaping () -> Void
  ) {
    if let timer = application.unanswered.removeValue(forKey: question) { loop.cancel(timer) }
    let hasRoom = application.unanswered.count < Application.mostUnanswered
    guard hasRoom, Self.retries.indices.contains(attempt) else { return }
    application.unanswered[question] = loop.schedule(after: Self.retries[attempt]) { [weak self, weak application] in
      guard let self, let application, isCurrent(application) else { return }
      application.unanswered[question] = nil
      ask()
    }
  }

  /// Reads a field again whose program did not answer in time, until it does: it may tell of no other change.
  func refreshAgain(_ field: ElementField) {
    guard !field.isReadAgain else { return }
    field.isReadAgain = true
    loop.schedule(after: Self.pause(after: field.failures)) { [weak self, weak field] in
      guard let self, let field else { return }
      field.isReadAgain = false
      if followed.contains(where: { $0 === field }) { refresh(field) }
    }
    field.failures += 1
  }
}

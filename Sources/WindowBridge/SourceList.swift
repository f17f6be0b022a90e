package import EventLoop
package import ProgramSupport

/// The first of several sources that can be followed.
///
/// Some, such as a Wayland compositor, say so only some time after they are connected.
package final class SourceList: WindowSource {
  /// How long a compositor may take to answer that is waited for: it has its socket long before that.
  private static let patience = Duration.seconds(25)

  private let log: Log
  private let loop: EventLoop
  private let sessions: [Session]
  private var rest: ArraySlice<Session>
  /// Whether one has not answered in the short time that it has while there may be another.
  private var isUnanswered = false
  /// Whether none could be followed in that time, so that they are tried once more.
  private var isPatient = false
  private var source: (any WindowSource)?
  /// What the first that cannot be followed said.
  private var problem: (any Error)?

  package var accessibilityBus: String? { didSet { source?.accessibilityBus = accessibilityBus } }
  package var onChange: ((Desktop) -> Void)?
  package var onEnd: ((String) -> Void)?
  /// Called with what is followed, or tried, from now on.
  package var onChoice: ((Session) -> Void)?
  /// Whether there was a desktop, but one that does not tell.
  package private(set) var isRefused = false

  /// Follows one of `sessions`.
  package init(_ sessions: [Session], on loop: EventLoop, log: Log) {
    self.sessions = sessions
    rest = sessions[...]
    self.loop = loop
    self.log = log
  }

  /// A reason of a source that ended.
  private struct Ended: Error, CustomStringConvertible {
    let description: String
  }

  package func start() throws { try next() }

  /// Goes on to the next that can be started.
  /// - Throws: what the first said, if there are no more.
  private func next() throws {
    while let session = nextSession() {
      let source = session.source(on: loop, log: log)
      if isPatient { (source as? WaylandSource)?.patience = Self.patience }
      source.accessibilityBus = accessibilityBus
      source.onChange = { [weak self] in self?.changed(to: $0) }
      source.onEnd = { [weak self, weak source] reason in
        if let source { self?.ended(source, session, reason) }
      }
      self.source = source
      do {
        try source.start()
        // If it ends, that is what is given as the reason.
        (problem, isRefused) = (nil, false)
        onChoice?(session)
        return
      } catch {
        log.info("cannot follow \(session.name): \(error)")
        problem = problem ?? error
      }
    }
    source = nil
    if let problem { throw problem }
  }

  /// The next to try: after the last the first again, once, if one has not answered.
  private func nextSession() -> Session? {
    if rest.isEmpty, isUnanswered, !isPatient { (rest, isPatient) = (sessions[...], true) }
    return rest.popFirst()
  }

  private func changed(to desktop: Desktop) {
    // Whoever knows windows is followed; what comes after it is not tried even if it ends.
    (rest, isUnanswered) = ([], false)
    onChange?(desktop)
  }

  private func ended(_ ended: any WindowSource, _ session: Session, _ reason: String) {
    guard ended === source else { return }
    // Most desktops offer several, of which one is enough.
    if !rest.isEmpty { log.debug("cannot follow \(session.name): \(reason)") }
    if let compositor = ended as? WaylandSource {
      isRefused = compositor.isRefused
      isUnanswered = isUnanswered || compositor.isUnanswered
    }
    // Of several reasons the first is given, unless a desktop does not tell.
    problem = isRefused ? Ended(description: reason) : problem ?? Ended(description: reason)
    do { try next() } catch { onEnd?("\(error)") }
  }

  package func stop() { source?.stop() }

  package func raise(_ window: WindowID, _ completion: @escaping (String?) -> Void) {
    guard let source else { return completion("there is no window manager") }
    source.raise(window, completion)
  }

  package func perform(_ action: WindowAction, on window: WindowID, _ completion: @escaping (String?) -> Void) {
    guard let source else { return completion("there is no window manager") }
    source.perform(action, on: window, completion)
  }
}

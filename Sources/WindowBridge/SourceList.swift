package import EventLoop
package import ProgramSupport

/// The first of several sources that can be followed.
///
/// Some, such as a Wayland compositor, say so only some time after they are connected.
package final class SourceList: WindowSource {
  private let log: Log
  private let loop: EventLoop
  private var rest: ArraySlice<Session>
  private var source: (any WindowSource)?
  /// What the first that cannot be followed said.
  private var problem: (any Error)?

  package var onChange: ((Desktop) -> Void)?
  package var onEnd: ((String) -> Void)?
  /// Called with what is followed, or tried, from now on.
  package var onChoice: ((Session) -> Void)?
  /// Whether there was a desktop, but one that does not tell.
  package private(set) var isRefused = false

  /// Follows one of `sessions`.
  package init(_ sessions: [Session], on loop: EventLoop, log: Log) {
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
    while let session = rest.popFirst() {
      let source = session.source(on: loop, log: log)
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

  private func changed(to desktop: Desktop) {
    // Whoever knows windows is followed; what comes after it is not tried even if it ends.
    rest = []
    onChange?(desktop)
  }

  private func ended(_ ended: any WindowSource, _ session: Session, _ reason: String) {
    guard ended === source else { return }
    if !rest.isEmpty { log.info("cannot follow \(session.name): \(reason)") }
    if let compositor = ended as? WaylandSource {
      isRefused = compositor.isRefused
    }
    // Of several reasons the first is given, unless a desktop does not tell.
    problem = isRefused ? Ended(description: reason) : problem ?? Ended(description: reason)
    do { try next() } catch { onEnd?("\(error)") }
  }

  package func raise(_ window: WindowID, _ completion: @escaping (String?) -> Void) {
    guard let source else { return completion("there is no window manager") }
    source.raise(window, completion)
  }

  package func perform(_ action: WindowAction, on window: WindowID, _ completion: @escaping (String?) -> Void) {
    guard let source else { return completion("there is no window manager") }
    source.perform(action, on: window, completion)
  }
}

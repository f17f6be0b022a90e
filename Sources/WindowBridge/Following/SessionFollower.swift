internal import BridgeSupport
package import EventLoop
internal import Glibc
package import ProgramSupport

/// Whatever desktop the user has at the moment: waits for one without polling, and looks for another when one ends.
package final class SessionFollower: WindowSource {
  /// The variables come some time after the sockets, and a socket may be there before anybody listens.
  private static let delays: [Duration] = [50, 100, 200, 400, 800, 1600, 3200].map { .milliseconds($0) }
  /// What ends sooner than that has never worked.
  private static let shortest = Duration.seconds(1)
  /// How often at most an X server that refused is asked again while programs leave the bus.
  private static let loginDelay = Duration.seconds(1)

  private struct Followed {
    let session: Session
    let source: any WindowSource
    let since = SuspendingClock.now
    var hasTold = false
  }

  private let name: String?
  private let variables: SessionVariables
  private let path: String?
  private let directory: RuntimeDirectory?
  private let bus: SessionBus
  private let address: String
  private let loop: EventLoop
  private let log: Log
  private var watch: DirectoryWatch?
  private var followed: Followed?
  /// Those that cannot be followed, with the reasons, until the next attempt.
  private var refused: [Session: String] = [:]
  /// Those that ended at once the last time: that they are tried again is no news until they work.
  private var failed: Set<Session> = []
  private var desktop = Desktop()
  private var attempt = 0
  private var retryTimer: TimerID?
  private var loginTimer: TimerID?
  private var forgetTimer: TimerID?
  private var status = ""

  package var accessibilityBus: String? { didSet { followed?.source.accessibilityBus = accessibilityBus } }
  package var onChange: ((Desktop) -> Void)?
  package var onEnd: ((String) -> Void)?
  /// Called with what it follows or waits for, in a few words.
  package var onStatus: ((String) -> Void)?

  /// Follows only `name` if that is not nil; without a user manager, what `variable` says counts.
  package init(
    _ name: String? = nil, bus address: String, directory: String?, variable: (String) -> String?,
    on loop: EventLoop, log: Log
  ) {
    self.name = name
    self.address = address
    path = directory
    self.directory = directory.map { RuntimeDirectory($0) }
    variables = SessionVariables(variable)
    bus = SessionBus(address, on: loop)
    self.loop = loop
    self.log = log
  }

  package func start() throws {
    watch = try DirectoryWatch(on: loop) { [weak self] names in
      if names.isEmpty || names.contains(where: RuntimeDirectory.isTelling) { self?.lookOften() }
    }
    bus.onChange = { [weak self] in self?.somethingChanged() }
    bus.onDeparture = { [weak self] in self?.lookForLogin() }
    // It has its name before it answers, however long after the shell before it has ended.
    bus.onExtension = { [weak self] in
      guard let self else { return }
      failed = failed.filter { !$0.isGNOME }
      lookOften()
    }
    bus.isWaiting = true
    bus.connect()
    lookOften()
  }

  // MARK: Looking

  /// Looks now, and some times more if that finds nothing.
  private func lookOften() {
    attempt = 0
    if let timer = retryTimer { loop.cancel(timer) }
    retryTimer = nil
    // An answer that differs is a reason to look.
    bus.read()
    somethingChanged()
    lookLater()
  }

  private func lookLater() {
    guard retryTimer == nil, attempt < Self.delays.count, mayImprove else { return }
    retryTimer = loop.schedule(after: Self.delays[attempt]) { [weak self] in
      guard let self else { return }
      retryTimer = nil
      attempt += 1
      bus.read()
      refused = [:]
      look()
      lookLater()
    }
  }

  /// Asks an X server that refused again.
  ///
  /// The next login may import the same variables; then only the program that did so tells of it, by leaving the bus. Other
  /// sources connect to the bus themselves, and their leaving would have them asked again.
  private func lookForLogin() {
    guard loginTimer == nil, refused.keys.contains(where: \.isX11) else { return }
    loginTimer = loop.schedule(after: Self.loginDelay) { [weak self] in
      guard let self else { return }
      loginTimer = nil
      refused = refused.filter { !$0.key.isX11 }
      look()
    }
  }

  /// Whether another may be better than what is followed: an X server may be one of a Wayland desktop, and a compositor may
  /// make a socket of its own, which tells more, after Wayland's.
  private var mayImprove: Bool {
    switch followed?.session {
    case nil, .x11?, .wayland?: true
    default: false
    }
  }

  /// Whether one of `others` tells more of the same desktop than `session`.
  ///
  /// It does if it is the compositor at a socket of its own, while that is followed by Wayland's: one that is started within it is
  /// another process. GNOME's extension, of which the bus tells later than the display, is in the window manager of the session.
  private func isOutdone(_ session: Session, by others: some Sequence<Session>) -> Bool {
    if session.isX11 { return others.contains { refused[$0] == nil && !failed.contains($0) && $0.isGNOME } }
    guard case .wayland(let socket) = session, let compositor = listener(at: socket) else { return false }
    return others.contains { refused[$0] == nil && $0.socket.flatMap(listener) == compositor }
  }

  private func somethingChanged() {
    refused = [:]
    look()
  }

  private func look() {
    guard mayImprove else { return }
    if let directory, let watch { directory.add(to: watch) }
    let now = (bus.variables ?? variables).checked(path, isListening)
    var problem = ""
    do {
      let candidates = try Session.candidates(
        name, in: { $0 == "XDG_RUNTIME_DIR" ? path : now[$0] }, found: directory?.sessions ?? [],
        gnome: bus.hasExtension ? address : nil)
      if let session = followed?.session {
        let isThere = candidates.contains(session)
        guard !isThere || isOutdone(session, by: candidates.prefix { $0 != session }) else { return }
        end(isThere ? "can be followed better" : "is not this desktop's")
      }
      if let authority = now["XAUTHORITY"] { setenv("XAUTHORITY", authority, 1) } else { unsetenv("XAUTHORITY") }
      for session in candidates where refused[session] == nil {
        do { return try follow(session) } catch { refused[session] = "\(error)" }
      }
      // The likeliest one's, of those that are more than a socket that was left behind.
      let refusing = candidates.filter { refused[$0] != nil }
      let likeliest = refusing.first { $0.socket.map(isListening) ?? true } ?? refusing.first
      problem = likeliest.flatMap { refused[$0] } ?? ""
    } catch {
      // What has ended stays told.
      if !error.isAbsence { problem = "\(error)" }
    }
    if !problem.isEmpty || status.isEmpty { tell("Waiting for a desktop" + (problem.isEmpty ? "" : ": \(problem)")) }
  }

  /// Whether somebody listens at a socket.
  private func isListening(_ path: String) -> Bool { listener(at: path) != nil }

  /// The process that listens at a socket; nil if nobody does.
  private func listener(at path: String) -> Int32? {
    guard let stream = try? UnixStream(path: path, on: loop) else { return nil }
    defer { stream.close() }
    return stream.process
  }

  private func tell(_ new: String) {
    guard new != status else { return }
    status = new
    log.info(new)
    onStatus?(new)
  }

  // MARK: Following

  private func follow(_ session: Session) throws {
    let source = session.source(on: loop, log: log)
    source.isLasting = false
    source.accessibilityBus = accessibilityBus
    source.onChange = { [weak self] in
      self?.followed?.hasTold = true
      self?.changed(to: $0)
    }
    source.onEnd = { [weak self, weak source] reason in
      guard let self, let source, followed?.source === source else { return }
      ended(session, reason)
    }
    try source.start()
    followed = Followed(session: session, source: source)
    bus.isWaiting = false
    guard failed.contains(session) else { return works(session) }
    loop.schedule(after: Self.shortest) { [weak self, weak source] in
      guard let self, let source, followed?.source === source else { return }
      works(session)
    }
  }

  private func works(_ session: Session) {
    failed.remove(session)
    tell("Following \(session.name)")
  }

  private func changed(to new: Desktop) {
    if let timer = forgetTimer { loop.cancel(timer) }
    forgetTimer = nil
    if let session = followed?.session { works(session) }
    desktop = new
    onChange?(new)
  }

  private func ended(_ session: Session, _ reason: String) {
    guard let last = followed else { return }
    end(reason)
    let isEarly = SuspendingClock.now - last.since < Self.shortest
    // A shell that hangs says nothing, and its X display tells of windows all the same.
    if isEarly || !last.hasTold {
      refused[session] = reason
      failed.insert(session)
      look()
    }
    if isEarly { return lookLater() }
    guard followed == nil else { return }
    tell("Waiting for a desktop: \(reason)")
    lookOften()
  }

  /// Lets go of what is followed; its windows stay for a while, since one that restarts has them again.
  private func end(_ reason: String) {
    guard let last = followed else { return }
    followed = nil
    bus.isWaiting = true
    log.debug("\(last.session.name) \(reason)")
    last.source.stop()
    // Not from within its own handler.
    loop.schedule(after: .zero) { withExtendedLifetime(last.source) {} }
    guard forgetTimer == nil, desktop != Desktop() else { return }
    forgetTimer = loop.schedule(after: Reconnection.grace) { [weak self] in self?.changed(to: Desktop()) }
  }

  // MARK: What the window manager is asked for

  package func stop() { followed?.source.stop() }

  package func raise(_ window: WindowID, _ completion: @escaping (String?) -> Void) {
    guard let source = followed?.source else { return completion("the window manager is gone") }
    source.raise(window, completion)
  }

  package func perform(_ action: WindowAction, on window: WindowID, _ completion: @escaping (String?) -> Void) {
    guard let source = followed?.source else { return completion("the window manager is gone") }
    source.perform(action, on: window, completion)
  }
}

internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import EventLoop
internal import FocusContract
internal import ProgramSupport

/// A program on the accessibility bus.
final class Application {
  /// How far the program is known.
  enum Stage {
    case unknown
    case asking
    /// It is never looked into.
    case ignored
    /// It draws the frames of other programs' windows, and says that windows of its own are active whenever those are, or while
    /// they are switched.
    case frames
    case known
  }

  /// How far it is asked whether what it claims is so.
  enum ClaimCheck {
    /// It claims nothing.
    case none
    case asking
    /// It is asked again later.
    case waiting(TimerID)
  }

  /// What is asked again later.
  enum Question: Hashable {
    case title(ElementReference)
    /// The role of what is active.
    case role(ElementReference)
    /// Whether a window is shown still.
    case isShown(ElementReference)
  }

  /// The most questions that are asked again later.
  static let mostUnanswered = 64
  /// The most elements whose attempts are remembered; with more of them, they are counted anew.
  private static let attemptLimit = 64

  let name: BusName
  var stage = Stage.unknown
  private(set) var process: UInt32?
  private(set) var title: String?
  private(set) var toolkit = Toolkit(name: "", version: "")
  /// A connection for each window that has fields, and one for those whose window is not known.
  let connections = WindowConnections<ElementReference>()
  var fields: [ElementReference: ElementField] = [:]
  /// How often the elements were read again of which the program does not tell everything.
  var attempts: [ElementReference: Int] = [:]
  private(set) var secrets: SecretElements
  /// Whether it is the desktop: of it only elements that hold a value are shown, and each only while it has focus.
  private(set) var isDesktop = false
  /// Whether the user says that all its texts are secrets.
  private var keepsSecrets = false
  /// Those who wait until the program is known.
  private var askers: [() -> Void] = []
  /// The element that is read before it takes focus, and what of it changed meanwhile.
  var reading: (element: ElementReference, marks: ReadingMarks, changed: ElementAspects)?
  /// The element that was read last, whose focus is checked before it has its field.
  var checking: (element: ElementReference, changed: ElementAspects)?
  /// What it told that counts only if its window is in front, and how far it is asked that.
  var claims = FocusClaims()
  var claimCheck = ClaimCheck.none
  /// How often a window had come to the front when it made its newest claim.
  var frontsAtClaim = 0
  /// Whether it may have a window in front that nothing tells of: it has just come, was busy, or claimed it too early.
  var isExpected = false
  /// Whether it tells of its windows by events of their own, not only by their states.
  var tellsWindows = false
  /// The item that had focus last in a view that does not tell whether it has it.
  var lastItem: (item: ElementReference, view: ElementReference)?
  let windows = WindowSearch()
  /// The titles of its windows, as they were told last.
  private(set) var titles: [ElementReference: String] = [:]
  /// The questions that it did not answer in time, and when they are asked again.
  var unanswered: [Question: TimerID] = [:]

  /// The root of its elements.
  private(set) var root: ElementReference

  /// A program of whose elements these are secret.
  init(_ name: BusName, secrets: SecretElements = SecretElements()) {
    (self.name, self.secrets) = (name, secrets)
    root = ElementReference(name, AccessibilityNames.root)
  }

  /// Whether the element was secret before, or all of the program's are.
  func isSecret(_ element: ElementReference) -> Bool { keepsSecrets || secrets.paths.contains(element.path) }

  /// Notes that the element is secret from now on; what only the user's settings say may change with them.
  ///
  /// A program with too many of them is not looked into any more.
  func noteSecret(_ element: ElementReference, at position: ElementSnapshot.Position? = nil) {
    guard !keepsSecrets else { return }
    if !secrets.note(element.path, at: position) { stage = .ignored }
  }

  /// Notes how often the element was read again.
  func noteAttempts(_ count: Int, at element: ElementReference) {
    if attempts.count >= Self.attemptLimit { attempts = [:] }
    attempts[element] = count
  }

  /// Learns which program it is, from the bus and the system first; it is not asked itself if it is one of `ignored`.
  func ask(_ bus: ProgramBus, ignored: ProgramList, _ handler: @escaping () -> Void) {
    switch stage {
    case .known, .ignored, .frames: return handler()
    case .asking: return askers.append(handler)
    case .unknown: break
    }
    stage = .asking
    askers = [handler]
    let handler = { [weak self] in
      guard let self else { return }
      let waiting = askers
      askers = []
      for each in waiting { each() }
    }
    bus.connection.askProcess(of: name, timeout: ProgramBus.changeTimeout) { [weak self] result in
      guard let self else { return }
      let process = try? result.get()
      let names = process.map { Processes().names(of: $0) } ?? []
      guard let process, !names.isEmpty else {
        // Without its name, it cannot be told whether it may be looked into.
        stage = .unknown
        return handler()
      }
      self.process = process
      if let stage = judge(names, ignored) {
        self.stage = stage
        return handler()
      }
      findRoot(bus, attempt: 0) { [weak self] in
        self?.askItself(bus, ignored, handler)
      }
    }
  }

  /// Notes what is known of the program by some of its names alone.
  /// - Returns: what it is, if it must not be asked further.
  private func judge(_ names: [String], _ ignored: ProgramList) -> Stage? {
    if ProgramList.isDesktop(names) { isDesktop = true }
    if ignored.areSecret(names) { keepsSecrets = true }
    if ProgramList.drawsFrames(names) { return .frames }
    return ignored.contains(names) ? .ignored : nil
  }

  /// GTK 4 tells events before it registers, and has its root elsewhere than other toolkits.
  private static let retries: [Duration] = [.milliseconds(30), .milliseconds(100), .milliseconds(300)]

  private func findRoot(_ bus: ProgramBus, attempt: Int, _ handler: @escaping () -> Void) {
    bus.children(of: .registry, atMost: .max) { [weak self, weak bus] answer in
      guard let self, let bus else { return }
      if case .success(let roots) = answer, let root = roots.first(where: { $0.application == self.name }) {
        self.root = root
        return handler()
      }
      guard attempt < Self.retries.count else { return handler() }
      bus.loop.schedule(after: Self.retries[attempt]) { [weak self, weak bus] in
        if let bus { self?.findRoot(bus, attempt: attempt + 1, handler) }
      }
    }
  }

  private func askItself(_ bus: ProgramBus, _ ignored: ProgramList, _ handler: @escaping () -> Void) {
    var texts = ["", "", ""]
    var isThere = true
    let answers = Answers { [weak self] in
      guard let self else { return }
      title = texts[0].isEmpty ? nil : texts[0]
      toolkit = Toolkit(name: texts[1], version: texts[2])
      stage = judge([texts[0]], ignored) ?? (isThere ? .known : .unknown)
      handler()
    }
    let questions = [
      (AccessibilityNames.accessible, "Name"), (AccessibilityNames.application, "ToolkitName"),
      (AccessibilityNames.application, "Version"),
    ]
    for (index, question) in questions.enumerated() {
      bus.get(
        root, question.0, question.1,
        answers.expect { result in
          switch result {
          case .success(.string(let text)?): texts[index] = text
          case .success: break
          case .failure(let error):
            // Until it registers, the root may be elsewhere.
            if error.isLate || (error.isOfMissingObject && index == 0) { isThere = false }
          }
        })
    }
    answers.finish()
  }

  /// Returns the connection for the fields of `window`, and creates it if the window has no connection yet.
  func connection(
    for window: ElementReference?, isActive: Bool, _ make: () -> WindowConnection
  ) -> WindowConnection {
    let connection = connections.connection(for: window, used: Set(fields.values.map(\.frame)), make)
    if let window, connection.window == nil { tell(window, isActive, on: connection) }
    return connection
  }

  /// Makes the connection of a field, if no other is on it, that of `window`, which was not known before.
  /// - Returns: whether it is now.
  func nameWindow(of field: ElementField, _ window: ElementReference?, isActive: Bool) -> Bool {
    guard let window, !fields.values.contains(where: { $0 !== field && $0.frame == nil }),
      let connection = connections.nameUnknown(window)
    else { return false }
    tell(window, isActive, on: connection)
    return true
  }

  private func tell(_ window: ElementReference, _ isActive: Bool, on connection: WindowConnection) {
    connection.window = ProgramWindow(title: titles[window] ?? "", isActive: isActive)
  }

  /// Notes the title of a window, and tells it.
  func noteTitle(_ text: String, of window: ElementReference) {
    // A program may show, and then forget, any number of windows without a field.
    if titles.count >= Self.attemptLimit { titles = titles.filter { connections[$0.key] != nil } }
    titles[window] = text
    connections[window]?.window?.title = text
  }

  /// Forgets a window that is gone, with all fields in it, and closes its connection after `delay`.
  func forget(_ window: ElementReference, after delay: Duration) {
    windows.forget(window)
    titles[window] = nil
    connections.close(window, after: delay)
  }

  /// Takes all fields away, after `delay`.
  func close(after delay: Duration = .zero) {
    fields = [:]
    connections.close(after: delay)
  }
}

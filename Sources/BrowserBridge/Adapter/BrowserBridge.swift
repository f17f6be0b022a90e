internal import BridgeJSON
package import DBus
internal import DBusTypes
internal import DaemonClient
package import EventLoop
internal import FocusContract
package import ProgramSupport

/// Tells the daemon what has focus in one browser, whose extension tells it over a pipe.
package final class BrowserBridge {
  /// How long the browser may be behind all others before nothing of it has focus: windows change in two steps.
  private static let grace = Duration.milliseconds(100)

  let loop: EventLoop
  private let log: Log
  private let pipe: BrowserPipe
  private let calls: PendingCalls
  private let link: Link
  private let publisher: FieldPublisher
  private let process: UInt32?
  private var state = BrowserState()
  private var queue = MessageQueue()
  private var queueTimer: TimerID?
  private var backTimer: TimerID?
  private var numbers: [BrowserRequest.Target: UInt64] = [:]
  private var shapes: [BrowserRequest.Target: PageShape] = [:]
  private var lastNumber: UInt64 = 0
  private var lastWait: UInt64 = 0
  private var complaints = LogLimit(lines: 10)

  /// Called once when the browser has closed the pipe.
  package var onEnd: (() -> Void)?

  /// Serves the extension behind `pipe`, which belongs to the browser `process`.
  package init(_ pipe: BrowserPipe, to bus: Connection.Bus, process: UInt32?, on loop: EventLoop, log: Log) {
    (self.pipe, self.process, self.loop, self.log) = (pipe, process, loop, log)
    calls = PendingCalls(pipe, on: loop)
    let link = Link(on: loop, rules: [.properties(of: Focus1.root)])
    self.link = link
    publisher = FieldPublisher(link)
    publisher.onError = { [log] in log.debug("a field was refused: \($0.name)") }
    link.onEvent = { [weak publisher] event in
      switch event {
      case .arrived: publisher?.registerAll()
      case .left: publisher?.daemonLeft()
      case .signal(.properties(Focus1.root, Focus1.manager.text, let changes)):
        guard case .objectPath(let path)?? = changes.first(where: { $0.name == "FocusedField" })?.value else { return }
        publisher?.focusMoved(to: path == .root ? nil : path)
      case .signal, .refused, .closed, .other: break
      case .call(let message): publisher?.called(message)
      }
    }
    pipe.onMessage = { [weak self] in self?.received($0) }
    pipe.onOversized = { [weak self] in self?.complain("a message of \($0) bytes") }
    pipe.onEnd = { [weak self] isCutOff in
      if isCutOff { self?.complain("a message that is cut off") }
      self?.calls.browserLeft()
      self?.onEnd?()
    }
    link.connect(to: bus)
  }

  /// Takes all fields away.
  package func end() { link.stop() }

  // MARK: Messages

  private func received(_ bytes: [UInt8]) {
    guard let json = JSON(bytes), let message = BrowserMessage(json) else {
      return complain("a message of \(bytes.count) bytes that it does not know")
    }
    queue.add(message, in: state)
    work()
  }

  /// Says what the browser sends that cannot be used; never what is in it.
  private func complain(_ what: String) {
    guard let skipped = complaints.admit() else { return }
    log.error("the browser sends \(what)" + (skipped > 0 ? "; \(skipped) others were not told" : ""))
  }

  /// Takes over what the queue admits, and comes back for the rest.
  private func work() {
    if let queueTimer { loop.cancel(queueTimer) }
    queueTimer = nil
    while let message = queue.next(in: state) { take(message) }
    guard let delay = queue.delay else { return }
    queueTimer = loop.schedule(after: delay) { [weak self] in
      self?.queueTimer = nil
      self?.work()
    }
  }

  private func take(_ message: BrowserMessage) {
    if case .front(let tab) = message {
      if let backTimer { loop.cancel(backTimer) }
      backTimer = nil
      guard tab != nil else {
        backTimer = loop.schedule(after: Self.grace) { [weak self] in self?.publish(.front(nil)) }
        return
      }
    }
    publish(message)
    // Who gets the reply finds what the request changed, and the tab in front focused.
    if case .reply(let call, let refusal, _, _) = message {
      let answer = { [calls] in calls.answer(call, refusal.map { .failure($0.error) } ?? .success(())) }
      guard let number = state.focus.flatMap({ numbers[$0.target] }) else { return answer() }
      // A field that was being registered takes focus when this has been told.
      whenRegistered(number) { [loop] _ in loop.schedule(after: .zero, answer) }
    }
  }

  // MARK: Fields

  private func publish(_ message: BrowserMessage) {
    let before = state
    let changes = state.apply(message)
    for change in changes {
      switch change {
      case .tabAdded(let id): add(.tab(id))
      case .tabChanged(let id): changed(.tab(id), before.values(of: .tab(id)))
      case .elementAdded(let id): add(.element(id))
      case .elementChanged(let id): changed(.element(id), before.values(of: .element(id)))
      case .tabRemoved(let id): remove(.tab(id))
      case .elementRemoved(let id): remove(.element(id))
      case .focusMoved:
        log.debug("focus is in \(state.focus == nil ? "no tab" : "a tab")")
        moveFocus(from: before.focus.flatMap { numbers[$0.target] }, to: state.focus.flatMap { numbers[$0.target] })
      }
    }
  }

  /// Moves focus in one step: what had it keeps it until the other field is registered.
  private func moveFocus(from before: UInt64?, to now: UInt64?) {
    guard let now else {
      if let before { publisher.focusStateChanged(before) }
      return
    }
    publisher.focusStateChanged(now)
    guard let before else { return }
    whenRegistered(now) { [weak publisher] result in
      // One that is refused takes no focus from the one before.
      if case .failure = result { publisher?.focusStateChanged(before) }
    }
  }

  private func whenRegistered(_ number: UInt64, _ handler: @escaping (Result<ObjectPath, DBusError>) -> Void) {
    lastWait += 1
    publisher.whenRegistered(number, id: lastWait, handler)
  }

  private func add(_ target: BrowserRequest.Target) {
    lastNumber += 1
    numbers[target] = lastNumber
    if let description = description(of: target) { publisher.add(description) }
  }

  private func remove(_ target: BrowserRequest.Target) {
    shapes[target] = nil
    if let number = numbers.removeValue(forKey: target) { publisher.remove(group: number) }
  }

  private func changed(_ target: BrowserRequest.Target, _ before: [Key: DBusValue]) {
    guard let number = numbers[target] else { return }
    let values = state.values(of: target)
    let keys = Set(before.keys).union(values.keys).sorted()
    let changes = keys.filter { before[$0] != values[$0] }.map { (key: $0, value: values[$0]) }
    // Whoever sees that it is secret now does not see an older text beside that.
    let gone = state.isSecret(target) ? changes.filter { $0.value == nil } : []
    if !gone.isEmpty { publisher.changed(number, gone) }
    let left = changes.filter { gone.isEmpty || $0.value != nil }
    if !left.isEmpty { publisher.changed(number, left, separate: !gone.isEmpty) }
    let (shape, commands) = (shapes[target], publisher.description(of: number).map { Set($0.commands.keys) })
    guard let description = description(of: target) else { return }
    if shapes[target] != shape || Set(description.commands.keys) != commands { publisher.describe(description) }
  }

  private func description(of target: BrowserRequest.Target) -> FieldDescription? {
    guard let number = numbers[target] else { return nil }
    let field = BrowserField(target: target, number: number)
    switch target {
    case .tab(let id): return state.tabs[id].map { field.tab($0, process: process, self) }
    case .element(let id):
      guard let element = state.elements[id], let parent = numbers[.tab(element.tab)] else { return nil }
      shapes[target] = PageShape(element.state)
      return field.element(element.state, parent: parent, process: process, self)
    }
  }
}

extension BrowserBridge: BrowserFieldDelegate {
  func values(of target: BrowserRequest.Target) -> [Key: DBusValue] { state.values(of: target) }

  func isFocused(_ target: BrowserRequest.Target) -> Bool { state.focus?.target == target }

  func gainedFocus(_ target: BrowserRequest.Target) {
    // The focus of an element that is blurred goes to its tab, which has none either while the browser is behind.
    guard state.focus == nil, let number = numbers[target] else { return }
    loop.schedule(after: .zero) { [weak self] in
      if let self, state.focus == nil { publisher.focusStateChanged(number) }
    }
  }

  func request(_ request: BrowserRequest, _ done: @escaping FieldProperty.Completion) { calls.send(request, done) }
}

extension BrowserState.Focus {
  fileprivate var target: BrowserRequest.Target {
    switch self {
    case .tab(let id): .tab(id)
    case .element(let id): .element(id)
    }
  }
}

extension BrowserState {
  fileprivate func values(of target: BrowserRequest.Target) -> [Key: DBusValue] {
    switch target {
    case .tab(let id): tabs[id]?.values ?? [:]
    case .element(let id): elements[id]?.state.values ?? [:]
    }
  }

  fileprivate func isSecret(_ target: BrowserRequest.Target) -> Bool {
    if case .element(let id) = target { elements[id]?.state.isSecret == true } else { false }
  }
}

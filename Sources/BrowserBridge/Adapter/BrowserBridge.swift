internal import BridgeJSON
package import DBus
internal import DBusTypes
internal import DaemonClient
package import EventLoop
internal import FocusContract
package import ProgramSupport

/// Tells the daemon what has focus in one browser, whose extension tells it over a pipe.
package final class BrowserBridge {
  /// Which field a tab or an element is: its number, and the window whose connection it is on.
  private struct Place {
    let number: UInt64
    var window: UInt64?
  }

  /// How long the browser may be behind all others before nothing of it has focus: windows change in two steps.
  private static let grace = Duration.milliseconds(100)

  let loop: EventLoop
  private let log: Log
  private let calls: BrowserCalls
  private let windows: BrowserWindows
  private let process: UInt32?
  private var state = BrowserState()
  private var queue = MessageQueue()
  private var queueTimer: TimerID?
  private var backTimer: TimerID?
  private var fields: [BrowserRequest.Target: Place] = [:]
  private var shapes: [BrowserRequest.Target: PageShape] = [:]
  private var lastNumber: UInt64 = 0
  private var lastWait: UInt64 = 0
  private var complaints = LogLimit(lines: 10)

  /// Called once when the browser has closed the pipe.
  package var onEnd: (() -> Void)?

  /// Serves the extension behind `pipe`, which belongs to the browser `process`.
  package init(_ pipe: BrowserPipe, to bus: Connection.Bus, process: UInt32?, on loop: EventLoop, log: Log) {
    (self.process, self.loop, self.log) = (process, loop, log)
    calls = BrowserCalls(pipe, on: loop)
    windows = BrowserWindows(to: bus, on: loop) { [log] in log.debug("a field was refused: \($0.name)") }
    pipe.onMessage = { [weak self] in self?.received($0) }
    pipe.onOversized = { [weak self] in self?.complain("a message of \($0) bytes") }
    pipe.onEnd = { [weak self] isCutOff in
      if isCutOff { self?.complain("a message that is cut off") }
      self?.calls.browserLeft()
      self?.onEnd?()
    }
  }

  /// Takes all fields away.
  package func end() { windows.close() }

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
      guard let target = state.focus, fields[target] != nil else { return answer() }
      // A field that was being registered takes focus when this has been told.
      whenRegistered(target) { [loop] _ in loop.schedule(after: .zero, answer) }
    }
  }

  // MARK: Fields

  private func publish(_ message: BrowserMessage) {
    let before = state
    let changes = state.apply(message)
    for change in changes {
      switch change {
      case .tabAdded(let id): add(.tab(id))
      case .tabChanged(let id):
        if fields[.tab(id)]?.window == state.tabs[id]?.window {
          changed(.tab(id), before.values(of: .tab(id)))
        } else {
          move(id)
        }
      case .elementAdded(let id): add(.element(id))
      case .elementChanged(let id): changed(.element(id), before.values(of: .element(id)))
      case .tabRemoved(let id): remove(.tab(id))
      case .elementRemoved(let id): remove(.element(id))
      case .focusMoved:
        log.debug("focus is in \(state.focus == nil ? "no tab" : "a tab")")
        moveFocus(from: before.focus, to: state.focus)
      }
    }
    windows.tell(of: state)
  }

  /// Moves focus in one step: what had it keeps it until the other field is registered.
  private func moveFocus(from before: BrowserRequest.Target?, to now: BrowserRequest.Target?) {
    guard let now, fields[now] != nil else {
      if let before { focusStateChanged(before) }
      return
    }
    focusStateChanged(now)
    guard let before else { return }
    whenRegistered(now) { [weak self] result in
      // One that is refused takes no focus from the one before.
      if case .failure = result { self?.focusStateChanged(before) }
    }
  }

  private func focusStateChanged(_ target: BrowserRequest.Target) {
    if let place = fields[target] { windows.publisher(of: place.window)?.focusStateChanged(place.number) }
  }

  private func whenRegistered(
    _ target: BrowserRequest.Target, _ handler: @escaping (Result<ObjectPath, DBusError>) -> Void
  ) {
    lastWait += 1
    guard let place = fields[target] else { return }
    windows.publisher(of: place.window)?.whenRegistered(place.number, id: lastWait, handler)
  }

  private func add(_ target: BrowserRequest.Target) {
    lastNumber += 1
    fields[target] = Place(number: lastNumber, window: window(of: target))
    register(target)
  }

  private func register(_ target: BrowserRequest.Target) {
    guard let description = description(of: target), let place = fields[target] else { return }
    windows.connection(for: place.window, used: Set(fields.values.map(\.window))).fields.add(description)
  }

  /// The window of a tab, or of an element's tab.
  private func window(of target: BrowserRequest.Target) -> UInt64? {
    switch target {
    case .tab(let id): state.tabs[id]?.window
    case .element(let id): state.elements[id].flatMap { state.tabs[$0.tab]?.window }
    }
  }

  /// The user moved a tab to another window.
  private func move(_ tab: UInt64) {
    let elements = state.elements.filter { $0.value.tab == tab }.keys.map { BrowserRequest.Target.element($0) }
    let targets = [.tab(tab)] + elements.filter { fields[$0] != nil }
    for target in targets.reversed() { unregister(target) }
    for target in targets {
      fields[target]?.window = state.tabs[tab]?.window
      register(target)
    }
  }

  private func remove(_ target: BrowserRequest.Target) {
    shapes[target] = nil
    unregister(target)
    fields[target] = nil
  }

  private func unregister(_ target: BrowserRequest.Target) {
    if let place = fields[target] { windows.publisher(of: place.window)?.remove(group: place.number) }
  }

  private func changed(_ target: BrowserRequest.Target, _ before: [Key: DBusValue]) {
    guard let place = fields[target], let publisher = windows.publisher(of: place.window) else { return }
    publisher.changed(place.number, from: before, to: state.values(of: target), isSecret: state.isSecret(target))
    let (shape, commands) = (shapes[target], publisher.description(of: place.number).map { Set($0.commands.keys) })
    guard let description = description(of: target) else { return }
    if shapes[target] != shape || Set(description.commands.keys) != commands { publisher.describe(description) }
  }

  private func description(of target: BrowserRequest.Target) -> FieldDescription? {
    guard let place = fields[target] else { return nil }
    let field = BrowserField(target: target, number: place.number)
    switch target {
    case .tab(let id): return state.tabs[id].map { field.tab($0, process: process, self) }
    case .element(let id):
      guard let element = state.elements[id], let parent = fields[.tab(element.tab)]?.number else { return nil }
      shapes[target] = PageShape(element.state)
      return field.element(element.state, parent: parent, process: process, self)
    }
  }
}

extension BrowserBridge: BrowserFieldDelegate {
  func values(of target: BrowserRequest.Target) -> [Key: DBusValue] { state.values(of: target) }

  func isFocused(_ target: BrowserRequest.Target) -> Bool { state.focus == target }

  func gainedFocus(_ target: BrowserRequest.Target) {
    // The focus of an element that is blurred goes to its tab, which has none either while the browser is behind.
    guard state.focus == nil else { return }
    loop.schedule(after: .zero) { [weak self] in
      if let self, state.focus == nil { focusStateChanged(target) }
    }
  }

  func refresh(_ target: BrowserRequest.Target, _ done: @escaping FieldProperty.Completion) {
    calls.send(BrowserRequest(target, .read)) { result in
      // A page that does not answer holds what it told last, as far as can be known.
      if case .failure(let error) = result, error.name == .unknownObject { done(result) } else { done(.success(())) }
    }
  }

  func request(_ request: BrowserRequest, _ done: @escaping FieldProperty.Completion) {
    calls.send(request, done)
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

internal import BridgeJSON
package import EventLoop
internal import Glibc

/// An X session with any window manager that keeps to EWMH.
package final class XSource: WindowSource {
  /// What is asked at most once at a time.
  private struct Question: Hashable {
    let window: UInt32?
    let atom: XAtom
  }

  private let display: String?
  private let loop: EventLoop
  private var connection: XConnection?
  private var state = XState(atoms: [:], machine: "")
  /// Questions under way, and whether each must be asked again.
  private var questions: [Question: Bool] = [:]
  private var desktop = Desktop()

  package var accessibilityBus: String? { didSet { tellAccessibilityBus() } }
  /// What is said of that at the root window by this source.
  private var toldAccessibilityBus: String?
  package var onChange: ((Desktop) -> Void)?
  package var onEnd: ((String) -> Void)?

  /// Follows the window manager of `display`, or of the display that the environment names.
  package init(display: String? = nil, on loop: EventLoop) {
    self.display = display
    self.loop = loop
  }

  package func start() throws {
    let connection = try XConnection(display: display)
    self.connection = connection
    var name = utsname()
    uname(&name)
    let machine = withUnsafeBytes(of: name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    state = XState(atoms: connection.names, machine: machine)
    connection.onPropertyChange = { [weak self] in self?.ask($1, of: $0) }
    // Its number may be another window's by the time that the list of windows is read.
    connection.onDestruction = { [weak self] in self?.state.removeClient($0) }
    connection.onTurn = { [weak self] in self?.tell() }
    connection.onEnd = { [weak self] in self?.onEnd?("the X server is gone") }
    connection.attach(to: loop)
    for atom in XAtom.ofRoot { ask(atom, of: nil) }
    tellAccessibilityBus()
  }

  package func stop() {
    if toldAccessibilityBus != nil {
      connection?.setRoot(.accessibilityBus, nil)
      connection?.settle()
    }
    connection?.close()
    connection = nil
  }

  /// Says at the root window where the accessibility bus is, which is all that Qt 5 looks at: the bus's launcher says so only if it
  /// is started after the display.
  ///
  /// GTK 3 asks nobody else if it is said there: it is taken back when that bus is gone.
  private func tellAccessibilityBus() {
    guard accessibilityBus != nil || toldAccessibilityBus != nil else { return }
    connection?.property(.accessibilityBus, of: nil) { [weak self] answer in
      guard let self, case .success(let property) = answer else { return }
      let said = property.map { String(decoding: $0.bytes, as: UTF8.self) }
      // What the launcher says itself is its own.
      if said != toldAccessibilityBus { toldAccessibilityBus = nil }
      guard said != accessibilityBus, accessibilityBus != nil || toldAccessibilityBus != nil else { return }
      toldAccessibilityBus = accessibilityBus
      connection?.setRoot(.accessibilityBus, accessibilityBus)
    }
  }

  /// Asks for a property that is another now.
  private func ask(_ atom: XAtom, of window: UInt32?) {
    guard (window == nil ? XAtom.ofRoot : XAtom.ofClient).contains(atom) else { return }
    let question = Question(window: window, atom: atom)
    guard questions[question] == nil else {
      questions[question] = true
      return
    }
    questions[question] = false
    connection?.property(atom, of: window) { [weak self] answer in
      guard let self else { return }
      let isStale = questions.removeValue(forKey: question) == true
      switch (window, answer) {
      case (let window?, .success(let value)): state.setClient(window, atom, value)
      // The window manager may say so later, or never.
      case (let window?, .failure): state.removeClient(window)
      case (nil, .success(let value)): rootChanged(atom, value)
      case (nil, .failure): break
      }
      if isStale { ask(atom, of: window) }
    }
  }

  private func rootChanged(_ atom: XAtom, _ value: XProperty?) {
    for window in state.setRoot(atom, value) {
      connection?.follow(window)
      for atom in XAtom.ofClient { ask(atom, of: window) }
      connection?.process(of: window) { [weak self] in self?.state.setProcess(window, $0) }
    }
  }

  private func tell() {
    guard state.isSettled, questions[Question(window: nil, atom: .clientList)] == nil else { return }
    let now = state.desktop
    guard now != desktop else { return }
    desktop = now
    onChange?(now)
  }

  // MARK: What the window manager is asked for

  /// The X window; nil for one that is not there.
  private func xWindow(_ id: WindowID) -> UInt32? {
    UInt32(exactly: id.number).flatMap { desktop.windows[id] == nil ? nil : $0 }
  }

  package func raise(_ window: WindowID, _ completion: @escaping (String?) -> Void) {
    guard let window = xWindow(window), let connection else { return completion("the window was closed") }
    // openbox brings no window to the front of another workspace than the one that is shown.
    if let workspace = state.workspaceBehind(of: window) { connection.showWorkspace(workspace) }
    // As a pager, so that no window manager takes it for a program that pushes itself to the front.
    connection.tellManager(window, .activeWindow, [2, 0, 0])
    completion(nil)
  }

  package func perform(_ action: WindowAction, on id: WindowID, _ completion: @escaping (String?) -> Void) {
    guard let window = xWindow(id), let connection else { return completion("the window was closed") }
    guard state.allows(action, on: window) else {
      return completion("the window manager does not do that to this window")
    }
    switch action {
    case .close: connection.tellManager(window, .closeWindow, [0, 2])
    case .fullscreen:
      let toggle: UInt32 = 2
      connection.tellManager(window, .state, [toggle, connection.number(of: .stateFullscreen), 0, 2])
    case .minimize:
      let iconic: UInt32 = 3
      connection.tellManager(window, .changeState, [iconic])
    case .float:
      guard let path = state.i3Socket else { return completion("the window manager cannot do that") }
      let question = TreeMessage.bytes(.runCommand, "[id=\(window)] floating toggle")
      return SocketQuestion.ask(question, at: path, .frame, on: loop) { answer in
        completion(answer.refusal { TreeState.refusal(JSON($0)) })
      }
    }
    completion(nil)
  }
}

internal import BridgeJSON
package import EventLoop
package import ProgramSupport

/// sway, or i3, by its socket.
package final class TreeSource: WindowSource {
  /// A command that is not answered yet.
  private final class Command {
    /// Nil: its time is over.
    var completion: ((String?) -> Void)?

    init(_ completion: @escaping (String?) -> Void) { self.completion = completion }

    func end(_ refusal: String?) {
      let due = completion
      completion = nil
      due?(refusal)
    }
  }

  private let name: String
  private let loop: EventLoop
  private let log: Log
  private let stream: LastingStream
  private var input = ByteQueue()
  private var state = TreeState()
  /// Those whose commands are not answered yet; the window manager answers in order.
  private var commands: [Command] = []
  /// The most commands that a window manager leaves unanswered.
  private static let mostCommands = 256
  private var isReading = false
  /// Whether something happened that only the tree tells, since it was last asked for.
  private var isStale = false

  package var onChange: ((Desktop) -> Void)?
  package var onEnd: ((String) -> Void)?
  package var isLasting: Bool {
    get { stream.isLasting }
    set { stream.isLasting = newValue }
  }

  /// Follows the window manager `name` at the socket `path`.
  package init(_ name: String, path: String, on loop: EventLoop, log: Log) {
    self.name = name
    self.loop = loop
    self.log = log
    stream = LastingStream(name, path: path, on: loop, log: log)
  }

  package func start() throws {
    stream.onConnect = { [weak self] in self?.connected() }
    stream.onBytes = { [weak self] in try self?.arrived($0) }
    stream.onLost = { [weak self] in self?.lost() }
    stream.onForgotten = { [weak self] in self?.forget() }
    stream.onEnd = { [weak self] in self?.onEnd?($0) }
    try stream.connect()
  }

  private func connected() {
    input = ByteQueue()
    (isReading, isStale) = (false, false)
    // What happens between the two is told after the tree, or is in it.
    stream.send(TreeMessage.bytes(.subscribe, #"["window","workspace","shutdown"]"#))
    readTree()
  }

  private func lost() {
    let unanswered = commands
    commands = []
    for command in unanswered { command.end("the window manager is gone") }
  }

  /// The events after the answer are newer than it, since one connection carries both.
  private func readTree() {
    guard !isReading else {
      isStale = true
      return
    }
    (isReading, isStale) = (true, false)
    stream.send(TreeMessage.bytes(.getTree))
  }

  private func arrived(_ bytes: [UInt8]) throws {
    input.append(bytes)
    while stream.isOpen, let (type, payload) = try input.nextFrame() {
      let before = state.desktop
      received(type, payload)
      // One by one: which window was in front before a launcher matters.
      if state.desktop != before { onChange?(state.desktop) }
    }
  }

  private func received(_ type: UInt32, _ payload: [UInt8]) {
    let message = JSON(payload)
    if message == nil { log.debug("\(name) sends a message of type \(type) that is not JSON") }
    if let event = TreeMessage.Event(rawValue: type) { return happened(event, message) }
    switch TreeMessage.Kind(rawValue: type) {
    case .runCommand:
      if !commands.isEmpty { commands.removeFirst().end(TreeState.refusal(message)) }
    case .getTree:
      isReading = false
      stream.succeeded()
      if let message { state.tree(message) }
      if isStale { readTree() }
    case .subscribe:
      if message?["success"]?.isTrue != true { stream.lost("refuses to tell of its windows") }
    case nil: break
    }
  }

  private func happened(_ event: TreeMessage.Event, _ message: JSON?) {
    switch event {
    case .window:
      if message.map({ state.windowEvent($0) }) ?? true { readTree() }
    case .workspace:
      if let message { state.workspaceEvent(message) }
      readTree()
    case .shutdown: log.info("\(name) is restarting or ending")
    }
  }

  private func forget() {
    guard state.desktop != Desktop() else { return }
    state = TreeState()
    onChange?(state.desktop)
  }

  private func run(_ command: String?, _ completion: @escaping (String?) -> Void) {
    guard let command else { return completion("\(name) cannot do that") }
    guard stream.isOpen else { return completion("the window manager is gone") }
    guard commands.count < Self.mostCommands else { return completion("the window manager does not answer") }
    let waiting = Command(completion)
    commands.append(waiting)
    // Its answer still comes before those of later ones.
    loop.schedule(after: SocketQuestion.patience) { [weak waiting] in waiting?.end("the window manager does not answer")
    }
    stream.send(TreeMessage.bytes(.runCommand, command))
  }

  package func raise(_ window: WindowID, _ completion: @escaping (String?) -> Void) {
    run(TreeState.raiseCommand(window), completion)
  }

  package func perform(_ action: WindowAction, on window: WindowID, _ completion: @escaping (String?) -> Void) {
    run(TreeState.command(action, on: window), completion)
  }
}

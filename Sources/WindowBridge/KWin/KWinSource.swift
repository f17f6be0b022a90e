internal import BridgeJSON
internal import DBus
internal import DBusTypes
internal import DaemonClient
package import EventLoop
internal import Glibc
package import ProgramSupport

/// KDE's compositor by a script in it: for one that does not show its windows over Wayland.
package final class KWinSource: WindowSource {
  /// What prevents it.
  private struct Missing: Error, CustomStringConvertible {
    let description: String
  }

  private enum Name {
    static let compositor = BusName(known: "org.kde.KWin")
    /// What the script calls.
    static let bridge = BusName(known: "org.focusd.Bridge1.Windows.KWin")
    static let interface = InterfaceName(known: "org.focusd.Bridge1.Windows.KWin")
    static let scripting = InterfaceName(known: "org.kde.kwin.Scripting")
    static let runner = InterfaceName(known: "org.kde.krunner1")
    static let plugin = "focusd-windows"
  }

  /// How long the compositor may be without a window in front before that is told: it is so in each switch.
  private static let pause = Duration.milliseconds(10)
  /// How long it may take to answer: less than the daemon's own patience, 5 s.
  private static let patience = Duration.seconds(4)

  private let loop: EventLoop
  private let log: Log
  private var connection: Connection?
  private var script = ""
  /// The unique name of the compositor.
  private var owner: BusName?
  private var state = KWinState()
  private var isReady = false
  /// Whether the script is being loaded, or asked for.
  private var isLoading = false
  private var reconnection = Reconnection()
  private var pauseTimer: TimerID?
  private var graceTimer: TimerID?
  private var told = Desktop()

  package var onChange: ((Desktop) -> Void)?
  package var onEnd: ((String) -> Void)?
  package var isLasting = true

  package init(on loop: EventLoop, log: Log) {
    self.loop = loop
    self.log = log
  }

  /// The script, where an installation puts it beside this program.
  private static var installedScript: String? {
    guard let program = Processes.ownPath else { return nil }
    let prefix = program.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
    return prefix + "/share/focusd/kwin-windows.js"
  }

  package func start() throws {
    guard let script = Self.installedScript, access(script, R_OK) == 0 else {
      throw Missing(description: "kwin-windows.js is not installed beside this program")
    }
    self.script = script
    guard let bus = Connection.Bus.ofUser else { throw Missing(description: "there is no session bus") }
    let connection = try Connection(to: bus, timeout: Self.patience)
    connection.limitMessages(to: 1 << 20)
    let rules = [MatchRule.nameOwnerChanges(of: Name.compositor), MatchRule(sender: Name.compositor)]
    guard let owner = try connection.owner(of: Name.compositor, adding: rules) else {
      throw Missing(description: "KWin is not on the session bus")
    }
    guard try connection.requestName(Name.bridge) else {
      throw Missing(description: "another program owns \(Name.bridge)")
    }
    self.connection = connection
    self.owner = owner
    connection.onMessage = { [weak self] in self?.received($0) }
    connection.onDisconnect = { [weak self] in self?.onEnd?("the session bus is gone") }
    connection.attach(to: loop)
    load()
  }

  package func stop() {
    for timer in [pauseTimer, graceTimer].compactMap(\.self) { loop.cancel(timer) }
    (pauseTimer, graceTimer) = (nil, nil)
    // Else it would call for each change of a window, and whoever takes the name would hear of them.
    if owner != nil { script("unloadScript", [.string(Name.plugin)]) { _ in } }
    owner = nil
    connection?.detach()
    connection = nil
  }

  // MARK: The script

  /// Has the compositor run the script again: one that a bridge before this left there may be of another version.
  private func load() {
    isLoading = true
    script("unloadScript", [.string(Name.plugin)]) { [weak self] _ in
      guard let self else { return }
      script("loadScript", [.string(script), .string(Name.plugin)]) { [weak self] result in
        guard let self else { return }
        guard case .success = result else { return loadLater() }
        script("start", []) { [weak self] result in
          guard let self else { return }
          guard case .success = result else { return loadLater() }
          isLoading = false
        }
      }
    }
  }

  /// Has the compositor run the script again if somebody has unloaded it, which nothing tells.
  private func check() {
    guard let owner, !isLoading else { return }
    isLoading = true
    script("isScriptLoaded", [.string(Name.plugin)]) { [weak self] result in
      guard let self, owner == self.owner else { return }
      isLoading = false
      guard case .success(let reply) = result, (try? reply.arguments()) == [.boolean(false)] else { return }
      log.info("KWin runs its script no longer; it is loaded again")
      load()
    }
  }

  /// A compositor that starts has its name before it takes scripts.
  private func loadLater() {
    guard let next = reconnection.failed() else {
      onEnd?("KWin takes no script")
      return
    }
    if next.isForgotten { change(to: Desktop()) }
    loop.schedule(after: next.delay) { [weak self] in if self?.owner != nil { self?.load() } }
  }

  private func script(
    _ member: String, _ arguments: [DBusValue], _ handler: @escaping (Result<Message, DBusError>) -> Void
  ) {
    call("/Scripting", Name.scripting, member, arguments, handler)
  }

  private func call(
    _ path: String, _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue],
    _ handler: @escaping (Result<Message, DBusError>) -> Void
  ) {
    do throws(DBusError) {
      guard let connection, owner != nil else { throw DBusError(.disconnected, "the compositor is gone") }
      let message = try OutgoingMessage.methodCall(
        to: Name.compositor, path: ObjectPath(known: path), interface: interface,
        member: MemberName(known: member), arguments)
      try connection.call(message, timeout: Self.patience) { reply in
        handler(reply.flatMap { message in message.error.map { .failure($0) } ?? .success(message) })
      }
    } catch {
      handler(.failure(error))
    }
  }

  // MARK: What is told

  private func received(_ message: Message) {
    if let change = message.nameOwnerChange, change.name == Name.compositor { return owned(by: change.now) }
    // It tells so little, such as that another desktop is shown, that each is an occasion to ask.
    if message.kind == .signal, message.sender == owner { return check() }
    guard message.kind == .methodCall, let values = try? message.arguments() else { return }
    if message.sender == owner, message.interface == Name.interface, let member = message.member?.text {
      scriptSaid(member, values.first?.basicText ?? "")
    }
    if message.wantsReply, let reply = try? message.reply() { _ = try? connection?.send(reply) }
  }

  private func owned(by new: BusName?) {
    owner = new
    isReady = false
    if let graceTimer { loop.cancel(graceTimer) }
    graceTimer = nil
    guard new == nil else { return load() }
    log.info("KWin is gone")
    guard isLasting else {
      onEnd?("KWin is gone")
      return
    }
    // Its programs end with it, and one that comes back has other windows.
    graceTimer = loop.schedule(after: Reconnection.grace) { [weak self] in
      self?.graceTimer = nil
      self?.change(to: Desktop())
    }
  }

  private func scriptSaid(_ member: String, _ text: String) {
    switch member {
    case "Begin": (state, isReady) = (KWinState(), false)
    case "Window":
      guard let window = JSON(Array(text.utf8)) else { return }
      if !state.window(window) { log.debug("KWin tells of too many windows") }
    case "Gone": state.gone(text)
    case "Front": state.front(text)
    case "Ready":
      isReady = true
      reconnection.succeeded()
    default: break
    }
    guard isReady else { return }
    let desktop = state.desktop
    guard desktop.front == nil, told.front != nil else { return change(to: desktop) }
    guard pauseTimer == nil else { return }
    pauseTimer = loop.schedule(after: Self.pause) { [weak self] in
      guard let self else { return }
      pauseTimer = nil
      if isReady { change(to: state.desktop) }
    }
  }

  private func change(to desktop: Desktop) {
    guard desktop != told else { return }
    told = desktop
    onChange?(desktop)
  }

  // MARK: Commands

  /// What KWin's own plugin for KRunner does to a window.
  private enum Verb: Int {
    case activate = 0
    case close = 1
    case minimize = 2
    case fullscreen = 4
  }

  private func run(_ verb: Verb, _ window: WindowID, _ completion: @escaping (String?) -> Void) {
    guard let uuid = state.uuid(window) else { return completion("the window was closed") }
    call("/WindowsRunner", Name.runner, "Run", [.string("\(verb.rawValue)_\(uuid)"), .string("")]) { result in
      if case .failure(let error) = result { completion(error.message) } else { completion(nil) }
    }
  }

  package func raise(_ window: WindowID, _ completion: @escaping (String?) -> Void) {
    check()
    run(.activate, window, completion)
  }

  package func perform(_ action: WindowAction, on window: WindowID, _ completion: @escaping (String?) -> Void) {
    check()
    switch action {
    case .close: run(.close, window, completion)
    case .fullscreen: run(.fullscreen, window, completion)
    // It would come back.
    case .minimize where state.isMinimized(window): completion(nil)
    case .minimize: run(.minimize, window, completion)
    case .float: completion("KWin cannot do that")
    }
  }
}
